import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../../../config.ts";
import { BACKUP_RETRY_MS } from "../../../core/limits.ts";
import type { Clock, Log } from "../../../core/ports.ts";
import { HOUR_MS, isoTime } from "../../../core/time.ts";
import type { DataFolder } from "../../../system/data-folder.ts";
import { type BackupReport, partialOf } from "./backup.ts";
import { noteSchedule, readSchedule, type Schedule } from "./backup-notes.ts";

export interface ScheduledBackupDeps {
  config: Config;
  folder: DataFolder;
  clock: Clock;
  log: Log;
  /** The command that runs this same program; "backup" and its options are appended. */
  command: string[];
}

/**
 * Makes a backup if one is due, then removes the oldest of its own. Runs in a separate process: copying the
 * database and hashing every picture would block requests. Failures are logged, recorded for `doctor`, and
 * retried later.
 */
export async function backUpWhenDue(deps: ScheduledBackupDeps, signal: AbortSignal): Promise<void> {
  const { config, folder, clock, log } = deps;
  const settings = config.backups;
  if (!settings) return;
  const now = clock.now();
  const before = await readSchedule(folder);
  // At a start too: an operator who has repaired what the last one failed of restarts the service, and looks.
  const isStart = !looked.has(folder);
  looked.add(folder);
  if (!isDue(before, settings.everyHours * HOUR_MS, now, isStart)) return;
  // Left half-written by a killed process.
  if (before.underway !== null) await rm(partialOf(before.underway), { force: true });

  const file = join(settings.dir, `cardpress-${isoTime(now).replace(/[-:]|\.\d+/g, "")}.tar`);
  await noteSchedule(folder, { ...before, underway: file });
  try {
    await mkdir(settings.dir, { recursive: true, mode: 0o700 });
    const report = await runBackup(deps, file, signal);
    const broken = report.broken_rules;
    const failure =
      broken.length === 0 ? null : { at: now, reason: `the books are broken: ${broken.join(", ")}` };
    const made = [...before.made, { file, at: now }];
    const written = { file, bytes: report.bytes, files: report.files, missing: report.missing.count };
    if (failure)
      log.error("backup_of_broken_books", { ...written, broken, remedy: `Run "cardpress audit".` });
    else log.info("backup_made", written);
    // A backup that fails the audit is no reason to delete the last good one.
    const kept = failure ? made : await dropOldest(made, settings.keep);
    await noteSchedule(folder, { made: kept, underway: null, failure });
  } catch (error) {
    const reason = withRemedy((error as Error).message, settings.dir);
    // The process removes it itself, unless it was killed.
    await rm(partialOf(file), { force: true }).catch(() => {});
    await noteSchedule(folder, {
      ...before,
      underway: null,
      failure: signal.aborted ? before.failure : { at: now, reason },
    });
    if (!signal.aborted) log.error("backup_failed", { file, error: reason });
  }
}

/** Data folders whose backups this process has looked at. */
const looked = new WeakSet<DataFolder>();

function isDue({ made, failure }: Schedule, everyMs: number, now: number, isStart: boolean): boolean {
  const last = made.at(-1);
  if (last && now - last.at < everyMs) return false;
  return !failure || isStart || now - failure.at >= Math.min(BACKUP_RETRY_MS, everyMs);
}

/**
 * Where nothing may be written it is mostly the unit's sandbox, which shows every other folder as a read-only
 * disk.
 */
function withRemedy(reason: string, dir: string): string {
  if (!/EROFS|read-only/i.test(reason)) return reason;
  return `${reason} Where systemd runs the service, name the folder in its unit: ReadWritePaths=${dir} (see deploy/cardpress.service).`;
}

async function dropOldest(made: Schedule["made"], keep: number): Promise<Schedule["made"]> {
  for (const { file } of made.slice(0, -keep)) await rm(file, { force: true });
  return made.slice(-keep);
}

async function runBackup(
  { config, command }: ScheduledBackupDeps,
  file: string,
  signal: AbortSignal,
): Promise<BackupReport> {
  const child = Bun.spawn([...command, "backup", "--to", file, "--gently", "--json"], {
    env: {
      ...process.env,
      CARDPRESS_DATA_DIR: config.dataDir,
      CARDPRESS_TEMPLATES_DIR: config.templatesDir ?? "",
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    signal,
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  // A failed audit also sets the exit code, but the report exists.
  if (out !== "") return JSON.parse(out);
  throw new Error(reasonIn(err) ?? `the process ended with ${child.exitCode ?? child.signalCode}`);
}

function reasonIn(err: string): string | undefined {
  const line = err.trim().split("\n").at(-1) ?? "";
  try {
    return JSON.parse(line).error;
  } catch {
    return line || undefined;
  }
}
