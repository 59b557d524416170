import { StorageUnavailable } from "../core/storage-unavailable.ts";
import { BLOB_KINDS, type Blobs } from "./blobs.ts";
import type { Bucket } from "./bucket.ts";

// A service removes files from its bucket that it does not know, so each bucket has one owner: a data
// folder, or the servers on one PostgreSQL.

const OWNER_KEY = "owner";

/** The owner of a bucket that servers on PostgreSQL use. */
export const SHARED_OWNER = "postgresql";

export interface BucketOwner {
  id: string;
  /** ISO 8601 in UTC. */
  since: string;
}

/** Undefined when nobody has claimed the bucket. Rejects with StorageUnavailable when it cannot be used. */
export async function bucketOwner(bucket: Bucket): Promise<BucketOwner | undefined> {
  const bytes = await bucket.read(OWNER_KEY);
  if (!bytes) return undefined;
  try {
    const { id, since } = JSON.parse(new TextDecoder().decode(bytes));
    return { id: String(id), since: String(since) };
  } catch {
    // Somebody else's object of that name: never ours.
    return { id: "", since: "" };
  }
}

export function claimBucket(bucket: Bucket, owner: BucketOwner): Promise<void> {
  return bucket.put(OWNER_KEY, new TextEncoder().encode(JSON.stringify(owner)));
}

/** Removes what says whose the bucket is. */
export function leaveBucket(bucket: Bucket): Promise<void> {
  return bucket.remove(OWNER_KEY);
}

/** Whether somebody keeps photos, pictures or templates in the bucket. */
export async function holdsBlobs(bucket: Bucket): Promise<boolean> {
  for (const kind of BLOB_KINDS) for await (const _ of bucket.list(`${kind}/`)) return true;
  return false;
}

/**
 * Blobs of a bucket that stop being listed, and thereby being swept, once somebody else has taken the bucket
 * over: the one before must not remove what it does not know.
 */
export function whileOwned(blobs: Blobs, bucket: Bucket, id: string): Blobs {
  const isOurs = async () => (await bucketOwner(bucket))?.id === id;
  return {
    ...blobs,
    list: async function* (kind, until) {
      if (kind !== "cutout" && !(await isOurs()))
        throw new StorageUnavailable(new Error("the bucket belongs to somebody else now"), "list it");
      yield* blobs.list(kind, until);
    },
    isWritable: async () => (await blobs.isWritable()) && (await isOurs().catch(() => false)),
  };
}
