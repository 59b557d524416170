import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { DataFolder } from "../../../system/data-folder.ts";

/** The growing folders of a data folder, and the rest. */
export const DISK_KINDS = [
  "pictures",
  "photos",
  "cutouts",
  "placeholders",
  "templates",
  "database",
  "log",
  "copies",
  "browser",
  "profiles",
  "scratch",
] as const;
export type DiskKind = (typeof DISK_KINDS)[number];

export interface DiskUse {
  /** Epoch milliseconds. */
  measuredAt: number;
  kinds: Record<DiskKind, { bytes: number; files: number }>;
}

/** Measures only now and then, because a million files take a minute. */
export interface DiskGauge {
  /** The last result; undefined until the first measurement has finished. */
  last(): DiskUse | undefined;
  /** Starts a measurement, or joins the current one. */
  measure(): Promise<DiskUse>;
}

export function diskGauge(folder: DataFolder, now: () => number): DiskGauge {
  let last: DiskUse | undefined;
  let inFlight: Promise<DiskUse> | undefined;
  const measure = async (): Promise<DiskUse> => {
    const kinds = {} as DiskUse["kinds"];
    for (const kind of DISK_KINDS) kinds[kind] = await usedBy(placesOf(folder)[kind]);
    last = { measuredAt: now(), kinds };
    return last;
  };
  return {
    last: () => last,
    measure: () => {
      inFlight ??= measure().finally(() => {
        inFlight = undefined;
      });
      return inFlight;
    },
  };
}

function placesOf(folder: DataFolder): Record<DiskKind, string[]> {
  const { database } = folder;
  return {
    pictures: [folder.images],
    photos: [folder.sources],
    cutouts: [folder.cutouts],
    placeholders: [folder.placeholders],
    templates: [folder.templateFiles],
    database: [database],
    log: [`${database}-wal`, `${database}-shm`],
    copies: [folder.backups],
    browser: [folder.cache],
    profiles: [folder.profiles],
    scratch: [folder.scratch],
  };
}

async function usedBy(places: string[]): Promise<{ bytes: number; files: number }> {
  const use = { bytes: 0, files: 0 };
  for (const place of places) await addUp(place, use);
  return use;
}

/** The unit of stat's block count, on every system. */
const BLOCK_BYTES = 512;

/** A file's disk usage; one with several names, such as a shared placeholder, counts by its share. */
async function addUp(path: string, use: { bytes: number; files: number }): Promise<void> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile()) {
    use.bytes += (info.blocks * BLOCK_BYTES) / info.nlink;
    use.files += 1;
  }
  if (!info?.isDirectory()) return;
  const names = await readdir(path).catch(() => []);
  // Sequentially: the thread pool that stats files also serves requests.
  for (const name of names) await addUp(join(path, name), use);
}
