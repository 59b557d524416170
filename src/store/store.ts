import type { drizzle } from "drizzle-orm/bun-sqlite";
import type { Tables } from "../../db/schema.ts";
import type { RawQuery } from "../core/ports.ts";

/** A Drizzle database. Queries are awaited builders only, so that they run on Postgres unchanged. */
export type Database = ReturnType<typeof drizzle>;

/** What every query takes: where to run, and the tables to run on. */
export interface Tx {
  db: Database;
  t: Tables;
  /**
   * A query whose rows this transaction means to change: on Postgres it passes by those that another one is
   * changing.
   */
  claimable<Query>(query: Query): Query;
  /**
   * A query whose rows this transaction decides by: on Postgres those that mean to change them, or ask
   * the same, wait until it ends, and then see what it did.
   */
  locked<Query>(query: Query): Query;
  /** Runs a statement in PostgreSQL's own language; absent on SQLite. */
  rawQuery?: RawQuery;
}

export interface WriteOptions {
  /**
   * Beside all others, where the engine can: allowed for a transaction each of whose changes holds by its own
   * condition, by a unique key or by a row it has locked, whatever others commit meanwhile. All else is as if
   * it ran alone among those that say nothing: where another one changed what it read or writes, it is run
   * again. On SQLite everything runs alone.
   */
  concurrent?: boolean;
}

/** The one place state lives. */
export interface Store {
  readonly engine: "sqlite" | "postgres";
  /** Runs a statement in PostgreSQL's own language, outside of the store's transactions; absent on SQLite. */
  readonly rawQuery?: RawQuery;
  /**
   * Sees what is committed; refuses to write. Its queries reject with an error behind which storageFault()
   * finds one.
   */
  readonly read: Tx;
  /**
   * Runs `fn` in one transaction: committed and synced when the promise resolves, rolled back when `fn`
   * throws. Inside `fn` await nothing but `tx`: other writers wait. Nothing but `tx` may be changed either:
   * where another process was faster, `fn` is rolled back and run again. `name` says what it does, for logs
   * and for tests that stand in between. Throws StorageUnavailable where the disk, the server, another
   * process' lock or a problem() is in the way.
   */
  write<T>(name: string, fn: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T>;
  /**
   * Another number after every commit, by whichever process; null where the engine cannot tell for less than
   * a query. Two equal ones mean that `read` would find what it found between them.
   */
  version(): number | null;
  /**
   * Why nothing may be entrusted to it until somebody has looked, in words for the operator; null while all
   * is well.
   */
  problem(): string | null;
  /**
   * Rejects with an OperatorError when a newer program has changed the tables since it was opened: a server
   * that begins to serve asks after it is known to the others. Absent where a single process serves from it.
   */
  confirmSchema?: () => Promise<void>;
  /** What the engine wants done now and then, so that nothing of its own grows without end. */
  maintain(): Promise<void>;
  /**
   * Removes what deleted rows left in the database's files. SQLite rewrites the whole file; writers
   * wait for it. False, and nothing done, when it is larger than `maxBytes`, somebody else is using it, or
   * `signal` comes first. PostgreSQL vacuums the tables that personal data is deleted from, beside everything
   * else that goes on; false when it has lately.
   */
  erase(options: { maxBytes: number; signal?: AbortSignal | undefined }): Promise<boolean>;
  close(): Promise<void>;
}
