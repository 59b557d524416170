import { OperatorError } from "../core/errors.ts";
import type { DataFolder } from "../system/data-folder.ts";
import { type FileLock, lockFile } from "../system/file-lock.ts";

/** Allows one server per folder. Throws an OperatorError when another holds it, or the folder is not writable. */
export function lockFolder(folder: DataFolder): FileLock {
  let lock: FileLock | null;
  try {
    lock = lockFile(folder.serverLock);
  } catch (cause) {
    throw new OperatorError(
      `The data folder ${folder.root} cannot be written: ${(cause as Error).message}. Check its permissions, free space, and that its disk is not mounted read-only.`,
    );
  }
  if (lock) return lock;
  throw new OperatorError(
    `Another cardpress server uses ${folder.root}. Stop it first, or set CARDPRESS_DATA_DIR to another folder.`,
  );
}
