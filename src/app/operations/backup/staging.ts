import { access, chmod, constants, lstat, mkdir, readdir, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OperatorError } from "../../../core/errors.ts";
import { syncDisks } from "../../../system/sync-disks.ts";
import { sync } from "../../../system/write-whole.ts";
import { DATABASE } from "./backup-manifest.ts";

// A data folder that is filled from elsewhere is filled in a temporary place, and put into its own once it is
// checked.

/** Found on every new disk. */
const NOT_OURS = new Set(["lost+found"]);

/**
 * Throws an OperatorError where a data folder holds anything but `except`. `remedy`: how to name another one.
 */
export async function refuseFull(dataDir: string, remedy: string, except?: string): Promise<void> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new OperatorError(`${dataDir} cannot be filled: ${error.message}.`);
  });
  const found = names.find((name) => !NOT_OURS.has(name) && name !== except);
  if (found !== undefined)
    throw new OperatorError(
      `${dataDir} is not empty (it has ${found}), and nothing is overwritten. Stop the service and move the folder away, or ${remedy}.`,
    );
}

/**
 * What the path of the temporary folder begins with: beside the data folder, so that it can replace it in one
 * step; inside it where that is impossible, because the data folder is a volume of its own, a link, or its
 * parent is not writable.
 */
export async function stagingPrefix(dataDir: string): Promise<string> {
  const parent = dirname(dataDir);
  await mkdir(parent, { recursive: true, mode: 0o750 });
  const own = await lstat(dataDir).catch(() => undefined);
  const beside = await stat(parent);
  const writable = await access(parent, constants.W_OK).then(
    () => true,
    () => false,
  );
  const replaceable = own === undefined || (own.isDirectory() && own.dev === beside.dev);
  return writable && replaceable ? `${dataDir}.` : join(dataDir, "/");
}

/** Moves the verified files into place, the database last, since a folder without one is not in use. */
export async function publish(staging: string, dataDir: string): Promise<void> {
  await chmod(staging, 0o750);
  // One sync for all: syncing a million files one by one would take hours on a slow disk.
  syncDisks();
  if (dirname(staging) === dirname(dataDir)) {
    await rename(staging, dataDir);
    await sync(dirname(dataDir));
    return;
  }
  const names = (await readdir(staging)).filter((name) => name !== DATABASE);
  for (const name of [...names, DATABASE]) await rename(join(staging, name), join(dataDir, name));
  await sync(dataDir);
}
