import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { folderBlobs } from "../../../blobs/folder-blobs.ts";
import type { Cluster } from "../../../cluster-config.ts";
import { OperatorError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/ports.ts";
import { databaseProblems } from "../../../store/engine/check-database.ts";
import { type MovedTable, moveRows } from "../../../store/engine/move-rows.ts";
import { openSqliteStore } from "../../../store/engine/sqlite.ts";
import type { Store } from "../../../store/store.ts";
import { type DataFolder, openDataFolder } from "../../../system/data-folder.ts";
import { lockFile } from "../../../system/file-lock.ts";
import { copySecretKey } from "../../../system/secret-key.ts";
import { isFileError } from "../../../system/write-whole.ts";
import { openCluster } from "../../places.ts";
import { auditCopy } from "../audit/audit-copy.ts";
import type { Step } from "../backup/backup.ts";
import { publish, refuseFull, stagingPrefix } from "../backup/staging.ts";
import type { MoveReport } from "./move.ts";
import { moveFiles } from "./move-files.ts";

export interface MoveBackDeps {
  cluster: Cluster;
  /** The data folder to make: missing, or empty. */
  dataDir: string;
  clock: Pick<Clock, "now">;
}

const OTHER_FOLDER = "name a new one";
const LOOK_AT_SOURCE =
  'Run "cardpress audit" on the database itself: they may have been broken before. If not, run this again.';

/**
 * Copies a database and its bucket into a new data folder, and checks what arrived: the number of rows of
 * each table, each file's bytes, the books, and that every picture is there. Database and bucket stay as they
 * are. The folder appears when all is checked; until then it is `<folder>.moving`, where a second run goes
 * on. Throws an OperatorError where servers serve from the database, or the folder holds something.
 */
export async function moveBack({ cluster, dataDir, clock }: MoveBackDeps, step: Step): Promise<MoveReport> {
  try {
    const path = `${await stagingPrefix(dataDir)}moving`;
    await refuseFull(dataDir, OTHER_FOLDER, basename(path));
    const folder = openDataFolder(path);
    const lock = lockFile(folder.serverLock);
    if (!lock)
      throw new OperatorError(`${path} is being filled by another "cardpress migrate --to". Let it end.`);
    try {
      const report = await fill(folder, { cluster, clock }, step);
      await refuseFull(dataDir, OTHER_FOLDER, basename(path));
      await publish(path, dataDir);
      return report;
    } finally {
      lock.release();
      // The lock was taken at a path that has gone, so SQLite left its journal.
      await rm(join(dataDir, `${basename(folder.serverLock)}-journal`), { force: true });
    }
  } catch (error) {
    if (!isFileError(error)) throw error;
    throw new OperatorError(
      `${dataDir} cannot be filled: ${error.message}. Once that is fixed, run this again: it continues where it stopped.`,
    );
  }
}

async function fill(
  folder: DataFolder,
  { cluster, clock }: Pick<MoveBackDeps, "cluster" | "clock">,
  step: Step,
): Promise<MoveReport> {
  const from = await openCluster(cluster, folder, { mapped: true });
  try {
    await refuseWhileServed(from.store);
    const blobs = folderBlobs(folder);
    const files = await step("photos, pictures and templates", (note) =>
      moveFiles({ from: from.blobs, to: blobs, note, compare: true }),
    );
    copySecretKey(cluster.secretKeyFile, folder.secretKey);
    const { tables, rules } = await fillDatabase(folder.database, from.store, async (into) => {
      const tables = await step("rows", (note) =>
        moveRows(from.store, into, { report: ({ table, rows }) => note(`${rows} of ${table}`) }),
      );
      return {
        tables,
        rules: await auditCopy(into, { now: clock.now(), blobs, remedy: LOOK_AT_SOURCE }, step),
      };
    });
    await refuseWhileServed(from.store);
    return { tables, files, rules };
  } finally {
    await from.store.close();
  }
}

interface Filled {
  tables: MovedTable[];
  rules: number;
}

/** Begins a new file, whatever a run before has left, and reads it whole in the end. */
async function fillDatabase(
  file: string,
  from: Store,
  work: (into: Store) => Promise<Filled>,
): Promise<Filled> {
  if (from.engine !== "postgres") throw new Error("only what PostgreSQL holds is moved into a folder");
  for (const suffix of ["", "-wal", "-shm"]) rmSync(file + suffix, { force: true });
  const into = openSqliteStore(file, { isCopy: true });
  const filled = await work(into).finally(into.close);
  const problems = databaseProblems(file);
  if (problems.length > 0) throw new OperatorError(`The copy is damaged: ${problems.join("; ")}.`);
  return filled;
}

/** What a server takes in or makes meanwhile would stay behind. */
async function refuseWhileServed({ rawQuery }: Store): Promise<void> {
  const { servingNodes } = await import("../../../state/shared-nodes.ts");
  const nodes = rawQuery ? await servingNodes(rawQuery) : [];
  if (nodes.length === 0) return;
  throw new OperatorError(
    `Servers serve from the database: ${nodes.join(", ")}. Stop them all, then run this again: what they take in meanwhile would stay behind. One that was killed counts for some seconds more.`,
  );
}
