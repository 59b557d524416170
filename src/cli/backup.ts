import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { type BackupReport, makeBackup, type Step } from "../app/operations/backup/backup.ts";
import { ARCHIVE_SUFFIXES } from "../app/operations/backup/backup-archive.ts";
import { refuseInCluster } from "../cluster-config.ts";
import { readConfig } from "../config.ts";
import { counted } from "../core/counted.ts";
import { OperatorError } from "../core/errors.ts";
import { lowerPriority } from "../render/browser/low-priority.ts";
import { untilSignal } from "../service/stop-signal.ts";
import { systemClock } from "../system/clock-file.ts";
import { openDataFolder } from "../system/data-folder.ts";
import { inUnits } from "../system/disk-space.ts";
import { printResult } from "./output.ts";
import { step } from "./steps.ts";

/** Low enough that requests and renders on the same machine come first. */
const GENTLE = 15;

export function backupCommand(): Command {
  return new Command("backup")
    .description(
      "copy database, pictures, templates and secrets into one archive, also beside a running server",
    )
    .requiredOption("--to <file>", `the archive to make, ending in ${ARCHIVE_SUFFIXES.join(", ")}`)
    .option("--without-secrets", "leave secret.key out: after a restore webhooks need new secrets")
    .option("--gently", "let everything else on this machine go first")
    .option("--json", "print JSON")
    .action(async ({ to, withoutSecrets, gently, json }) => {
      if (gently) lowerPriority(GENTLE);
      const config = readConfig(process.env);
      refuseInCluster(config);
      if (!existsSync(config.dataDir))
        throw new OperatorError(`There is no data folder ${config.dataDir}. Set CARDPRESS_DATA_DIR.`);
      const report = await makeBackup(
        { config, folder: openDataFolder(config.dataDir), clock: systemClock },
        { to: resolve(to), withSecrets: !withoutSecrets, signal: stopSignal(), step: stepsUnless(json) },
      );
      if (report.broken_rules.length > 0) process.exitCode = 1;
      printResult(json, report, () => backupText(report));
    });
}

/** Aborted by Ctrl-C or a stop signal, so that nothing half done is left. */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  void untilSignal().then((name) => stopping.abort(new OperatorError(`${name} came before it was done.`)));
  return stopping.signal;
}

/** Steps are for people; with --json stdout carries a single value. */
export function stepsUnless(json: boolean | undefined): Step {
  return json ? (_title, work) => work(() => {}) : step;
}

function backupText(report: BackupReport): string {
  const { file, bytes, files, counts, schema, missing, broken_rules: broken } = report;
  const lines = [
    `${file}: ${inUnits(bytes)}, ${counted(files, "file")}, read back and checked.`,
    `${counted(counts.accounts, "account")}, ${counted(counts.images, "image")} (${counts.unfinished} unfinished), ${counted(counts.pictures, "picture")}, ${report.templates ? "your templates" : "no templates of your own"}; schema ${schema}.`,
    report.secrets
      ? "It holds secrets (secret.key, password hashes, the photos of players): keep it where only you can read it. Its mode is 0600."
      : `It holds no secret.key: after a restore no webhook can be signed until each endpoint has a new secret ("cardpress webhook rotate"). It still holds password hashes and the photos of players.`,
  ];
  if (report.bucket !== null)
    lines.push(
      `Photos, pictures and published templates are in the bucket ${report.bucket} and not in it: keep versions of the bucket's objects for as long as you keep backups.`,
    );
  const expired = missing.files.filter(({ because }) => because === "expired");
  const lost = missing.files.filter(({ because }) => because !== "expired");
  if (expired.length > 0) lines.push(`Expired meanwhile and not in it: ${named(expired)}.`);
  if (lost.length > 0)
    lines.push(
      `Warning: ${lost.map(({ file: name, because }) => `${name} (${because})`).join(", ")}: not whole in the data folder either. Run "cardpress doctor" for details.`,
    );
  if (missing.count > missing.files.length)
    lines.push(`${missing.count - missing.files.length} more are like these.`);
  if (broken.length > 0)
    lines.push(
      `Warning: the books in it are broken: ${broken.join(", ")}. It cannot be restored as it is. Keep the earlier backups, and run "cardpress audit".`,
    );
  return lines.join("\n");
}

const named = (files: { file: string }[]) => files.map(({ file }) => file).join(", ");
