import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/**
 * What grows temporarily as cards are made, and should not stay: profiles, unfinished files, the write-ahead
 * log.
 */
const TRANSIENT = ["profiles", "scratch", "cardpress.db-wal", "cardpress.db-shm"];

/** The size of a data folder's temporary parts, in megabytes. */
export async function diskMb(data: string): Promise<number> {
  const sizes = await Promise.all(TRANSIENT.map((name) => bytesOf(join(data, name))));
  return Math.round(sizes.reduce((all, bytes) => all + bytes, 0) / 2 ** 20);
}

async function bytesOf(path: string): Promise<number> {
  const info = await stat(path).catch(() => undefined);
  if (!info?.isDirectory()) return info?.size ?? 0;
  const names = await readdir(path).catch(() => []);
  const sizes = await Promise.all(names.map((name) => bytesOf(join(path, name))));
  return sizes.reduce((all, bytes) => all + bytes, 0);
}
