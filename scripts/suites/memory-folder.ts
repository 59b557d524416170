import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

const GIB = 2 ** 30;
/**
 * A browser, a built program and some hundred databases of 10 MB on PostgreSQL, which stay until the end, are
 * about half of this.
 */
const NEEDED_BYTES = 8 * GIB;
const IN_MEMORY = "/dev/shm";

/**
 * A temporary folder in memory: there no commit of a test waits for a disk, and a database is copied in a
 * tenth of the time.
 */
export interface MemoryFolder {
  /** Undefined where there is too little memory, or no program may be run from it: the disk is used then. */
  path: string | undefined;
  remove(): void;
}

export function memoryFolder(): MemoryFolder {
  if (!isUsable()) return { path: undefined, remove: () => {} };
  const path = mkdtempSync(join(IN_MEMORY, "cardpress-tests-"));
  // Programs that tests start as another user look in as well, as in the usual folder.
  chmodSync(path, 0o1777);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function isUsable(): boolean {
  try {
    const mounted = readFileSync("/proc/self/mounts", "utf8").split("\n");
    const options = mounted.find((line) => line.split(" ")[1] === IN_MEMORY)?.split(" ")[3] ?? "noexec";
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return !options.split(",").includes("noexec") && Math.min(bavail * bsize, freemem()) > NEEDED_BYTES;
  } catch {
    return false;
  }
}
