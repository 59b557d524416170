import { Command } from "commander";
import { type AuditReport, audit } from "../app/operations/audit/audit.ts";
import { forgetSeals } from "../app/operations/audit/sealed-history.ts";
import { printResult } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

interface Options {
  full?: boolean;
  resume?: boolean;
  reseal?: boolean;
  json?: boolean;
}

export function auditCommand(): Command {
  return new Command("audit")
    .description("recompute every balance and rule of the books, and name what is broken")
    .option("--full", "also what earlier audits found right and sealed, from the first image on")
    .option("--resume", "go on with a full audit that was interrupted")
    .option("--reseal", "forget what was sealed, and seal what is there now")
    .option("--json", "print JSON")
    .action((options: Options) =>
      withWorkspace(
        async ({ store, clock, blobs }) => {
          if (options.reseal) await forgetSeals(store.write);
          const isFull = options.full || options.resume;
          const report = await audit(store, clock.now(), {
            blobs,
            write: store.write,
            sinceSealed: !isFull,
            resume: options.resume,
            onProgress: progress(options.json),
          });
          if (!report.ok) process.exitCode = 1;
          printResult(options.json, report, () => auditText(report));
        },
        { mapped: true },
      ),
    );
}

/** Shows in a terminal how many images were gone through, on one line that the report is written over. */
function progress(json: boolean | undefined): ((images: number) => void) | undefined {
  if (json || !process.stderr.isTTY) return undefined;
  let audited = 0;
  return (images) => {
    audited += images;
    process.stderr.write(`${CLEAR_LINE}${audited.toLocaleString("en")} finished images audited\r`);
  };
}

const CLEAR_LINE = "\u001B[2K";

function auditText({ ok, full, findings, ms }: AuditReport): string {
  const lines = findings.flatMap((finding) => [
    `${finding.ok ? "ok    " : "BROKEN"}  ${finding.check.padEnd(10)} ${finding.rule}`,
    ...finding.broken.map(({ id, detail }) => `          ${id}: ${detail}`),
  ]);
  const verdict = ok
    ? `Every rule holds${full ? "" : ` since what earlier audits have sealed; "cardpress audit --full" looks at that again`} (${ms} ms).`
    : findings.every(({ check, ok }) => ok || check === "pictures")
      ? "The books hold, but pictures are gone. Restore the blobs of images from a backup."
      : "The books are broken. Stop the service, keep a copy of the data blobs, and compare with the last backup.";
  return [...lines, verdict].join("\n");
}
