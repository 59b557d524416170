import { Command } from "commander";
import type { Diagnosis } from "../app/operations/doctor/diagnosis.ts";
import { examine } from "../app/operations/doctor/doctor.ts";
import { readConfig } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { COMMIT, VERSION } from "../version.ts";
import { printResult } from "./output.ts";
import { VERSION_LINE } from "./version.ts";

const MARKS = { ok: "ok     ", warning: "warning", failed: "FAILED " } as const;

export function doctorCommand(): Command {
  return new Command("doctor")
    .description("check the installation: settings, disk, browser, database, books")
    .option("--json", "print JSON")
    .action(async (options) => {
      const checks = await diagnose();
      const ok = checks.every(({ status }) => status !== "failed");
      if (!ok) process.exitCode = 1;
      printResult(options.json, { ok, version: VERSION, commit: COMMIT, checks }, () =>
        [
          VERSION_LINE,
          ...checks.map(({ check, status, message }) => `${MARKS[status]}  ${check.padEnd(11)} ${message}`),
        ].join("\n"),
      );
    });
}

/** An invalid setting is a finding like any other, and no reason to skip the rest. */
async function diagnose(): Promise<Diagnosis[]> {
  try {
    return await examine(readConfig(process.env));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [{ check: "config", status: "failed", message: error.message }];
  }
}
