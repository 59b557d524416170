import { createHash } from "node:crypto";
import { stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { Refusal } from "../core/errors.ts";
import { writeWhole } from "../write-whole.ts";

export interface StoredSource {
  /** Lower-case hex. */
  sha256: string;
  /** As absolute as `sourcesDir`: `<sourcesDir>/<first two hex digits>/<sha256>`. */
  path: string;
}

/** Told what happens to the bytes, so that nobody removes them in between. */
export interface SourceWatcher {
  /** Before they are written, or found to be there already. */
  add(sha256: string): void;
  /** They were not there before. */
  wrote(sha256: string): void;
}

const STORAGE_RETRY_AFTER_SECONDS = 60;

/**
 * Keeps bytes under their hash so that a power cut after the promise leaves the whole file: written beside its
 * place, synced, renamed. Bytes that are there already only become young again. Throws Refusal SERVICE_OVERLOADED
 * when the disk is full or cannot be written, and leaves no half file.
 */
export async function storeSource(
  sourcesDir: string,
  bytes: Uint8Array,
  watcher?: SourceWatcher,
): Promise<StoredSource> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const path = join(sourcesDir, sha256.slice(0, 2), sha256);
  watcher?.add(sha256);
  try {
    if (!(await refresh(path, bytes.length))) {
      watcher?.wrote(sha256);
      await writeWhole(path, bytes);
    }
  } catch (cause) {
    throw new Refusal(
      "SERVICE_OVERLOADED",
      "The service cannot store the picture at the moment. Nothing was charged; send the same request again in a minute.",
      { retryAfterSeconds: STORAGE_RETRY_AFTER_SECONDS, cause },
    );
  }
  return { sha256, path };
}

/** Sets the file's time to now so that the sweep, which goes by age, keeps it. False when it is not there whole. */
async function refresh(path: string, bytes: number): Promise<boolean> {
  try {
    if ((await stat(path)).size !== bytes) return false;
    const now = new Date();
    await utimes(path, now, now);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return false;
    throw error;
  }
}
