import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AppError } from "../core/errors.ts";

export interface StoredSource {
  /** Lower-case hex. */
  sha256: string;
  /** As absolute as `sourcesDir`: `<sourcesDir>/<first two hex digits>/<sha256>`. */
  path: string;
}

const STORAGE_RETRY_AFTER_SECONDS = 60;

/**
 * Keeps bytes under their hash so that a power cut after the promise leaves the whole file: written beside its
 * place, synced, renamed. Bytes that are there already only become young again. Throws AppError SERVICE_OVERLOADED
 * when the disk is full or cannot be written, and leaves no half file.
 */
export async function storeSource(sourcesDir: string, bytes: Uint8Array): Promise<StoredSource> {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const path = join(sourcesDir, sha256.slice(0, 2), sha256);
  try {
    if (!(await refresh(path, bytes.length))) await writeWhole(path, bytes);
  } catch (cause) {
    throw new AppError(
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

async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  const folder = dirname(path);
  const created = await mkdir(folder, { recursive: true });
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    const file = await open(temporary, "wx");
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  // A new name outlives a power cut only when its folder is synced too.
  await syncFolder(folder);
  if (created !== undefined) await syncFolder(dirname(created));
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
