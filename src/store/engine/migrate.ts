import type { Database } from "bun:sqlite";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../../db/migrations/sqlite/index.ts";
import { OperatorError } from "../../core/errors.ts";
import { copiesBefore, dropOldCopies } from "./migration-copies.ts";
import { snapshotDatabase } from "./snapshot.ts";

/** The names of the migrations this program knows, oldest first: the last one is its schema. */
export const MIGRATION_NAMES: readonly string[] = migrations.map(({ name }) => name);

const BREAKPOINT = "--> statement-breakpoint";

/**
 * Applies missing migrations, all or none; forward only. An existing database is first copied into the folder
 * `copies`, if given. Drizzle's own migrator reads a folder from disk, which a compiled binary does not have.
 * Returns the names applied.
 */
export function migrate(client: Database, copies?: string): string[] {
  client.run(
    "CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT",
  );
  if (pendingMigrations(client, copies).length === 0) return [];
  let copy: string | undefined;
  try {
    // IMMEDIATE: two processes that start together must not both do it.
    const fresh = client
      .transaction(() => {
        const pending = pendingMigrations(client, copies);
        const [first] = pending;
        if (first && copies !== undefined && pending.length < migrations.length) {
          copy = keepCopy(client.filename, copies, first.name);
        }
        for (const { name, sql } of pending) {
          for (const statement of sql.split(BREAKPOINT)) client.run(statement);
          client
            .query("INSERT INTO schema_migrations (name, applied_at) VALUES (?, ?)")
            .run(name, Date.now());
        }
        return pending.map(({ name }) => name);
      })
      .immediate();
    if (copy !== undefined && copies !== undefined) dropOldCopies(copies);
    return fresh;
  } catch (error) {
    // The database is unchanged; a service that restarts repeatedly must not fill the disk with copies of it.
    if (copy !== undefined) rmSync(copy, { force: true });
    throw error;
  }
}

function pendingMigrations(client: Database, copies: string | undefined): typeof migrations {
  const applied = new Set(
    client
      .query<{ name: string }, []>("SELECT name FROM schema_migrations ORDER BY name")
      .all()
      .map((row) => row.name),
  );
  const unknown = [...applied].find((name) => !migrations.some((m) => m.name === name));
  if (unknown !== undefined) throw newerDatabase(client.filename, unknown, copies);
  return migrations.filter(({ name }) => !applied.has(name));
}

function newerDatabase(file: string, migration: string, copies: string | undefined): OperatorError {
  const copy = copies === undefined ? undefined : copiesBefore(copies, migration).at(-1);
  const way =
    copy === undefined
      ? "or restore a backup made before"
      : `or go back to the copy from before: stop the service, remove ${file}-wal and ${file}-shm, and copy ${copy} over ${file}; what happened since then is lost`;
  return new OperatorError(
    `The database was written by a newer cardpress (it has the migration ${migration}). Install that version or a later one, ${way}.`,
  );
}

/** Reads through another connection, which sees committed data while nobody else can write. */
function keepCopy(file: string, copies: string, migration: string): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const copy = join(copies, `before-migration-${migration}-${time}.sqlite`);
  mkdirSync(copies, { recursive: true, mode: 0o750 });
  rmSync(copy, { force: true });
  snapshotDatabase(file, copy);
  return copy;
}

/** Throws an OperatorError for a damaged file, before anything is written to it. */
export function refuseDamaged(client: Database): void {
  let verdict: string;
  let cause: unknown;
  try {
    verdict = Object.values(client.query("PRAGMA quick_check(1)").get() as Record<string, string>)[0] ?? "";
  } catch (error) {
    verdict = (error as Error).message;
    cause = error;
  }
  if (verdict !== "ok") throw damagedDatabase(verdict, cause);
}

export function damagedDatabase(reason: string, cause?: unknown): OperatorError {
  return new OperatorError(
    `The database is damaged (${reason}). Stop the service, set the data folder aside, and restore it whole from a backup with "cardpress restore".`,
    1,
    { cause },
  );
}
