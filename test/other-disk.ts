import { existsSync, statSync } from "node:fs";

/** A folder on another disk than this one's, for files that cannot be moved but have to be copied. */
export function otherDisk(folder: string): string | undefined {
  const { dev } = statSync(folder);
  return ["/dev/shm", "/var/tmp"].find((path) => existsSync(path) && statSync(path).dev !== dev);
}
