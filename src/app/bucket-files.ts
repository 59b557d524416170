import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { Blobs } from "../blobs/blobs.ts";
import type { Bucket, BucketSettings } from "../blobs/bucket.ts";
import {
  type BucketOwner,
  bucketOwner,
  claimBucket,
  holdsBlobs,
  SHARED_OWNER,
  whileOwned,
} from "../blobs/bucket-owner.ts";
import { folderBlobs } from "../blobs/folder-blobs.ts";
import { OperatorError } from "../core/errors.ts";
import { isoTime } from "../core/time.ts";
import { type BucketNote, createBucketNote, readBucketNote, writeBucketNote } from "../system/bucket-note.ts";
import { type DataFolder, holdsOwnFiles } from "../system/data-folder.ts";

// One machine's rows are in its data folder, and its photos and pictures there too or in a bucket. Which of
// both is noted in the folder: files that are looked for in the wrong place are lost pictures.

const TAKE = 'run "cardpress migrate --take-bucket"';

/** Opens the files of a data folder. Throws an OperatorError where they are not where the settings say. */
export async function openFolderFiles(
  folder: DataFolder,
  settings: BucketSettings | undefined,
): Promise<Blobs> {
  const note = readBucketNote(folder.bucketNote);
  if (!settings) {
    refuseElsewhere(folder, note);
    return folderBlobs(folder);
  }
  refuseUnfilled(folder, note);
  const bucket = await openUsableBucket(settings);
  const id = note
    ? await confirmOwn(bucket, folder, settings, note)
    : await claimNew(bucket, folder, settings);
  return whileOwned(await blobsIn(bucket, folder), bucket, id);
}

/** The blobs of a bucket, with local copies in the folder's cache. */
export async function blobsIn(bucket: Bucket, folder: DataFolder): Promise<Blobs> {
  const { bucketBlobs } = await import("../blobs/bucket-blobs.ts");
  return bucketBlobs(bucket, { cache: join(folder.cache, "blobs"), cutouts: folderBlobs(folder) });
}

/** Throws an OperatorError, with the remedy, for a bucket that cannot be reached or used. */
export async function openUsableBucket(settings: BucketSettings): Promise<Bucket> {
  // Loaded here and not before: a service with its files in a folder does without it.
  const { openBucket } = await import("../blobs/bucket.ts");
  const bucket = await openBucket(settings);
  try {
    await bucket.check();
  } catch (error) {
    throw new OperatorError(
      `The bucket CARDPRESS_S3_BUCKET (${settings.bucket}) cannot be used: ${(error as Error).message}. Look whether ${settings.endpoint} can be reached from here, whether the bucket is there, and whether the key may read, write, list and remove in it.`,
    );
  }
  return bucket;
}

function refuseElsewhere({ root }: DataFolder, note: BucketNote | undefined): void {
  if (!note || note.state === "filling") return;
  throw new OperatorError(
    `The photos and pictures of ${root} are in the bucket ${note.bucket} at ${note.endpoint}, but CARDPRESS_S3_BUCKET is not set. Set CARDPRESS_S3_ENDPOINT, _REGION, _BUCKET, _ACCESS_KEY_ID and _SECRET_ACCESS_KEY, and to come back to the folder run "cardpress migrate --files folder" with them.`,
  );
}

function refuseUnfilled(folder: DataFolder, note: BucketNote | undefined): void {
  const { root } = folder;
  if (note?.state === "restored")
    throw new OperatorError(
      `${root} is a copy of a data folder whose photos and pictures are in the bucket ${note.bucket} at ${note.endpoint}. Two services on one bucket remove each other's pictures: once the one before is stopped for good, ${TAKE}. Only to try the copy, let your storage copy the bucket, and name that one first.`,
    );
  if (note?.state === "filling" || (!note && holdsOwnFiles(folder)))
    throw new OperatorError(
      `CARDPRESS_S3_BUCKET is set, but ${root} holds photos or pictures. Stop the service and copy them by "cardpress migrate --files bucket"; or unset CARDPRESS_S3_... to go on with the folder.`,
    );
}

/** The first start with a bucket. */
async function claimNew(bucket: Bucket, folder: DataFolder, settings: BucketSettings): Promise<string> {
  await refuseUsedBucket(bucket, settings);
  const { id } = createBucketNote(folder.bucketNote, newNote(settings, "filled"));
  await claimBucket(bucket, ownerOf(id));
  return id;
}

/** The bucket of a note, which may have moved to another address together with all that is in it. */
async function confirmOwn(
  bucket: Bucket,
  folder: DataFolder,
  settings: BucketSettings,
  note: BucketNote,
): Promise<string> {
  const owner = await bucketOwner(bucket);
  const isNamed = isSameBucket(note, settings);
  if (owner && owner.id !== note.id) throw othersBucket(settings, owner);
  if (!owner && !isNamed)
    throw new OperatorError(
      `The photos and pictures of ${folder.root} are in the bucket ${note.bucket} at ${note.endpoint}, not in ${settings.bucket} at ${settings.endpoint}. Name that bucket, or copy all of its objects into the new one first, "owner" too. If they are lost, ${TAKE} with the new one.`,
    );
  // Killed between both at the first start, or somebody emptied it.
  if (!owner) await claimBucket(bucket, ownerOf(note.id));
  if (!isNamed) await writeBucketNote(folder.bucketNote, { ...note, ...placeOf(settings) });
  return note.id;
}

/** Throws an OperatorError for a bucket in which somebody keeps files already. */
export async function refuseUsedBucket(bucket: Bucket, settings: BucketSettings): Promise<void> {
  const owner = await bucketOwner(bucket);
  if (owner) throw othersBucket(settings, owner);
  if (!(await holdsBlobs(bucket))) return;
  throw new OperatorError(
    `The bucket ${settings.bucket} holds photos or pictures of other servers, which this one would remove. Name an empty bucket.`,
  );
}

/** Throws an OperatorError for servers on PostgreSQL where a data folder uses the bucket, except `id`'s. */
export async function refuseFolderBucket(
  bucket: Bucket,
  settings: BucketSettings,
  id: string | undefined,
): Promise<void> {
  const owner = await bucketOwner(bucket);
  if (!owner || owner.id === SHARED_OWNER || owner.id === id) return;
  throw new OperatorError(
    `The bucket ${settings.bucket} belongs to a data folder since ${owner.since}. Move its rows by "cardpress migrate --to" with CARDPRESS_DATA_DIR set to it, or name another bucket. If they are in this database already, remove the object "owner" from the bucket.`,
  );
}

export function othersBucket({ bucket }: BucketSettings, { id, since }: BucketOwner): OperatorError {
  const whose =
    id === SHARED_OWNER ? "servers on PostgreSQL" : id === "" ? "another program" : "another data folder";
  const remedy =
    whose === "another data folder"
      ? `. If that one's service is stopped for good and this folder takes its place, ${TAKE}`
      : "";
  return new OperatorError(
    `The bucket ${bucket} belongs to ${whose}${since && ` since ${since}`}. Two on one bucket remove each other's pictures: name an empty one${remedy}.`,
  );
}

export function ownerOf(id: string): BucketOwner {
  return { id, since: isoTime(Date.now()) };
}

export function newNote(settings: BucketSettings, state: BucketNote["state"]): BucketNote {
  return { id: randomUUID(), ...placeOf(settings), state };
}

/** Whether the settings name the bucket of a note. */
export function isSameBucket(note: BucketNote, { endpoint, bucket }: BucketSettings): boolean {
  return note.bucket === bucket && note.endpoint === endpoint;
}

const placeOf = ({ endpoint, bucket }: BucketSettings) => ({ endpoint, bucket });
