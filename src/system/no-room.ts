import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { freeBytes, inUnits } from "./disk-space.ts";

/**
 * What a first start writes: 213 MB of browser, 45 MB of the networks' runtime from the single file, and the
 * database.
 */
const FIRST_START_BYTES = 270 * 1024 * 1024;
/** With less, SQLite cannot make the small files beside a database, and only says "disk I/O error". */
const HARDLY_ANY_BYTES = 1024 * 1024;

/**
 * Does `work` on a data folder; what fails for lack of room is thrown as an OperatorError that names folder
 * and sizes.
 */
export async function explainingNoRoom<T>(
  root: string,
  work: () => T | Promise<T>,
  free: (folder: string) => Promise<number> = freeBytes,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const bytes = await free(existingFolder(root)).catch(() => undefined);
    if (!isNoRoom(error, bytes)) throw error;
    const left = bytes === undefined ? "" : `: ${inUnits(bytes)} are free`;
    throw new OperatorError(
      `There is no room left on the disk of the data folder ${root}${left}, and a first start needs ${inUnits(FIRST_START_BYTES)}, most of it for the browser. Make room there, or set CARDPRESS_DATA_DIR to a folder on a larger disk. Nothing that was stored before is lost.`,
      1,
      { cause: error },
    );
  }
}

/** Whether it, or what it came of, means a full disk. */
function isNoRoom(error: unknown, free: number | undefined): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error ? String(error.code) : "";
  const isFull = ["ENOSPC", "EDQUOT", "SQLITE_FULL"].includes(code);
  const isVague = code.startsWith("SQLITE_IOERR") || code === "SQLITE_CANTOPEN";
  return isFull || (isVague && free !== undefined && free < HARDLY_ANY_BYTES) || isNoRoom(error.cause, free);
}

/** The folder itself may be what could not be made. */
function existingFolder(path: string): string {
  let folder = resolve(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}
