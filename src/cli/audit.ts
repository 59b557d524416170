import { Command } from "commander";
import { type AuditReport, audit } from "../app/operations/audit.ts";
import { printResult } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function auditCommand(): Command {
  return new Command("audit")
    .description("recompute every balance and rule of the books, and name what is broken")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(
        async ({ store, clock, blobs }) => {
          const report = await audit(store, clock.now(), blobs);
          if (!report.ok) process.exitCode = 1;
          printResult(options.json, report, () => auditText(report));
        },
        { mapped: true },
      ),
    );
}

function auditText({ ok, findings, ms }: AuditReport): string {
  const lines = findings.flatMap((finding) => [
    `${finding.ok ? "ok    " : "BROKEN"}  ${finding.check.padEnd(10)} ${finding.rule}`,
    ...finding.broken.map(({ id, detail }) => `          ${id}: ${detail}`),
  ]);
  const verdict = ok
    ? `Every rule holds (${ms} ms).`
    : findings.every(({ check, ok }) => ok || check === "pictures")
      ? "The books hold, but pictures are gone. Restore the blobs of images from a backup."
      : "The books are broken. Stop the service, keep a copy of the data blobs, and compare with the last backup.";
  return [...lines, verdict].join("\n");
}
