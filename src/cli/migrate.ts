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
        async ({ folder, store }) => {
          // Opening the store has migrated it.
          const isFile = store.engine === "sqlite";
          const newest = (isFile ? MIGRATION_NAMES : await postgresMigrations()).at(-1);
          const database = isFile ? folder.database : "PostgreSQL";
          printResult(options.json, { database, schema: newest }, () => `${database} is at ${newest}.`);
        },
        { create: true },
      ),
    );
}

async function postgresMigrations(): Promise<readonly string[]> {
  return (await import("../store/postgres-migrate.ts")).POSTGRES_MIGRATION_NAMES;
}
