import { Command, CommanderError, type Option } from "commander";
import { accountCommands } from "./account.ts";
import { auditCommand } from "./audit.ts";
import { backupCommand } from "./backup.ts";
import { creditsCommands } from "./credits.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { imageCommands } from "./image.ts";
import { keyCommands } from "./key.ts";
import { migrateCommand } from "./migrate.ts";
import { reportFailure } from "./output.ts";
import { renderCommand } from "./render.ts";
import { restoreCommand } from "./restore.ts";
import { serveCommand } from "./serve.ts";
import { studioCommand } from "./studio.ts";
import { templateCommands } from "./template.ts";
import { userCommands } from "./user.ts";
import { VERSION_LINE, versionCommand } from "./version.ts";
import { webhookCommands } from "./webhook.ts";

/** Runs one command; sets the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(args: string[]): Promise<void> {
  const program = new Command("cardpress")
    .description("Self-hosted football player cards: a photo and a few details in, a finished card out.")
    .version(VERSION_LINE, "--version", "print the version")
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
    .showHelpAfterError('(run "cardpress help" for the commands)');
  const commands = [
    serveCommand(),
    demoCommand(),
    accountCommands(),
    keyCommands(),
    creditsCommands(),
    imageCommands(),
    webhookCommands(),
    userCommands(),
    renderCommand(),
    templateCommands(),
    studioCommand(),
    auditCommand(),
    doctorCommand(),
    backupCommand(),
    restoreCommand(),
    migrateCommand(),
    versionCommand(),
  ];
  for (const command of commands) program.addCommand(strict(command, command.name()));
  try {
    await program.parseAsync(wantedOf(program, helpAsOption(args)), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else reportFailure(error, args.includes("--json"));
  }
}

/** "help account create" as "account create --help": the parser's own help stops at the first word. */
function helpAsOption(args: string[]): string[] {
  const [first, ...command] = args;
  return first === "help" && command.length > 0 ? [...command, "--help"] : args;
}

/** Without the wish for help where a command does not exist: the parser would show what there is, and be content. */
function wantedOf(program: Command, args: string[]): string[] {
  let command = program;
  for (const arg of args) {
    if (arg === "help") continue;
    const next = command.commands.find((known) => known.name() === arg);
    if (!next && !arg.startsWith("-") && command.commands.length > 0)
      return args.filter((each) => each !== "--help" && each !== "-h");
    if (!next) break;
    command = next;
  }
  return args;
}

/** What the parser calls where an option is missing or unknown; its types leave them out. */
interface ParserErrors {
  args: string[];
  missingMandatoryOptionValue(option: Option): void;
  unknownOption(flag: string): void;
}

/**
 * Wrong usage ends with 2 everywhere, so the parser throws instead of exiting by itself. A mistyped option is told as
 * such, with the one that was meant, and not as the absence of that one.
 */
function strict(command: Command, path: string): Command {
  command.exitOverride().showHelpAfterError(`(run "cardpress ${path} --help" for all it takes)`);
  const errors = command as unknown as ParserErrors;
  const missing = errors.missingMandatoryOptionValue.bind(command);
  errors.missingMandatoryOptionValue = (option) => {
    const unknown = errors.args.find((arg) => arg.startsWith("-"));
    if (unknown) errors.unknownOption(unknown);
    missing(option);
  };
  for (const child of command.commands) strict(child, `${path} ${child.name()}`);
  return command;
}
