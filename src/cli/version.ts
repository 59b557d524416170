import { Command } from "commander";
import { COMMIT, RELEASE, VERSION } from "../version.ts";
import { printResult } from "./output.ts";

/** The version for people. */
export const VERSION_LINE = `cardpress ${RELEASE}, Bun ${Bun.version}`;

export function versionCommand(): Command {
  return new Command("version")
    .description("print the version, and the commit it was made of")
    .option("--json", "print JSON")
    .action((options) =>
      printResult(options.json, { version: VERSION, commit: COMMIT, bun: Bun.version }, () => VERSION_LINE),
    );
}
