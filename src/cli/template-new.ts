import { resolve } from "node:path";
import { Command } from "commander";
import { readConfig } from "../config.ts";
import { copyStarter } from "../studio/starter.ts";
import { printResult } from "./output.ts";

export function templateNewCommand(): Command {
  return new Command("new")
    .description("start a template from a small, commented one that passes every check")
    .argument("<name>", "its name: lower-case letters, digits and underscores, as in season_card")
    .option("--in <dir>", "the folder to put it into; otherwise CARDPRESS_TEMPLATES_DIR or this folder")
    .option("--json", "print JSON")
    .action(async (name: string, options: { in?: string; json?: boolean }) => {
      const root = resolve(options.in ?? readConfig(process.env).templatesDir ?? ".");
      const dir = await copyStarter(root, name);
      printResult(
        options.json,
        { name, folder: dir },
        () =>
          `${dir}\n\n  cardpress studio ${dir}           look at it while you edit\n  cardpress template check ${dir}   check it against every edge case`,
      );
    });
}
