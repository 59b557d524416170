import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

// The copies of the database from before each upgrade: before-migration-<first migration>-<UTC time>.sqlite.

/** Of the last upgrades; each may be as large as the database. */
const COPIES_KEPT = 3;
const COPY = /^before-migration-(.+)-(\d{8}T\d{6}Z)\.sqlite$/;

/**
 * The copies that a program which does not know `migration` can open, oldest first: made before it was
 * applied, on its own or among others.
 */
export function copiesBefore(folder: string, migration: string): string[] {
  return copies(folder)
    .filter((copy) => copy.migration <= migration)
    .map(({ path }) => path);
}

export function dropOldCopies(folder: string): void {
  for (const { path } of copies(folder).slice(0, -COPIES_KEPT)) rmSync(path, { force: true });
}

function copies(folder: string): { path: string; migration: string; time: string }[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .flatMap((name) => {
      const [, migration = "", time = ""] = COPY.exec(name) ?? [];
      return time ? [{ path: join(folder, name), migration, time }] : [];
    })
    .sort((a, b) => a.time.localeCompare(b.time));
}
