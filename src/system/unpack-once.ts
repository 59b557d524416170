import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freeBytes, inUnits } from "./disk-space.ts";
import { lockFile } from "./file-lock.ts";
import { CONTENTS, removeUnused, UNFINISHED_SUFFIX, useUnpacked } from "./unpacked.ts";
import { sync, writeWhole } from "./write-whole.ts";

/** Poll interval while another process unpacks, which takes a few seconds. */
const UNPACKING_POLL_MS = 100;
/** The lock of the process that unpacks or removes. */
const UNPACKING = "unpacking.lock";

/**
 * Files that the program carries inside itself and needs on disk: a folder of `kind` and `version` that
 * `unpack` fills.
 */
export interface Unpackable {
  kind: string;
  version: string;
  /** What it takes on the disk, rounded up. */
  bytes: number;
  unpack(folder: string): Promise<void>;
}

/**
 * The folder in `cacheDir`, filled unless it already exists and is complete: once per version, even when
 * several processes start at once or one is killed while unpacking. It stays there at least until this
 * process ends. Clears away what killed processes left and other versions that nobody uses.
 */
export async function unpackOnce(cacheDir: string, wanted: Unpackable): Promise<string> {
  const home = join(cacheDir, `${wanted.kind}-${wanted.version}`);
  while (!((await isWhole(home)) && (await useUnpacked(home)) && (await isWhole(home)))) {
    const lock = lockFile(join(cacheDir, UNPACKING));
    if (!lock) await sleep(UNPACKING_POLL_MS);
    else
      try {
        await removeUnfinished(cacheDir);
        if (!(await isWhole(home))) await unpackInto(home, wanted);
      } finally {
        lock.release();
      }
  }
  // Not essential: the disk may be full, or the folder read-only.
  await tidyUnpacked(cacheDir).catch(() => {});
  return home;
}

/**
 * Clears away what killed processes left half unpacked, and versions that no process uses and none has used
 * for a week. Does nothing while somebody unpacks. Returns the names of the versions removed.
 */
export async function tidyUnpacked(cacheDir: string): Promise<string[]> {
  const lock = lockFile(join(cacheDir, UNPACKING));
  if (!lock) return [];
  try {
    await removeUnfinished(cacheDir);
    return await removeUnused(cacheDir);
  } finally {
    lock.release();
  }
}

/** Only for the lock holder: otherwise somebody may be working on them. */
async function removeUnfinished(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir))
    if (name.endsWith(UNFINISHED_SUFFIX)) await rm(join(cacheDir, name), { recursive: true, force: true });
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
  await refuseWithoutRoom(dirname(home), wanted);
  try {
    await mkdir(staging, { recursive: true });
    await wanted.unpack(staging);
    await seal(staging);
    // A mismatched folder may still be in use by a running process, so it is removed only once its successor
    // exists.
    if (existsSync(home)) await rename(home, `${home}.old.tmp`);
    await rename(staging, home);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
  await sync(dirname(home));
  await rm(`${home}.old.tmp`, { recursive: true, force: true });
}

/** Before it is begun: half way through, not every library that unpacks says what is wrong. */
async function refuseWithoutRoom(cacheDir: string, { kind, bytes }: Unpackable): Promise<void> {
  const free = await freeBytes(cacheDir);
  if (free >= bytes) return;
  throw Object.assign(
    new Error(
      `${kind} needs ${inUnits(bytes)} in ${cacheDir}, where ${inUnits(free)} are free: make room there`,
    ),
    { code: "ENOSPC" },
  );
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
