import { existsSync } from "node:fs";
import type { Config } from "../../../config.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time.ts";
import type { DataFolder } from "../../../system/data-folder.ts";
import { inUnits } from "../../../system/disk-space.ts";
import { type LastBackup, readKeylessBackup, readLastBackup, readSchedule } from "./backup-notes.ts";

/** Without a schedule: backups made by hand or a timer should happen at least weekly. */
const OLD_BACKUP_MS = 7 * DAY_MS;

/**
 * Reports when the last good backup was made; warns when there is none, it is old, or the last attempt
 * failed.
 */
export async function checkBackups(
  { backups, cluster }: Config,
  folder: DataFolder,
  now: number,
): Promise<{ status: "ok" | "warning"; message: string }> {
  if (cluster)
    return { status: "ok", message: "those of PostgreSQL and of the bucket are made outside of cardpress" };
  if (!existsSync(folder.database)) return { status: "ok", message: "nothing to back up yet" };
  const [last, keyless, { failure }] = await Promise.all([
    readLastBackup(folder),
    readKeylessBackup(folder),
    readSchedule(folder),
  ]);
  const described = (backup: LastBackup) =>
    `${age(now - Date.parse(backup.at))} old: ${backup.file} (${inUnits(backup.bytes)})`;
  const whole = last ? `the last good one is ${described(last)}` : "none has been made yet";
  const isNewer = keyless && (!last || keyless.at > last.at);
  const found = isNewer
    ? `${whole}; one without secret.key, of use only together with it, is ${described(keyless)}`
    : whole;
  if (backups && failure)
    return { status: "warning", message: `${found}; the service could not make the last: ${failure.reason}` };
  if (!last && !backups)
    return {
      status: "warning",
      message: `${found}. Set CARDPRESS_BACKUP_DIR to a folder on another disk, or run "cardpress backup --to FILE" from a timer.`,
    };
  const oldMs = backups ? 2 * backups.everyHours * HOUR_MS : OLD_BACKUP_MS;
  if (last && now - Date.parse(last.at) > oldMs)
    return {
      status: "warning",
      message: `${found}. ${backups ? "Look at the service's log: it makes them while it runs." : "Make another."}`,
    };
  return { status: "ok", message: found };
}

function age(ms: number): string {
  if (ms < 2 * HOUR_MS) return `${Math.max(0, Math.round(ms / 60_000))} min`;
  return ms < 2 * DAY_MS ? `${Math.round(ms / HOUR_MS)} hours` : `${Math.round(ms / DAY_MS)} days`;
}
