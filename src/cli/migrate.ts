import { Command } from "commander";
import { migrations } from "../../db/migrations/sqlite/index.ts";
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
          const newest = migrations.at(-1)?.name;
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
