import { Database } from "bun:sqlite";

/** A lock that ends with its process, however that ends: SQLite's own lock on an empty file. */
export interface FileLock {
  release(): void;
}

/**
 * Takes the lock; null when another process has or shares it. Throws SQLite's error when the file cannot be
 * written.
 */
export function lockFile(path: string): FileLock | null {
  return lockBy(path, (file) => {
    file.run("PRAGMA locking_mode = EXCLUSIVE");
    file.run("BEGIN EXCLUSIVE");
  });
}

/** Shares the lock with others that share it; null when another process has it. Throws as `lockFile` does. */
export function shareFile(path: string): FileLock | null {
  return lockBy(path, (file) => {
    file.run("BEGIN");
    // The first read takes the lock.
    file.query("SELECT count(*) FROM sqlite_schema").get();
  });
}

function lockBy(path: string, take: (file: Database) => void): FileLock | null {
  let file: Database | undefined;
  try {
    file = new Database(path, { create: true });
    take(file);
    const held = file;
    return { release: () => held.close() };
  } catch (error) {
    file?.close();
    if ((error as { code?: unknown }).code === "SQLITE_BUSY") return null;
    throw error;
  }
}
