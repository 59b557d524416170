import { resolve } from "node:path";
import { Command, Option } from "commander";
import { type MoveReport, moveFolder } from "../app/operations/move/move.ts";
import { moveBack } from "../app/operations/move/move-back.ts";
import { moveIntoBucket, moveOutOfBucket, takeBucket } from "../app/operations/move/move-bucket.ts";
import type { MovedFiles } from "../app/operations/move/move-files.ts";
import { readConfig } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { storageFault } from "../core/storage-unavailable.ts";
import { MIGRATION_NAMES } from "../store/engine/migrate.ts";
import { systemClock } from "../system/clock-file.ts";
import { openDataFolder, requireDataFolder } from "../system/data-folder.ts";
import { isFileError } from "../system/write-whole.ts";
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
    .addOption(
      new Option(
        "--files <place>",
        "copy the data folder's photos, pictures and templates into the bucket that CARDPRESS_S3_... name, or back " +
          "into the folder, and check each there; rows stay where they are. No server may run meanwhile; broken off, " +
          "run it again",
      ).choices(["bucket", "folder"]),
    )
    .option("--remove-source", "with --files: then remove them from where they were")
    .option(
      "--take-bucket",
      "make the bucket that CARDPRESS_S3_... name this data folder's own, after a restore: the service that had it " +
        "must be stopped for good",
    )
    .option("--json", "print JSON")
    .action((options) => {
      if ([options.to, options.files, options.takeBucket].filter(Boolean).length > 1)
        throw new OperatorError("--to, --files and --take-bucket are three different things: name one.", 2);
      if (options.removeSource && !options.files)
        throw new OperatorError("--remove-source goes with --files.", 2);
      if (options.to) return move(options.to, options.json);
      if (options.files) return explaining(() => moveFolderFiles(options.files, options));
      if (options.takeBucket) return explaining(() => take(options.json));
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

function move(to: string, json: boolean | undefined): Promise<void> {
  return explaining(() => (to.includes("://") ? moveToCluster(to, json) : moveToFolder(resolve(to), json)));
}

async function explaining(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const fault = storageFault(error) ?? (isFileError(error) ? error : undefined);
    if (!fault) throw error;
    throw new OperatorError(
      `The copy broke off: ${fault.message}. The source is unchanged. Once that is fixed, run this again: files that are there already are not copied twice.`,
    );
  }
}

/** The data folder, and the bucket that the settings name. */
function folderAndBucket() {
  const { cluster, bucket, dataDir } = readConfig(process.env);
  if (cluster)
    throw new OperatorError(
      "CARDPRESS_DATABASE_URL is set: the bucket is the servers' own, and there is no data folder to copy.",
      2,
    );
  if (!bucket)
    throw new OperatorError(
      "No bucket is named. Set CARDPRESS_S3_ENDPOINT, CARDPRESS_S3_REGION, CARDPRESS_S3_BUCKET, CARDPRESS_S3_ACCESS_KEY_ID and CARDPRESS_S3_SECRET_ACCESS_KEY.",
      2,
    );
  requireDataFolder(dataDir);
  return { dataDir, folder: openDataFolder(dataDir), settings: bucket };
}

async function moveFolderFiles(
  to: "bucket" | "folder",
  { json, removeSource = false }: { json?: boolean; removeSource?: boolean },
): Promise<void> {
  const { dataDir, ...places } = folderAndBucket();
  const deps = { ...places, clock: systemClock };
  const work = to === "bucket" ? moveIntoBucket : moveOutOfBucket;
  const { files, removed, kept } = await work(deps, { removesSource: removeSource }, stepsUnless(json));
  const { bucket } = deps.settings;
  const [source, next] =
    to === "bucket"
      ? [dataDir, `Keep CARDPRESS_S3_... set: the photos and pictures are in ${bucket} now.`]
      : [bucket, "Unset CARDPRESS_S3_...: the photos and pictures are in the data folder now."];
  const left = removeSource
    ? `${removed} were removed from ${source}.`
    : `Those in ${source} are as they were: --remove-source removes them.`;
  const lost = `Missing in ${source}, and kept as they were in the new place: ${kept.count} files, such as ${kept.files[0]}.`;
  printResult(json, { place: to === "bucket" ? bucket : dataDir, files, removed, kept }, () =>
    [
      `${count(files)} files were copied and read back. ${left}`,
      ...(kept.count > 0 ? [lost] : []),
      next,
    ].join("\n"),
  );
}

async function take(json: boolean | undefined): Promise<void> {
  const { dataDir, ...deps } = folderAndBucket();
  const report = await takeBucket({ ...deps, clock: systemClock }, stepsUnless(json));
  const { bucket, missing } = report;
  printResult(json, { data_dir: dataDir, ...report }, () =>
    [
      `${bucket} belongs to ${dataDir} now; the folder that had it before does not start again with it.`,
      missing.count === 0
        ? "Every photo and picture that the database refers to is there."
        : `Missing there: ${missing.count} files, such as ${missing.files[0]}. Restore them from the bucket's versions.`,
    ].join("\n"),
  );
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
  return `${rows} rows and ${count(files)} files were copied, and ${rules} rules of the books hold there.`;
}

const count = (files: MovedFiles[]) => files.reduce((sum, kind) => sum + kind.files, 0);

async function postgresMigrations(): Promise<readonly string[]> {
  return (await import("../store/engine/postgres-migrate.ts")).POSTGRES_MIGRATION_NAMES;
}
