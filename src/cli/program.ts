import { Command, CommanderError } from "commander";
import { accountCommands } from "./account.ts";
import { auditCommand } from "./audit.ts";
import { backupCommand } from "./backup.ts";
import { creditsCommands } from "./credits.ts";
import { demoCommand } from "./demo.ts";
import { doctorCommand } from "./doctor.ts";
import { keyCommands } from "./key.ts";
import { migrateCommand } from "./migrate.ts";
import { notYetCommands } from "./not-yet.ts";
import { reportFailure } from "./output.ts";
import { renderCommand } from "./render.ts";
import { restoreCommand } from "./restore.ts";
import { serveCommand } from "./serve.ts";
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
    webhookCommands(),
    userCommands(),
    renderCommand(),
    auditCommand(),
    doctorCommand(),
    backupCommand(),
    restoreCommand(),
    migrateCommand(),
    versionCommand(),
    ...notYetCommands(),
  ];
  for (const command of commands) program.addCommand(inheritExit(command));
  try {
    await program.parseAsync(helpAsOption(args), { from: "user" });
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

/** Wrong usage ends with 2 everywhere, so the parser throws instead of exiting by itself. */
function inheritExit(command: Command): Command {
  command.exitOverride();
  for (const child of command.commands) inheritExit(child);
  return command;
}
