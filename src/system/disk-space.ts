import { statfs } from "node:fs/promises";

/** How many bytes this user can still write to a folder's disk. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

/** Formats as "1.2 GB". */
export function inUnits(bytes: number): string {
  const units = ["bytes", "KB", "MB", "GB", "TB"];
  const step = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 1)} ${units[step]}`;
}
