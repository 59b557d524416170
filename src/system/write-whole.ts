import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

/** The disk takes no writes: it is full, over its quota or file limit, or mounted read-only. */
const FULL_DISK_CODES: readonly unknown[] = ["ENOSPC", "EDQUOT", "EFBIG", "EROFS"];

/** Whether a write failed because the disk takes none, which retrying would not change. */
export function isFullDisk(error: unknown): boolean {
  return error instanceof Error && "code" in error && FULL_DISK_CODES.includes(error.code);
}

/** Whether the operating system refused a file operation; the error's message says why. */
export function isFileError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error && "syscall" in error;
}

/** Name pattern of files being written, or left by a process that ended while writing. */
export const STAGING_SUFFIX = ".tmp";

/** Writes a file atomically and durably: it exists whole or not at all, even after a power cut. */
export async function writeWhole(path: string, content: Uint8Array | string): Promise<void> {
  const folder = dirname(path);
  const created = await mkdir(folder, { recursive: true });
  const staging = `${path}.${randomUUID()}${STAGING_SUFFIX}`;
  try {
    const file = await open(staging, "w");
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(staging, path);
  } catch (error) {
    await rm(staging, { force: true });
    throw error;
  }
  // A new name survives a power cut only once its folder is synced too.
  await sync(folder);
  if (created !== undefined) await sync(dirname(created));
}

/** Removes a file, and what processes that were killed while writing it have left. */
export async function removeWhole(path: string): Promise<void> {
  const folder = dirname(path);
  const staged = (name: string) => name.startsWith(`${basename(path)}.`) && name.endsWith(STAGING_SUFFIX);
  const left = (await readdir(folder)).filter(staged).map((name) => join(folder, name));
  for (const file of [path, ...left]) await rm(file, { force: true });
}

/** Moves a file atomically and durably; copies it when the target is on another disk. */
export async function moveWhole(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  const created = await mkdir(folder, { recursive: true });
  await sync(from);
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EXDEV") throw error;
    await writeWhole(to, await readFile(from));
    await rm(from, { force: true });
    return;
  }
  await sync(folder);
  if (created !== undefined) await sync(dirname(created));
}

/**
 * Gives a complete file a second, durable name that outlives the removal of the first; copies it when the
 * file system has no hard links. "absent" when the file does not exist or has reached its link limit.
 */
export async function linkWhole(from: string, to: string): Promise<"linked" | "copied" | "absent"> {
  const folder = dirname(to);
  const created = await mkdir(folder, { recursive: true });
  try {
    // Both names are one file with one age: what looks for old files must not take the new name for old.
    const now = new Date();
    await utimes(from, now, now);
    await link(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "EMLINK") return "absent";
    if (!NO_LINK_CODES.has(code)) throw error;
    await writeWhole(to, await readFile(from));
    return "copied";
  }
  await sync(folder);
  if (created !== undefined) await sync(dirname(created));
  return "linked";
}

/** Another disk, or a file system without hard links. */
export const NO_LINK_CODES: ReadonlySet<unknown> = new Set<unknown>([
  "EXDEV",
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
]);

/** Flushes a file or folder to disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
