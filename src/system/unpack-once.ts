import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { lockFile } from "./file-lock.ts";
import { sync, writeWhole } from "./write-whole.ts";

/** Written last: the size in bytes of every unpacked file, by its path in the folder. */
const CONTENTS = "cardpress-contents.json";
/** Poll interval while another process unpacks, which takes a few seconds. */
const UNPACKING_POLL_MS = 100;

/**
 * Files that the program carries inside itself and needs on disk: a folder of `kind` and `version` that `unpack`
 * fills.
 */
export interface Unpackable {
  kind: string;
  version: string;
  unpack(folder: string): Promise<void>;
}

/**
 * The folder in `cacheDir`, filled unless it already exists and is complete: once per version, even when several
 * processes start at once or one is killed while unpacking. Clears away what killed processes left.
 */
export async function unpackOnce(cacheDir: string, wanted: Unpackable): Promise<string> {
  const home = join(cacheDir, `${wanted.kind}-${wanted.version}`);
  const lockPath = join(cacheDir, "unpacking.lock");
  while (!(await isWhole(home))) {
    const lock = lockFile(lockPath);
    if (!lock) await sleep(UNPACKING_POLL_MS);
    else
      try {
        await removeUnfinished(cacheDir, wanted);
        if (!(await isWhole(home))) await unpackInto(home, wanted);
      } finally {
        lock.release();
      }
  }
  // Not essential: the disk may be full, or the folder read-only.
  await clearAway(cacheDir, lockPath, wanted).catch(() => {});
  return home;
}

async function unfinished(cacheDir: string, { kind }: Unpackable): Promise<string[]> {
  const names = await readdir(cacheDir);
  return names
    .filter((name) => name.startsWith(`${kind}-`) && name.endsWith(".tmp"))
    .map((name) => join(cacheDir, name));
}

/** Only for the lock holder: otherwise somebody may be working on them. */
async function removeUnfinished(cacheDir: string, wanted: Unpackable): Promise<void> {
  for (const path of await unfinished(cacheDir, wanted)) await rm(path, { recursive: true, force: true });
}

async function clearAway(cacheDir: string, lockPath: string, wanted: Unpackable): Promise<void> {
  if ((await unfinished(cacheDir, wanted)).length === 0) return;
  const lock = lockFile(lockPath);
  if (!lock) return;
  try {
    await removeUnfinished(cacheDir, wanted);
  } finally {
    lock.release();
  }
}

/** Whether every unpacked file still exists with its size. */
async function isWhole(home: string): Promise<boolean> {
  try {
    const contents: Record<string, number> = JSON.parse(await readFile(join(home, CONTENTS), "utf8"));
    const files = Object.entries(contents);
    const sizes = await Promise.all(files.map(async ([path]) => (await stat(join(home, path))).size));
    return files.every(([, size], n) => size === sizes[n]);
  } catch {
    return false;
  }
}

/** Unpacks into a temporary folder and renames it, so that an interrupted unpacking never looks complete. */
async function unpackInto(home: string, wanted: Unpackable): Promise<void> {
  const staging = `${home}.new.tmp`;
  try {
    await mkdir(staging, { recursive: true });
    await wanted.unpack(staging);
    await seal(staging);
    // A mismatched folder may still be in use by a running process, so it is removed only once its successor exists.
    if (existsSync(home)) await rename(home, `${home}.old.tmp`);
    await rename(staging, home);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  await sync(dirname(home));
  await rm(`${home}.old.tmp`, { recursive: true, force: true });
}

/** Flushes the whole folder to disk and records its contents. */
async function seal(folder: string): Promise<void> {
  const contents: Record<string, number> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) contents[relative(folder, path)] = (await stat(path)).size;
    // Otherwise the new name could survive a power cut while the files do not.
    if (!entry.isSymbolicLink()) await sync(path);
  }
  await writeWhole(join(folder, CONTENTS), JSON.stringify(contents));
}
