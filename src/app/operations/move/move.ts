import { existsSync, readFileSync } from "node:fs";
import type { BucketSettings } from "../../../blobs/bucket.ts";
import { claimBucket, SHARED_OWNER } from "../../../blobs/bucket-owner.ts";
import { folderBlobs } from "../../../blobs/folder-blobs.ts";
import type { Config } from "../../../config.ts";
import { OperatorError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/ports.ts";
import { enqueueAllMissing } from "../../../jobs/jobs.ts";
import { isEmpty, type MovedTable, moveRows } from "../../../store/engine/move-rows.ts";
import { openSqliteStore } from "../../../store/engine/sqlite.ts";
import type { Store } from "../../../store/store.ts";
import { readBucketNote } from "../../../system/bucket-note.ts";
import type { DataFolder } from "../../../system/data-folder.ts";
import { lockFile } from "../../../system/file-lock.ts";
import { isSameBucket, openUsableBucket, ownerOf } from "../../bucket-files.ts";
import { openCluster } from "../../places.ts";
import { auditCopy } from "../audit/audit-copy.ts";
import type { Step } from "../backup/backup.ts";
import { type MovedFiles, moveFiles } from "./move-files.ts";

export interface MoveReport {
  tables: MovedTable[];
  files: MovedFiles[];
  /** How many rules of the audit hold there. */
  rules: number;
}

export interface MoveDeps {
  config: Config & { cluster: NonNullable<Config["cluster"]> };
  folder: DataFolder;
  clock: Clock;
}

/**
 * Copies a data folder into an empty database and a bucket, and checks what arrived: the number of rows of
 * each table, the length of each file, the books. The folder stays as it is; a bucket that it keeps its files
 * in is handed over instead. Throws an OperatorError where the service runs, something is there already, or
 * the key is another one. Broken off, it can be begun again: rows are there all or not at all.
 */
export async function moveFolder({ config, folder, clock }: MoveDeps, step: Step): Promise<MoveReport> {
  const { database, root, serverLock, secretKey } = folder;
  if (!existsSync(database))
    throw new OperatorError(`There is no database in ${root} to move. Set CARDPRESS_DATA_DIR.`);
  const lock = lockFile(serverLock);
  if (!lock)
    throw new OperatorError(
      `The service runs on ${root}. Stop it first: what it takes in meanwhile would stay behind.`,
    );
  const from = openSqliteStore(database, { verify: true, mapped: true });
  let to: Store | undefined;
  try {
    const bucketFrom = ownBucket(folder, config.cluster.bucket);
    refuseOtherKey(secretKey, config.cluster.secretKeyFile);
    const places = await openCluster(config.cluster, folder, { mapped: true, bucketFrom });
    to = places.store;
    if (!(await isEmpty(to.read)))
      throw new OperatorError(
        "The database at the address given by --to holds accounts or people already. Name an empty one.",
      );
    const files = bucketFrom
      ? []
      : await step("photos, pictures and templates", (note) =>
          moveFiles({ from: folderBlobs(folder), to: places.blobs, note }),
        );
    const into = places.store;
    const tables = await step("rows", (note) =>
      moveRows(from, into, {
        report: ({ table, rows }) => note(`${rows} of ${table}`),
        last: (tx) => enqueueAllMissing((after) => places.jobs.enqueueMissing(tx, after)),
      }),
    );
    const remedy = `Run "cardpress audit" on ${root}: they may have been broken before. Do not go on with the copy until you know.`;
    const rules = await auditCopy(into, { now: clock.now(), remedy }, step);
    // From here on the folder's own service does not start again: it would sweep the others' pictures.
    if (bucketFrom) await claimBucket(await openUsableBucket(config.cluster.bucket), ownerOf(SHARED_OWNER));
    return { tables, files, rules };
  } finally {
    await to?.close();
    await from.close();
    lock.release();
  }
}

/** The id by which the folder owns the bucket that the servers shall use; undefined where it owns none. */
function ownBucket({ root, bucketNote }: DataFolder, settings: BucketSettings): string | undefined {
  const note = readBucketNote(bucketNote);
  if (!note || note.state === "filling") return undefined;
  if (note.state === "filled" && isSameBucket(note, settings)) return note.id;
  throw new OperatorError(
    `The photos and pictures of ${root} are in the bucket ${note.bucket} at ${note.endpoint}. Name that one in CARDPRESS_S3_...: the servers go on with it${note.state === "filled" ? "" : ', once "cardpress migrate --take-bucket" has made it this folder\'s own'}.`,
  );
}

/** Secrets in the database are sealed with the folder's key. */
function refuseOtherKey(own: string, named: string): void {
  const key = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").trim() : undefined);
  if (key(own) === undefined || key(own) === key(named)) return;
  throw new OperatorError(
    `CARDPRESS_SECRET_KEY_FILE (${named}) must be a copy of ${own}: the webhook secrets in the database are sealed with that key.`,
  );
}
