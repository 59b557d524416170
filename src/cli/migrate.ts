import { Command } from "commander";
import { MIGRATION_NAMES } from "../store/migrate.ts";
import { printResult } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("make the database, or bring it to this version's schema (serve does it by itself)")
    .option("--json", "print JSON")
    .action((options) =>
      withWorkspace(
        async ({ folder }) => {
          // Opening the store has migrated it.
          const newest = MIGRATION_NAMES.at(-1);
          printResult(
            options.json,
            { database: folder.database, schema: newest },
            () => `${folder.database} is at ${newest}.`,
          );
        },
        { create: true },
      ),
    );
}
