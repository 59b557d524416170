import { Database as SqliteDatabase, type Statement } from "bun:sqlite";
import { closeSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import PQueue from "p-queue";
import { sqliteTables } from "../../db/schema.ts";
import { AppError, OperatorError } from "../core/errors.ts";
import { BACKUPS_FOLDER } from "../data-folder.ts";
import { damagedDatabase, migrate, refuseDamaged } from "./migrate.ts";
import type { Store, Tx } from "./store.ts";

/** How long SQLite itself waits for another process's write. Short: the wait blocks the event loop. */
const BUSY_TIMEOUT_MS = 20;
/** While opening there is no loop to block yet, and another process may just be making the tables. */
const OPENING_TIMEOUT_MS = 10_000;
/** How often and how long we come back for the write lock without blocking anything. */
const BUSY_RETRY_MS = 10;
const BUSY_GIVE_UP_MS = 10_000;
/** What the write-ahead log may keep of the disk while nothing is in it. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;
/** Of each connection: all the queries of the service, with room for lists of different lengths. */
const MAX_STATEMENTS = 256;
/** More than any database here will have. */
const MAPPED_BYTES = 2 ** 36;

export interface StoreOptions {
  /** Read the whole file first and refuse a damaged one. */
  verify?: boolean;
  /** Read through memory: twice as fast for a command that reads everything. A disk's fault then ends the process. */
  mapped?: boolean;
  /** This file is itself a copy: it is brought to the newest schema without another one being kept. */
  isCopy?: boolean;
}

/**
 * Opens (or creates) the SQLite file, brings it to the newest schema and returns the store. Throws an OperatorError
 * when the file is newer than this program, cannot be opened, or (with `verify`, which reads the whole file) is damaged.
 */
export function openSqliteStore(file: string, options: StoreOptions = {}): Store {
  const writer = openConnection(file);
  try {
    if (options.verify) refuseDamaged(writer);
    migrate(writer, options.isCopy ? undefined : join(dirname(file), BACKUPS_FOLDER));
  } catch (error) {
    writer.close();
    throw error;
  }
  const reader = openConnection(file);
  reader.run("PRAGMA query_only = ON");
  if (options.mapped) reader.run(`PRAGMA mmap_size = ${MAPPED_BYTES}`);
  // From here on a wait would keep every request waiting.
  for (const client of [writer, reader]) client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);

  const writeTx: Tx = { db: drizzle({ client: writer }), t: sqliteTables };
  const read: Tx = { db: drizzle({ client: reader }), t: sqliteTables };
  const forgetStatements = [writer, reader].map(keepStatements);
  // One writer at a time: drizzle's own transaction does not roll an async callback back on bun:sqlite.
  const mutex = new PQueue({ concurrency: 1 });

  return {
    read,
    write: (fn) =>
      mutex.add(async () => {
        await beginImmediate(writer);
        try {
          const result = await fn(writeTx);
          writer.run("COMMIT");
          return result;
        } catch (error) {
          // After some faults SQLite has rolled back by itself.
          if (writer.inTransaction) writer.run("ROLLBACK");
          throw asStorageFault(error);
        }
      }),
    // In turn with the transactions: SQLite refuses a checkpoint in the middle of one.
    checkpoint: () => mutex.add(() => void writer.run("PRAGMA wal_checkpoint(PASSIVE)")),
    close: async () => {
      await mutex.onIdle();
      for (const forget of forgetStatements) forget();
      reader.close();
      // The whole database is in its one file again, for whoever copies it while nothing runs.
      writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
      writer.close();
    },
  };
}

function openConnection(file: string): SqliteDatabase {
  try {
    createPrivately(file);
    const client = new SqliteDatabase(file);
    client.run(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
    client.run("PRAGMA journal_mode = WAL");
    // A log that one long reader let grow is cut back when it is reused; otherwise it would stay as large for ever.
    client.run(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
    client.run("PRAGMA foreign_keys = ON");
    // Without this, REPLACE deletes the rows in its way past the triggers that make the ledger immutable.
    client.run("PRAGMA recursive_triggers = ON");
    // A 202 must survive a power cut, so every commit is synced.
    client.run("PRAGMA synchronous = FULL");
    client.run("PRAGMA cache_size = -65536");
    client.run("PRAGMA temp_store = MEMORY");
    return client;
  } catch (cause) {
    const reason = (cause as Error).message;
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(cause))) throw damagedDatabase(reason);
    throw new OperatorError(
      `The database ${file} cannot be opened: ${reason}. Check the folder's permissions, free space, and that its disk is not mounted read-only.`,
    );
  }
}

/**
 * Makes a missing file, for this user only, whatever its folder allows; SQLite gives its log and its index the same mode.
 * A file that is there is not even opened: closing it again would end the locks that this process has on it.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Keeps compiled statements, the lately used ones: Drizzle compiles each query anew, which was a third of a create's
 * time. Sound because every query here is read to its end before the next one begins. Returns what lets go of them: a
 * connection with a statement stays open.
 */
function keepStatements(client: SqliteDatabase): () => void {
  const compile = client.prepare.bind(client);
  const kept = new Map<string, Statement>();
  client.prepare = ((query: string, ...rest: []) => {
    const statement = kept.get(query) ?? compile(query, ...rest);
    kept.delete(query);
    kept.set(query, statement);
    const [oldest] = kept.keys();
    if (kept.size > MAX_STATEMENTS && oldest !== undefined) kept.delete(oldest);
    return statement;
  }) as SqliteDatabase["prepare"];
  return () => {
    for (const statement of kept.values()) statement.finalize();
    kept.clear();
  };
}

/** Takes the write lock, waiting for other processes (the command line) without blocking the event loop. */
async function beginImmediate(client: SqliteDatabase): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += BUSY_RETRY_MS + BUSY_TIMEOUT_MS) {
    try {
      client.run("BEGIN IMMEDIATE");
      return;
    } catch (error) {
      if (!sqliteCode(error).startsWith("SQLITE_BUSY") || waitedMs > BUSY_GIVE_UP_MS)
        throw asStorageFault(error);
      await Bun.sleep(BUSY_RETRY_MS);
    }
  }
}

const STORAGE_FAULTS = /^SQLITE_(FULL|READONLY|IOERR|BUSY|CANTOPEN|CORRUPT|NOTADB)/;

/** Disk trouble becomes a 503 that asks to come back; everything else is passed on as it is. */
function asStorageFault(error: unknown): unknown {
  const code = sqliteCode(error);
  if (!STORAGE_FAULTS.test(code)) return error;
  return new AppError("SERVICE_OVERLOADED", "The service cannot store requests right now. Try again later.", {
    retryAfterSeconds: 30,
    cause: error,
  });
}

/** bun:sqlite's error code, also when Drizzle has wrapped the error; "" when it is no SQLite error. */
export function sqliteCode(error: unknown): string {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ("code" in e && typeof e.code === "string" && e.code.startsWith("SQLITE_")) return e.code;
  }
  return "";
}
