import { migrations } from "../../../db/migrations/postgres/index.ts";
import { OperatorError } from "../../core/errors.ts";
import { NODE_SILENCE_MS } from "../../core/limits.ts";
import type { Connection } from "./postgres-connections.ts";

/** The names of the migrations this program knows, oldest first. */
export const POSTGRES_MIGRATION_NAMES: readonly string[] = migrations.map(({ name }) => name);

const BREAKPOINT = "--> statement-breakpoint";
/** The advisory lock for changing the schema: an arbitrary constant. */
const MIGRATION_LOCK = "7203115096624714";

/**
 * Applies the missing migrations, all or none; forward only. Processes that start at the same time take
 * turns. Throws an OperatorError when a newer program has migrated the database, and when there is something
 * to change while other nodes serve from it.
 */
export async function migratePostgres(connection: Connection): Promise<void> {
  await underMigrationLock(connection, () => applyPending(connection));
}

/** Runs `work` in a transaction in which this process alone may change the schema. */
export async function underMigrationLock<T>(connection: Connection, work: () => Promise<T>): Promise<T> {
  const withoutTimeout = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
  await connection.run(`BEGIN; ${withoutTimeout}; SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`);
  connection.begin();
  try {
    const result = await work();
    await connection.run("COMMIT");
    return result;
  } catch (error) {
    await connection.run("ROLLBACK").catch(() => connection.cut());
    throw error;
  }
}

async function applyPending({ query }: Connection): Promise<void> {
  const [[table] = [null]] = (await query(
    "SELECT to_regclass('schema_migrations')::text",
    [],
    true,
  )) as unknown[][];
  // Only when it is missing: a role that may use the tables need not be allowed to create any.
  if (table === null)
    await query(
      "CREATE TABLE schema_migrations (name text PRIMARY KEY, applied_at bigint NOT NULL)",
      [],
      false,
    );
  const rows = (await query("SELECT name FROM schema_migrations", [], true)) as [string][];
  const applied = new Set(rows.map(([name]) => name));
  const unknown = [...applied].find((name) => !migrations.some((known) => known.name === name));
  if (unknown !== undefined)
    throw new OperatorError(
      `The database was written by a newer cardpress (it has the migration ${unknown}). Install that version or a later one, or restore a backup made before.`,
    );
  const pending = migrations.filter((known) => !applied.has(known.name));
  if (pending.length > 0) await refuseWhileOthersServe(query);
  for (const { name, sql } of pending) {
    for (const statement of sql.split(BREAKPOINT)) await query(statement, [], false);
    await query(
      "INSERT INTO schema_migrations (name, applied_at) VALUES ($1, $2)",
      [name, Date.now()],
      false,
    );
  }
}

/**
 * A program that was made for the old tables must not meet the new ones. One that is starting, and not yet
 * known here, looks again once it is: see Store.confirmSchema.
 */
export async function refuseWhileOthersServe(query: Connection["query"]): Promise<void> {
  const [[table] = [null]] = (await query("SELECT to_regclass('nodes')::text", [], true)) as unknown[][];
  if (table === null) return;
  const living = (await query(
    "SELECT name || ' (' || version || ')' FROM nodes WHERE seen_at > extract(epoch FROM clock_timestamp()) * 1000 - $1::bigint",
    [NODE_SILENCE_MS],
    true,
  )) as [string][];
  if (living.length === 0) return;
  throw new OperatorError(
    `This version changes the tables of the database, which others serve from: ${living.map(([name]) => name).join(", ")}. Stop them all, then start this version. One that was killed counts for ${NODE_SILENCE_MS / 1000} seconds more.`,
  );
}
