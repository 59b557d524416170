import { Command } from "commander";
import { VERSION } from "../version.ts";
import { printResult } from "./output.ts";

/** The version for people. */
export const VERSION_LINE = `cardpress ${VERSION} (Bun ${Bun.version})`;

export function versionCommand(): Command {
  return new Command("version")
    .description("print the version")
    .option("--json", "print JSON")
    .action((options) =>
      printResult(options.json, { version: VERSION, bun: Bun.version }, () => VERSION_LINE),
    );
}
