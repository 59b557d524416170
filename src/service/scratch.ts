import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FOLDER_MODE } from "../system/data-folder.ts";

/** Empties a folder by removing and recreating it. */
export async function emptyFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { mode: FOLDER_MODE });
}

/**
 * Removes a folder's files last written at or before `until` (epoch ms): the process that wrote them is
 * gone.
 */
export async function removeOldFiles(folder: string, until: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile() && info.mtimeMs <= until) await rm(path, { force: true });
  }
}
