import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { BLOB_KINDS, type BlobKind, type Blobs } from "../../../blobs/blobs.ts";
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
import { neededSources, openAsIs, picturesOf, uploadedSources } from "../../../store/engine/snapshot.ts";
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
  clock: Pick<Clock, "now">;
}

export interface MoveBucketOptions {
  /** Remove the files from where they were, once all are in their new place. */
  removesSource: boolean;
}

export interface BucketMove {
  files: MovedFiles[];
  /** How many were removed from where they were. */
  removed: number;
  /** What the database refers to, is missing where files were, and was in their new place already. */
  kept: NamedFiles;
}

interface NamedFiles {
  count: number;
  /** The first of them. */
  files: string[];
}

/**
 * Copies photos, pictures and templates into a bucket, and reads each back. Broken off, it goes on where it
 * stopped. Throws an OperatorError where the service runs, or the bucket is somebody else's.
 */
export function moveIntoBucket(
  { folder, settings, clock }: MoveBucketDeps,
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
    const copied =
      note.state === "filled"
        ? { files: [], kept: { count: 0, files: [] } }
        : await copyAll({ from: here, to: there, needed: neededFiles(folder, clock.now()) }, step);
    await writeBucketNote(folder.bucketNote, { ...note, state: "filled" });
    return { ...copied, removed: removesSource ? await removeAll(here, step) : 0 };
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
  { folder, settings, clock }: MoveBucketDeps,
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
    const copied = await copyAll(
      { from: there, to: folderBlobs(folder), needed: neededFiles(folder, clock.now()) },
      step,
    );
    await rm(folder.bucketNote, { force: true });
    const removed = removesSource ? await removeAll(there, step) : 0;
    if (removesSource) await leaveBucket(bucket);
    return { ...copied, removed };
  });
}

interface Copying {
  from: Blobs;
  to: Blobs;
  needed: ReturnType<typeof neededFiles>;
}

async function copyAll(
  { from, to, needed }: Copying,
  step: Step,
): Promise<Pick<BucketMove, "files" | "kept">> {
  const files = await step("photos, pictures and templates", (note) =>
    moveFiles({ from, to, note, compare: true }),
  );
  const kept: NamedFiles = { count: 0, files: [] };
  // What a run that was broken off had copied, and the service has deleted since. What it has not deleted was
  // lost where it was, and this may be the last copy.
  await step("what has been deleted meanwhile", async () => {
    for (const kind of BLOB_KINDS.filter((each) => each !== "cutout"))
      for await (const name of to.list(kind, Number.POSITIVE_INFINITY)) {
        if (await from.stat(kind, name)) continue;
        if (kind === "template" || needed[kind]?.has(name)) addTo(kept, [name]);
        else await to.remove(kind, name);
      }
  });
  return { files, kept };
}

function addTo(named: NamedFiles, names: readonly string[]): void {
  named.count += names.length;
  named.files.push(...names.slice(0, MAX_NAMED - named.files.length));
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
  missing: NamedFiles;
}

/** Enough to show which they are. */
const MAX_NAMED = 50;

/**
 * Makes the bucket a data folder's own, in place of the folder that had it: after a restore, or when the note
 * of the folder was lost. That one's service must be stopped for good, which only the operator knows. Throws
 * an OperatorError for a bucket of servers on PostgreSQL, and a folder with pictures of its own.
 */
export function takeBucket({ folder, settings, clock }: MoveBucketDeps, step: Step): Promise<BucketTaken> {
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

async function missingFiles(folder: DataFolder, blobs: Blobs, now: number): Promise<NamedFiles> {
  const missing: NamedFiles = { count: 0, files: [] };
  for (const [kind, needed] of Object.entries(neededFiles(folder, now)) as [BlobKind, Set<string>][]) {
    const there = new Set<string>();
    for await (const name of blobs.list(kind, Number.POSITIVE_INFINITY)) there.add(name);
    addTo(
      missing,
      [...needed].filter((name) => !there.has(name)),
    );
  }
  return missing;
}

/** The names of the files that the database refers to. */
function neededFiles(folder: DataFolder, now: number): Partial<Record<BlobKind, Set<string>>> {
  const client = openAsIs(folder.database);
  try {
    return {
      source: new Set([...neededSources(client), ...uploadedSources(client, now)]),
      picture: new Set([...picturesOf(client, now)].map(({ name }) => name)),
    };
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
