import { resolve } from "node:path";
import { Command } from "commander";
import { type RestoreReport, restoreBackup } from "../app/operations/backup/restore.ts";
import { refuseInCluster } from "../cluster-config.ts";
import { readConfig } from "../config.ts";
import { counted } from "../core/counted.ts";
import { stepsUnless, stopSignal } from "./backup.ts";
import { printResult } from "./output.ts";

export function restoreCommand(): Command {
  return new Command("restore")
    .description(
      "unpack a backup into an empty data folder (CARDPRESS_DATA_DIR), once everything in it is checked",
    )
    .requiredOption("--from <file>", "an archive that backup made")
    .option("--json", "print JSON")
    .action(async ({ from, json }) => {
      const config = readConfig(process.env);
      refuseInCluster(config);
      const { dataDir, templatesDir } = config;
      const report = await restoreBackup({
        from: resolve(from),
        dataDir,
        signal: stopSignal(),
        step: stepsUnless(json),
      });
      printResult(json, report, () => restoreText(report, templatesDir));
    });
}

function restoreText(report: RestoreReport, templatesDir: string | undefined): string {
  const { data_dir, files, created_at, cardpress, counts, missing } = report;
  const lines = [
    `${data_dir}: ${counted(files, "file")} as of ${created_at} (cardpress ${cardpress}), every one checked.`,
    `${counted(counts.accounts, "account")}, ${counted(counts.images, "image")} (${counts.unfinished} unfinished, to go on with the next "cardpress serve").`,
  ];
  if (report.templates_dir !== null && report.templates_dir !== templatesDir)
    lines.push(
      `Your templates are in ${report.templates_dir}: set CARDPRESS_TEMPLATES_DIR to it, or move them.`,
    );
  if (report.bucket !== null)
    lines.push(
      `Photos and pictures are in the bucket ${report.bucket}. Once the service that used it is stopped for good, set CARDPRESS_S3_... and run "cardpress migrate --take-bucket", which says what is missing there. Only to try the backup, let your storage copy the bucket, and name that one.`,
    );
  if (!report.secrets)
    lines.push(
      `The backup holds no secret.key: put yours back before you start the service, or give each webhook endpoint a new secret ("cardpress webhook rotate").`,
    );
  if (missing.count > 0)
    lines.push(`Not in the backup: ${counted(missing.count, "file")}, such as ${missing.files[0]}.`);
  return lines.join("\n");
}
