import type { Blobs } from "../blobs/blobs.ts";
import { Refusal } from "../core/errors.ts";
import { sha256 } from "../core/sha256.ts";

export interface StoredSource {
  /** Lower-case hex. */
  sha256: string;
}

/** Notified of what happens to the bytes, so that nobody removes them in between. */
export interface SourceWatcher {
  /** Before they are written or found to exist. Resolves when that is safe. */
  add(sha256: string): Promise<void>;
  /** They did not exist before. */
  wrote(sha256: string): void;
}

const STORAGE_RETRY_AFTER_SECONDS = 60;

/**
 * Stores bytes under their hash. Existing bytes only have their age refreshed. Throws Refusal
 * SERVICE_OVERLOADED when the disk is full or not writable.
 */
export async function storeSource(
  blobs: Blobs,
  bytes: Uint8Array,
  watcher?: SourceWatcher,
): Promise<StoredSource> {
  const hash = sha256(bytes);
  await watcher?.add(hash);
  try {
    if (!(await blobs.refresh("source", hash, bytes.length))) {
      watcher?.wrote(hash);
      await blobs.put("source", hash, bytes);
    }
  } catch (cause) {
    throw new Refusal(
      "SERVICE_OVERLOADED",
      "The service cannot store the picture at the moment. Nothing was charged; send the same request again in a minute.",
      { retryAfterSeconds: STORAGE_RETRY_AFTER_SECONDS, cause },
    );
  }
  return { sha256: hash };
}
