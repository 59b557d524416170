import type { drizzle } from "drizzle-orm/bun-sqlite";
import type { Tables } from "../../db/schema.ts";

/** A Drizzle database. Queries are awaited builders only, so that they run on Postgres unchanged. */
export type Database = ReturnType<typeof drizzle>;

/** What every query takes: where to run, and the tables to run on. */
export interface Tx {
  db: Database;
  t: Tables;
}

/** The one place state lives. */
export interface Store {
  /** Sees what is committed; refuses to write. */
  readonly read: Tx;
  /**
   * Runs `fn` in one transaction: committed and synced when the promise resolves, rolled back when `fn` throws.
   * Inside `fn` await nothing but `tx`: every other writer waits. Throws SERVICE_OVERLOADED where the disk, another
   * process' lock or a problem() is in the way.
   */
  write<T>(fn: (tx: Tx) => Promise<T>): Promise<T>;
  /** Why nothing may be entrusted to it until somebody has looked, in words for the operator; null while all is well. */
  problem(): string | null;
  /** Moves the write-ahead log into the database file, so that it does not grow without end. */
  checkpoint(): Promise<void>;
  close(): Promise<void>;
}
