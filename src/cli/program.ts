import { Command, CommanderError, Help, type Option } from "commander";
import { reportFailure } from "./output.ts";
import { VERSION_LINE } from "./version.ts";

/**
 * Every command, in the order of the help. Each is loaded when called, so that the service starts without the
 * designers' tools and without a browser driver, which are half of all code.
 */
const COMMANDS: Record<string, () => Promise<Command>> = {
  serve: async () => (await import("./serve.ts")).serveCommand(),
  demo: async () => (await import("./demo.ts")).demoCommand(),
  account: async () => (await import("./account.ts")).accountCommands(),
  key: async () => (await import("./key.ts")).keyCommands(),
  credits: async () => (await import("./credits.ts")).creditsCommands(),
  image: async () => (await import("./image.ts")).imageCommands(),
  print: async () => (await import("./print.ts")).printCommand(),
  webhook: async () => (await import("./webhook.ts")).webhookCommands(),
  bucket: async () => (await import("./bucket.ts")).bucketCommands(),
  user: async () => (await import("./user.ts")).userCommands(),
  mcp: async () => (await import("./mcp.ts")).mcpCommand(),
  render: async () => (await import("./render.ts")).renderCommand(),
  template: async () => (await import("./template.ts")).templateCommands(),
  studio: async () => (await import("./studio.ts")).studioCommand(),
  audit: async () => (await import("./audit.ts")).auditCommand(),
  doctor: async () => (await import("./doctor.ts")).doctorCommand(),
  backup: async () => (await import("./backup.ts")).backupCommand(),
  restore: async () => (await import("./restore.ts")).restoreCommand(),
  migrate: async () => (await import("./migrate.ts")).migrateCommand(),
  version: async () => (await import("./version.ts")).versionCommand(),
};

/** Only the command called; all of them when none matches, for help and suggestions. */
function commandsFor([first = ""]: string[]): Promise<Command[]> {
  const called = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  return Promise.all((called ? [called] : Object.values(COMMANDS)).map((load) => load()));
}

/** Runs one command and sets the exit code: 0 done, 1 failed, 2 wrong usage. */
export async function runCommandLine(args: string[]): Promise<void> {
  const program = new Command("cardpress")
    .description("Self-hosted football player cards: a photo and a few details in, a finished card out.")
    .version(VERSION_LINE, "--version", "print the version")
    .exitOverride()
    .configureOutput({ writeErr: (text) => process.stderr.write(text) })
    .showHelpAfterError('(run "cardpress help" for the commands)');
  const wanted = helpAsOption(args);
  const commands = await commandsFor(wanted);
  for (const command of commands) program.addCommand(strict(command, command.name()));
  try {
    await program.parseAsync(wantedOf(program, wanted), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
    else reportFailure(error, args.includes("--json"));
  }
}

/** Treats "help account create" as "account create --help": the parser's own help stops at the first word. */
function helpAsOption(args: string[]): string[] {
  const [first, ...command] = args;
  return first === "help" && command.length > 0 ? [...command, "--help"] : args;
}

/** Drops --help when the command does not exist: the parser would print help and exit successfully. */
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

/** Hooks the parser calls for missing and unknown options; its types omit them. */
interface ParserErrors {
  args: string[];
  missingMandatoryOptionValue(option: Option): void;
  unknownOption(flag: string): void;
}

/** An option's help, which also says what cannot be left out. */
function described(option: Option): string {
  const text = new Help().optionDescription(option);
  return option.mandatory ? `${text} (required)` : text;
}

/**
 * Wrong usage exits with 2 everywhere, so the parser throws instead of exiting. A mistyped option is reported
 * as such, with a suggestion, rather than as a missing required option.
 */
function strict(command: Command, path: string): Command {
  command.configureHelp({ optionDescription: described });
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
