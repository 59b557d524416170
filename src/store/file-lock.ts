import { Database } from "bun:sqlite";
import { sqliteCode } from "./sqlite.ts";

/**
 * A lock between processes: SQLite's own file lock, which ends with the process, however it ends. Null when another one
 * holds it. Throws when the file cannot be written.
 */
export function lockFile(path: string): { close(): void } | null {
  let lock: Database | undefined;
  try {
    lock = new Database(path, { create: true });
    lock.run("PRAGMA locking_mode = EXCLUSIVE");
    lock.run("BEGIN EXCLUSIVE");
    return lock;
  } catch (error) {
    lock?.close();
    if (sqliteCode(error) === "SQLITE_BUSY") return null;
    throw error;
  }
}
