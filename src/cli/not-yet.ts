import { Command } from "commander";
import { OperatorError } from "../core/errors.ts";

/** Commands that have a name but no code yet. */
export const NOT_YET = ["template", "studio"];

/** They say so plainly instead of "unknown command". */
export function notYetCommands(): Command[] {
  return NOT_YET.map((name) =>
    new Command(name)
      .description("(not there yet in this version)")
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        throw new OperatorError(`"cardpress ${name}" is not there yet in this version.`);
      }),
  );
}
