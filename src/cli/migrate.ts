import { Command } from "commander";
import { moveFolder } from "../app/operations/move.ts";
import { readConfig } from "../config.ts";
import { MIGRATION_NAMES } from "../store/migrate.ts";
import { systemClock } from "../system/clock-file.ts";
import { openDataFolder, requireDataFolder } from "../system/data-folder.ts";
import { stepsUnless } from "./backup.ts";
import { printResult } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("make the database, or bring it to this version's schema (serve does it by itself)")
    .option(
      "--to <url>",
      "copy the data folder into an empty PostgreSQL database and the bucket that CARDPRESS_S3_... name, and check it",
    )
    .option("--json", "print JSON")
    .action((options) => {
      if (options.to) return move(options.to, options.json);
      return withWorkspace(
        async ({ folder, store }) => {
          // Opening the store has migrated it.
          const isFile = store.engine === "sqlite";
          const newest = (isFile ? MIGRATION_NAMES : await postgresMigrations()).at(-1);
          const database = isFile ? folder.database : "PostgreSQL";
          printResult(options.json, { database, schema: newest }, () => `${database} is at ${newest}.`);
        },
        { create: true },
      );
    });
}

async function move(url: string, json: boolean | undefined): Promise<void> {
  const { cluster, ...config } = readConfig({ ...process.env, CARDPRESS_DATABASE_URL: url });
  if (!cluster) throw new Error("an address makes a cluster");
  requireDataFolder(config.dataDir);
  const report = await moveFolder(
    { config: { ...config, cluster }, folder: openDataFolder(config.dataDir), clock: systemClock },
    stepsUnless(json),
  );
  printResult(json, report, () => {
    const rows = report.tables.reduce((sum, table) => sum + table.rows, 0);
    const files = report.files.reduce((sum, kind) => sum + kind.files, 0);
    return `${rows} rows and ${files} files were copied, and ${report.rules} rules of the books hold there. Set CARDPRESS_DATABASE_URL, and CARDPRESS_DATA_DIR to another folder; ${config.dataDir} is as it was.`;
  });
}

async function postgresMigrations(): Promise<readonly string[]> {
  return (await import("../store/postgres-migrate.ts")).POSTGRES_MIGRATION_NAMES;
}
