import { readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS } from "../core/time.ts";
import { type FileLock, lockFile, shareFile } from "./file-lock.ts";

// Folders of what the program carries inside itself, one for each version: used by several processes at once,
// and left behind by an update. Each has an age, which is when it was last used, and a lock that its users
// share.

/**
 * In an unpacked folder, written last: the size in bytes of every unpacked file, by its path in the folder.
 */
export const CONTENTS = "cardpress-contents.json";
/** In an unpacked folder, locked by the processes that use it. */
const IN_USE = "in-use.lock";
/** An update can be taken back for this long without unpacking again. */
const UNUSED_MS = 7 * DAY_MS;
/** The suffix of folders being unpacked or removed, or left by a process that was killed meanwhile. */
export const UNFINISHED_SUFFIX = ".tmp";

/** What this process uses, by path. Its locks end with the process. */
const used = new Map<string, FileLock>();

/**
 * Marks an unpacked folder as used by this process until it ends. False when another process is removing it.
 */
export async function useUnpacked(home: string): Promise<boolean> {
  try {
    const lock = shareFile(join(home, IN_USE));
    if (!lock) return false;
    // The folder may have been unpacked anew since the last time.
    used.get(home)?.release();
    used.set(home, lock);
    await touch(home);
  } catch {
    // The folder is read-only, so nobody removes it either.
  }
  return true;
}

async function touch(home: string): Promise<void> {
  const now = new Date();
  await utimes(join(home, CONTENTS), now, now);
}

export interface Unpacked {
  /** Kind and version. */
  name: string;
  path: string;
  bytes: number;
  /** Epoch milliseconds. */
  usedAt: number;
}

/** Every unpacked folder, of this version and others. */
export async function unpackedIn(cacheDir: string): Promise<Unpacked[]> {
  const found: Unpacked[] = [];
  for (const name of await readdir(cacheDir)) {
    const path = join(cacheDir, name);
    const info = name.endsWith(UNFINISHED_SUFFIX) ? null : await stat(join(path, CONTENTS)).catch(() => null);
    if (info) found.push({ name, path, bytes: await bytesOf(path), usedAt: info.mtimeMs });
  }
  return found;
}

/** By the list of its files. */
async function bytesOf(home: string): Promise<number> {
  const files: Record<string, number> = await Bun.file(join(home, CONTENTS))
    .json()
    .catch(() => ({}));
  return Object.values(files).reduce((sum, bytes) => sum + bytes, 0);
}

/**
 * Removes what no process uses and none has used for a week, and keeps the age of what this one uses. Returns
 * the removed names. Only while nobody unpacks.
 */
export async function removeUnused(cacheDir: string): Promise<string[]> {
  const removed: string[] = [];
  for (const { name, path, usedAt } of await unpackedIn(cacheDir)) {
    if (used.has(path)) await touch(path);
    else if (usedAt <= Date.now() - UNUSED_MS && (await removeUnlessUsed(path))) removed.push(name);
  }
  return removed;
}

async function removeUnlessUsed(path: string): Promise<boolean> {
  const lock = lockFile(join(path, IN_USE));
  if (!lock) return false;
  const removing = `${path}.old${UNFINISHED_SUFFIX}`;
  try {
    await rename(path, removing);
  } finally {
    lock.release();
  }
  await rm(removing, { recursive: true, force: true });
  return true;
}
