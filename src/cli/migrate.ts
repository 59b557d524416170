import { resolve } from "node:path";
import { Command } from "commander";
import { type MoveReport, moveFolder } from "../app/operations/move/move.ts";
import { moveBack } from "../app/operations/move/move-back.ts";
import { readConfig } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { storageFault } from "../core/storage-unavailable.ts";
import { MIGRATION_NAMES } from "../store/engine/migrate.ts";
import { systemClock } from "../system/clock-file.ts";
import { openDataFolder, requireDataFolder } from "../system/data-folder.ts";
import { stepsUnless } from "./backup.ts";
import { printResult } from "./output.ts";
import { withWorkspace } from "./workspace.ts";

export function migrateCommand(): Command {
  return new Command("migrate")
    .description("make the database, or bring it to this version's schema (serve does it by itself)")
    .option(
      "--to <place>",
      "copy everything to another place, where nothing may be yet, and check it there. To an address such as " +
        "postgres://user:password@host/database: the data folder (CARDPRESS_DATA_DIR), into that database and the " +
        "bucket that CARDPRESS_S3_... name. To a path: the database of CARDPRESS_DATABASE_URL and its bucket, into a " +
        "new data folder. No server may run meanwhile. What is copied from stays as it is; broken off, run it again",
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

async function move(to: string, json: boolean | undefined): Promise<void> {
  try {
    await (to.includes("://") ? moveToCluster(to, json) : moveToFolder(resolve(to), json));
  } catch (error) {
    const fault = storageFault(error);
    if (!fault) throw error;
    throw new OperatorError(
      `The copy broke off: ${fault.message}. The source is unchanged. Once that is fixed, run this again: files that are there already are not copied twice.`,
    );
  }
}

async function moveToCluster(url: string, json: boolean | undefined): Promise<void> {
  const { cluster, ...config } = readConfig({ ...process.env, CARDPRESS_DATABASE_URL: url });
  if (!cluster) throw new Error("an address makes a cluster");
  requireDataFolder(config.dataDir);
  const report = await moveFolder(
    { config: { ...config, cluster }, folder: openDataFolder(config.dataDir), clock: systemClock },
    stepsUnless(json),
  );
  printResult(
    json,
    report,
    () =>
      `${counts(report)} Set CARDPRESS_DATABASE_URL, and CARDPRESS_DATA_DIR to another folder; ${config.dataDir} is as it was.`,
  );
}

async function moveToFolder(dataDir: string, json: boolean | undefined): Promise<void> {
  const { cluster } = readConfig(process.env);
  if (!cluster)
    throw new OperatorError(
      "--to names a path, but CARDPRESS_DATABASE_URL is not set: a path is for copying a database and its bucket into a data folder. Set CARDPRESS_DATABASE_URL, CARDPRESS_S3_... and CARDPRESS_SECRET_KEY_FILE as the servers have them; or name an address such as postgres://user:password@host/database.",
      2,
    );
  const report = await moveBack({ cluster, dataDir, clock: systemClock }, stepsUnless(json));
  printResult(
    json,
    { data_dir: dataDir, ...report },
    () =>
      `${counts(report)} Unset CARDPRESS_DATABASE_URL, CARDPRESS_S3_... and CARDPRESS_SECRET_KEY_FILE, and set CARDPRESS_DATA_DIR to ${dataDir}; the key is in it. Database and bucket are as they were: start no server on them again.`,
  );
}

function counts({ tables, files, rules }: MoveReport): string {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  const count = files.reduce((sum, kind) => sum + kind.files, 0);
  return `${rows} rows and ${count} files were copied, and ${rules} rules of the books hold there.`;
}

async function postgresMigrations(): Promise<readonly string[]> {
  return (await import("../store/engine/postgres-migrate.ts")).POSTGRES_MIGRATION_NAMES;
}
