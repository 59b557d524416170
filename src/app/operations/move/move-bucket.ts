import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { BLOB_KINDS, type Blobs } from "../../../blobs/blobs.ts";
import type { Bucket, BucketSettings } from "../../../blobs/bucket.ts";
import {
  bucketOwner,
  claimBucket,
  holdsBlobs,
  leaveBucket,
  SHARED_OWNER,
} from "../../../blobs/bucket-owner.ts";
import { folderBlobs } from "../../../blobs/folder-blobs.ts";
import { OperatorError } from "../../../core/errors.ts";
import type { Clock } from "../../../core/ports.ts";
import { neededSources, openAsIs, picturesOf } from "../../../store/engine/snapshot.ts";
import { type BucketNote, readBucketNote, writeBucketNote } from "../../../system/bucket-note.ts";
import { type DataFolder, holdsOwnFiles } from "../../../system/data-folder.ts";
import { lockFile } from "../../../system/file-lock.ts";
import {
  blobsIn,
  newNote,
  openUsableBucket,
  othersBucket,
  ownerOf,
  refuseUsedBucket,
} from "../../bucket-files.ts";
import type { Step } from "../backup/backup.ts";
import { type MovedFiles, moveFiles } from "./move-files.ts";

// Moves the files of a data folder, not its rows, between the folder and a bucket. The note in the folder
// changes once all are there: until then the service goes on with those where they were.

export interface MoveBucketDeps {
  folder: DataFolder;
  settings: BucketSettings;
}

export interface MoveBucketOptions {
  /** Remove the files from where they were, once all are in their new place. */
  removesSource: boolean;
}

export interface BucketMove {
  files: MovedFiles[];
  /** How many were removed from where they were. */
  removed: number;
}

/**
 * Copies photos, pictures and templates into a bucket, and reads each back. Broken off, it goes on where it
 * stopped. Throws an OperatorError where the service runs, or the bucket is somebody else's.
 */
export function moveIntoBucket(
  { folder, settings }: MoveBucketDeps,
  { removesSource }: MoveBucketOptions,
  step: Step,
): Promise<BucketMove> {
  return withStopped(folder, async () => {
    const bucket = await openUsableBucket(settings);
    const here = folderBlobs(folder);
    const there = await blobsIn(bucket, folder);
    const known = readBucketNote(folder.bucketNote);
    if (known?.state === "restored") throw isRestored(folder, known);
    const note = await begin(bucket, folder, settings, known);
    const files = note.state === "filled" ? [] : await copyAll(here, there, step);
    await writeBucketNote(folder.bucketNote, { ...note, state: "filled" });
    return { files, removed: removesSource ? await removeAll(here, step) : 0 };
  });
}

/** Notes which bucket is being filled, so that nobody else begins with it, and another run goes on. */
async function begin(
  bucket: Bucket,
  folder: DataFolder,
  settings: BucketSettings,
  known: BucketNote | undefined,
): Promise<BucketNote> {
  const owner = await bucketOwner(bucket);
  if (known && owner?.id === known.id) return known;
  if (known?.state === "filled")
    throw owner
      ? othersBucket(settings, owner)
      : new OperatorError(
          `The photos and pictures of ${folder.root} are in the bucket ${known.bucket} at ${known.endpoint}. To go to another one, let your storage copy its objects, "owner" too.`,
        );
  await refuseUsedBucket(bucket, settings);
  const note = newNote(settings, "filling");
  await writeBucketNote(folder.bucketNote, note);
  await claimBucket(bucket, ownerOf(note.id));
  return note;
}

/**
 * Copies the files of a bucket back into its data folder, and compares them byte by byte. Broken off, it goes
 * on where it stopped. Throws an OperatorError where the service runs, or the bucket is somebody else's.
 */
export function moveOutOfBucket(
  { folder, settings }: MoveBucketDeps,
  { removesSource }: MoveBucketOptions,
  step: Step,
): Promise<BucketMove> {
  return withStopped(folder, async () => {
    const note = readBucketNote(folder.bucketNote);
    if (note?.state === "restored") throw isRestored(folder, note);
    if (note?.state !== "filled")
      throw new OperatorError(`The photos and pictures of ${folder.root} are in it already.`);
    const bucket = await openUsableBucket(settings);
    const owner = await bucketOwner(bucket);
    if (owner?.id !== note.id)
      throw new OperatorError(
        `${settings.bucket} at ${settings.endpoint} is not the bucket of ${folder.root}, which is ${note.bucket} at ${note.endpoint}. Name that one in CARDPRESS_S3_...`,
      );
    const there = await blobsIn(bucket, folder);
    const files = await copyAll(there, folderBlobs(folder), step);
    await rm(folder.bucketNote, { force: true });
    const removed = removesSource ? await removeAll(there, step) : 0;
    if (removesSource) await leaveBucket(bucket);
    return { files, removed };
  });
}

async function copyAll(from: Blobs, to: Blobs, step: Step): Promise<MovedFiles[]> {
  const files = await step("photos, pictures and templates", (note) =>
    moveFiles({ from, to, note, compare: true }),
  );
  // What a run that was broken off had copied, and the service has deleted since.
  await step("what has been deleted meanwhile", async () => {
    for (const kind of BLOB_KINDS.filter((each) => each !== "cutout"))
      for await (const name of to.list(kind, Number.POSITIVE_INFINITY))
        if (!(await from.stat(kind, name))) await to.remove(kind, name);
  });
  return files;
}

function removeAll(from: Blobs, step: Step): Promise<number> {
  return step("remove them from where they were", async (note) => {
    let removed = 0;
    for (const kind of BLOB_KINDS.filter((each) => each !== "cutout"))
      for await (const name of from.list(kind, Number.POSITIVE_INFINITY)) {
        if (await from.remove(kind, name)) removed += 1;
        note(`${removed} files`);
      }
    return removed;
  });
}

export interface BucketTaken {
  bucket: string;
  /** Files that the database refers to and that are not in the bucket. */
  missing: { count: number; files: string[] };
}

/** Enough to show what is missing. */
const MAX_NAMED = 50;

/**
 * Makes the bucket a data folder's own, in place of the folder that had it: after a restore, or when the note
 * of the folder was lost. That one's service must be stopped for good, which only the operator knows. Throws
 * an OperatorError for a bucket of servers on PostgreSQL, and a folder with pictures of its own.
 */
export function takeBucket(
  { folder, settings, clock }: MoveBucketDeps & { clock: Pick<Clock, "now"> },
  step: Step,
): Promise<BucketTaken> {
  return withStopped(folder, async () => {
    const bucket = await openUsableBucket(settings);
    const owner = await bucketOwner(bucket);
    const isUnknown = !owner && (await holdsBlobs(bucket));
    if (owner?.id === SHARED_OWNER || owner?.id === "") throw othersBucket(settings, owner);
    if (isUnknown) await refuseUsedBucket(bucket, settings);
    const known = readBucketNote(folder.bucketNote);
    if ((!known || known.state === "filling") && holdsOwnFiles(folder))
      throw new OperatorError(
        `${folder.root} holds photos or pictures itself. Copy them into an empty bucket by "cardpress migrate --files bucket".`,
      );
    const note = newNote(settings, "filled");
    await claimBucket(bucket, ownerOf(note.id));
    await writeBucketNote(folder.bucketNote, note);
    const blobs = await blobsIn(bucket, folder);
    const missing = await step("look which files are there", () => missingFiles(folder, blobs, clock.now()));
    return { bucket: settings.bucket, missing };
  });
}

async function missingFiles(folder: DataFolder, blobs: Blobs, now: number): Promise<BucketTaken["missing"]> {
  const client = openAsIs(folder.database);
  try {
    const missing: BucketTaken["missing"] = { count: 0, files: [] };
    const pictures = [...picturesOf(client, now)].map(({ name }) => name);
    for (const [kind, needed] of [
      ["source", neededSources(client)],
      ["picture", pictures],
    ] as const) {
      const there = new Set<string>();
      for await (const name of blobs.list(kind, Number.POSITIVE_INFINITY)) there.add(name);
      const lost = needed.filter((name) => !there.has(name));
      missing.count += lost.length;
      missing.files.push(...lost.slice(0, MAX_NAMED - missing.files.length));
    }
    return missing;
  } finally {
    client.close();
  }
}

async function withStopped<T>(folder: DataFolder, work: () => Promise<T>): Promise<T> {
  const { root, database, serverLock } = folder;
  if (!existsSync(database))
    throw new OperatorError(`There is no database in ${root}. Set CARDPRESS_DATA_DIR.`);
  const lock = lockFile(serverLock);
  if (!lock)
    throw new OperatorError(
      `The service runs on ${root}. Stop it first: what it takes in meanwhile would stay behind.`,
    );
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function isRestored({ root }: DataFolder, { bucket }: BucketNote): OperatorError {
  return new OperatorError(
    `${root} is a copy of a data folder whose files are in the bucket ${bucket}. Make it this folder's own first: "cardpress migrate --take-bucket".`,
  );
}
