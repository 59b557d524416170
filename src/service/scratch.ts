import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FOLDER_MODE } from "../system/data-folder.ts";

/** Removes a folder with all that is in it, and makes it anew. */
export async function emptyFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { mode: FOLDER_MODE });
}

/** Removes the files of a folder that were written last at `until` (epoch ms) or before: whoever made them is gone. */
export async function removeOldFiles(folder: string, until: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const info = await stat(path).catch(() => undefined);
    if (info?.isFile() && info.mtimeMs <= until) await rm(path, { force: true });
  }
}
