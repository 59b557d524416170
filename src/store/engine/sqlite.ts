import { Database as SqliteDatabase, type Statement } from "bun:sqlite";
import { closeSync, openSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import PQueue from "p-queue";
import { sqliteTables } from "../../../db/schema.ts";
import { OperatorError, Refusal } from "../../core/errors.ts";
import { StorageUnavailable } from "../../core/storage-unavailable.ts";
import { BACKUPS_FOLDER } from "../../system/data-folder.ts";
import type { Store, Tx } from "../store.ts";
import { damagedDatabase, migrate, refuseDamaged } from "./migrate.ts";
import { hideParamsFromPlanner } from "./prepared.ts";
import { databaseBytes } from "./snapshot.ts";

/** How long SQLite itself waits for another process's write. Short: the wait blocks the event loop. */
const BUSY_TIMEOUT_MS = 20;
/** While opening, the event loop is not in use yet, and another process may be creating the tables. */
const OPENING_TIMEOUT_MS = 10_000;
/** How often and how long we retry for the write lock without blocking anything. */
const BUSY_RETRY_MS = 10;
const BUSY_GIVE_UP_MS = 10_000;
/** After finding the lock taken, how long nobody else needs to look. */
const BUSY_LOOK_MS = 100;
/** How much disk an empty write-ahead log may keep. */
const MAX_IDLE_LOG_BYTES = 64 * 1024 * 1024;
/** Per connection: all queries of the service, with room for lists of different lengths. */
const MAX_STATEMENTS = 256;
/** Takes a fraction of a second: less than another process needs to start and the writers to wait for it. */
const REWRITTEN_HERE_BYTES = 16 * 1024 * 1024;
/** The exit code of the process that rewrites: others were using the database, try again. */
export const REWRITE_BUSY = 75;
/** More than any database here will have. */
const MAPPED_BYTES = 2 ** 36;

export interface StoreOptions {
  /** Read the whole file first and refuse a damaged one. */
  verify?: boolean;
  /**
   * Memory-map the file: twice as fast for a command that reads everything, but a disk fault then kills the
   * process.
   */
  mapped?: boolean;
  /** How long a write waits for another process's write, from the moment it was requested. */
  patienceMs?: number;
  /** This file is itself a copy: it is migrated without keeping another. */
  isCopy?: boolean;
  /**
   * The command that runs rewriteDatabase() of the file appended to it, in a process of its own. Without one,
   * erase() blocks this process.
   */
  rewriteCommand?: readonly string[];
}

/**
 * Opens (or creates) the SQLite file, brings it to the newest schema and returns the store. Throws an
 * OperatorError when the file is newer than this program, cannot be opened, or (with `verify`, which reads
 * the whole file) is damaged.
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
  // From here on, blocking would keep every request waiting.
  for (const client of [writer, reader]) client.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);

  const writeTx: Tx = {
    db: drizzle({ client: writer }),
    t: sqliteTables,
    claimable: identity,
    locked: identity,
  };
  const read: Tx = {
    db: drizzle({ client: reader }),
    t: sqliteTables,
    claimable: identity,
    locked: identity,
  };
  const guard = guardFile(file);
  const forgetStatements = [writer, reader].map((client) => keepStatements(client, guard.note));
  const beginImmediate = lockTaker(writer, options.patienceMs ?? BUSY_GIVE_UP_MS);
  // One writer at a time: drizzle's own transaction does not roll an async callback back on bun:sqlite.
  const mutex = new PQueue({ concurrency: 1 });

  const dataVersion = reader.query<{ data_version: number }, []>("PRAGMA data_version");

  return {
    engine: "sqlite",
    read,
    // The reader's own counter: the writer's commits change it just as another process's do.
    version: () => recordErrors(guard.note, () => dataVersion.get()?.data_version ?? null),
    problem: guard.problem,
    write: (name, fn) => {
      const askedAt = performance.now();
      return mutex.add(async () => {
        const problem = guard.problem();
        if (problem !== null) throw new StorageUnavailable(new Error(problem), name);
        try {
          await beginImmediate(askedAt);
          const result = await fn(writeTx);
          writer.run("COMMIT");
          return result;
        } catch (error) {
          guard.note(error);
          // After some faults SQLite has already rolled back.
          if (writer.inTransaction) writer.run("ROLLBACK");
          throw asStorageFault(error, name);
        }
      });
    },
    // Checkpoints the log, in turn with the transactions, since SQLite refuses that within one.
    maintain: () => mutex.add(() => void writer.run("PRAGMA wal_checkpoint(PASSIVE)")),
    erase: async ({ maxBytes, signal }) => {
      const bytes = databaseBytes(writer);
      if (bytes > maxBytes) return false;
      const { rewriteCommand = [] } = options;
      return rewriteCommand.length > 0 && bytes > REWRITTEN_HERE_BYTES
        ? rewriteElsewhere([...rewriteCommand, file], signal)
        : mutex.add(() => rewrite(writer));
    },
    close: async () => {
      await mutex.onIdle();
      for (const forget of forgetStatements) forget();
      dataVersion.finalize();
      reader.close();
      // Leaves the whole database in its one file, for an operator who copies it while nothing runs.
      writer.run("PRAGMA wal_checkpoint(TRUNCATE)");
      writer.close();
    },
  };
}

/** With a single writer nobody else is changing anything. */
const identity = <Query>(query: Query): Query => query;

function openConnection(file: string): SqliteDatabase {
  try {
    createPrivately(file);
    const client = new SqliteDatabase(file);
    client.run(`PRAGMA busy_timeout = ${OPENING_TIMEOUT_MS}`);
    client.run("PRAGMA journal_mode = WAL");
    // A log grown by one long reader is truncated when reused; otherwise it would stay that large.
    client.run(`PRAGMA journal_size_limit = ${MAX_IDLE_LOG_BYTES}`);
    client.run("PRAGMA foreign_keys = ON");
    // Without this, REPLACE deletes conflicting rows without firing the triggers that make the ledger
    // immutable.
    client.run("PRAGMA recursive_triggers = ON");
    // A 202 must survive a power cut, so every commit is synced.
    client.run("PRAGMA synchronous = FULL");
    // Deleted content is overwritten with zeros; remnants of moved rows are removed by erase().
    client.run("PRAGMA secure_delete = ON");
    // KiB. With four times as much neither reads nor creates nor audits are cheaper among ten million images;
    // with a quarter twice as many pages are read.
    client.run("PRAGMA cache_size = -16384");
    client.run("PRAGMA temp_store = MEMORY");
    return client;
  } catch (cause) {
    const reason = (cause as Error).message;
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(cause))) throw damagedDatabase(reason, cause);
    throw new OperatorError(
      `The database ${file} cannot be opened: ${reason}. Check the folder's permissions, free space, and that its disk is not mounted read-only.`,
      1,
      { cause },
    );
  }
}

/** See Store.erase. False when another process is using the database. */
function rewrite(client: SqliteDatabase): boolean {
  try {
    // The copy that VACUUM works on need not fit into memory.
    client.run("PRAGMA temp_store = FILE");
    client.run("VACUUM");
    const checkpoint = client.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get();
    return checkpoint?.busy === 0;
  } catch (error) {
    if (sqliteCode(error).startsWith("SQLITE_BUSY")) return false;
    throw asStorageFault(error, "erase");
  } finally {
    client.run("PRAGMA temp_store = MEMORY");
  }
}

/**
 * The database as the process meets it that a service starts for Store.erase; false when others were using
 * it.
 */
export function rewriteDatabase(file: string): boolean {
  const client = openConnection(file);
  try {
    return rewrite(client);
  } finally {
    client.close();
  }
}

/** Nobody waits but who writes: the other process holds the lock until it is done. */
async function rewriteElsewhere(command: string[], signal: AbortSignal | undefined): Promise<boolean> {
  const stop = signal && { signal };
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "pipe", ...stop });
  const said = await new Response(child.stderr).text();
  const code = await child.exited;
  if (signal?.aborted) return false;
  if (code !== 0 && code !== REWRITE_BUSY)
    throw new StorageUnavailable(
      new Error(said.trim() || `it ended with ${child.signalCode ?? code}`),
      "erase",
    );
  return code === 0;
}

/**
 * Makes a missing file, for this user only, whatever its folder allows; SQLite gives its log and its index
 * the same mode. A file that is there is not even opened: closing it again would end the locks that this
 * process has on it.
 */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/**
 * Caches recently used compiled statements: Drizzle compiles each query anew, which was a third of the time
 * of a create. Sound because every query here is read to its end before the next begins. Returns a function
 * that releases them, since a connection with an open statement cannot close. `note` receives every error.
 */
function keepStatements(client: SqliteDatabase, note: (error: unknown) => void): () => void {
  const compile = client.prepare.bind(client);
  const kept = new Map<string, Statement>();
  const keep = (query: string, statement: Statement) => {
    kept.delete(query);
    kept.set(query, statement);
    const [oldest] = kept.keys();
    if (kept.size > MAX_STATEMENTS && oldest !== undefined) kept.delete(oldest);
  };
  client.prepare = ((query: string, ...rest: []) => {
    const known = kept.get(query);
    if (known) return known;
    const statement = recordErrors(note, () => compile(hideParamsFromPlanner(query), ...rest));
    // Prepared queries run theirs without asking for it again.
    observed(statement, note, () => keep(query, statement));
    keep(query, statement);
    return statement;
  }) as SqliteDatabase["prepare"];
  return () => {
    for (const statement of kept.values()) statement.finalize();
    kept.clear();
  };
}

/** Wraps a compiled statement to count its runs, note its errors, and rethrow them as the store's. */
function observed(statement: Statement, note: (error: unknown) => void, runs: () => void): void {
  for (const method of ["all", "get", "values", "run"] as const) {
    const run = statement[method].bind(statement) as (...args: unknown[]) => unknown;
    Object.defineProperty(statement, method, {
      value: (...args: unknown[]) => {
        runs();
        return recordErrors(note, () => run(...args));
      },
    });
  }
}

function recordErrors<T>(note: (error: unknown) => void, work: () => T): T {
  try {
    return work();
  } catch (error) {
    note(error);
    throw asStorageFault(error);
  }
}

/** Checks that the file is intact, and is still the one at its path. */
function guardFile(file: string) {
  const opened = identityOf(file);
  let damage: string | null = null;
  return {
    note: (error: unknown) => {
      if (!/^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error))) return;
      damage = `The database ${file} is damaged: ${(error as Error).message}. Stop the service, keep a copy of the data folder, and restore it whole from a backup.`;
    },
    problem: () => {
      if (damage !== null) return damage;
      if (identityOf(file) === opened) return null;
      return `${file} is not the file any more that the service opened: it was moved, removed or replaced, and what is written now would be lost. Put it back, or restart the service.`;
    },
  };
}

/** Differs for every file, even one that replaced the first. */
function identityOf(file: string): string {
  const info = statSync(file, { throwIfNoEntry: false });
  return info ? `${info.dev}:${info.ino}` : "none";
}

/**
 * Acquires the write lock, waiting for other processes (the command line) without blocking the event loop.
 * Each write's wait counts from when it was requested: those queued behind a waiting one give up together
 * with it.
 */
function lockTaker(client: SqliteDatabase, patienceMs: number): (askedAt: number) => Promise<void> {
  let refusal: { at: number; error: unknown } | undefined;
  return async (askedAt) => {
    for (;;) {
      const now = performance.now();
      const isLate = now - askedAt > patienceMs;
      if (isLate && refusal && now - refusal.at < BUSY_LOOK_MS) throw refusal.error;
      try {
        client.run("BEGIN IMMEDIATE");
        refusal = undefined;
        return;
      } catch (error) {
        const isBusy = sqliteCode(error).startsWith("SQLITE_BUSY");
        if (isBusy) refusal = { at: performance.now(), error };
        if (!isBusy || isLate) throw error;
        await Bun.sleep(BUSY_RETRY_MS);
      }
    }
  };
}

const STORAGE_FAULTS = /^SQLITE_(FULL|READONLY|IOERR|BUSY|CANTOPEN|CORRUPT|NOTADB)/;

/** Wraps disk trouble in the store's own error; everything else is passed through. */
function asStorageFault(error: unknown, during?: string): unknown {
  if (error instanceof Refusal) return error;
  const cause = sqliteError(error);
  return cause && STORAGE_FAULTS.test(cause.code) ? new StorageUnavailable(cause, during) : error;
}

/** bun:sqlite's error code; "" when it is no SQLite error. */
function sqliteCode(error: unknown): string {
  return sqliteError(error)?.code ?? "";
}

/** bun:sqlite's own error, also when Drizzle has wrapped it. */
function sqliteError(error: unknown): (Error & { code: string }) | undefined {
  for (let e = error; e instanceof Error; e = e.cause) {
    if ("code" in e && typeof e.code === "string" && e.code.startsWith("SQLITE_"))
      return e as Error & { code: string };
  }
  return undefined;
}
