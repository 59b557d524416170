import type { Database } from "bun:sqlite";
import { migrations } from "../../db/migrations/sqlite/index.ts";
import { OperatorError } from "../core/errors.ts";

const BREAKPOINT = "--> statement-breakpoint";

/**
 * Applies the migrations the file does not have yet, each in its own transaction; forward only. Drizzle's own migrator
 * reads a folder from disk, which a compiled binary does not have. Returns the names applied.
 */
export function migrate(client: Database): string[] {
  client.run(
    "CREATE TABLE IF NOT EXISTS schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT",
  );
  const applied = new Set(
    client
      .query<{ name: string }, []>("SELECT name FROM schema_migrations")
      .all()
      .map((row) => row.name),
  );
  const unknown = [...applied].filter((name) => !migrations.some((m) => m.name === name));
  if (unknown.length > 0) {
    throw new OperatorError(
      `The database was written by a newer cardpress (it has the migration ${unknown[0]}). Install that version or a later one, or restore an older backup.`,
    );
  }
  const fresh: string[] = [];
  for (const { name, sql } of migrations) {
    if (applied.has(name)) continue;
    // IMMEDIATE: two processes that start together must not both apply it.
    client
      .transaction(() => {
        if (client.query("SELECT 1 FROM schema_migrations WHERE name = ?").get(name)) return;
        for (const statement of sql.split(BREAKPOINT)) client.run(statement);
        client.query("INSERT INTO schema_migrations (name, applied_at) VALUES (?, ?)").run(name, Date.now());
        fresh.push(name);
      })
      .immediate();
  }
  return fresh;
}

/** Throws an OperatorError for a damaged file, before anything is written to it. */
export function refuseDamaged(client: Database): void {
  let verdict: string;
  try {
    verdict = Object.values(client.query("PRAGMA quick_check(1)").get() as Record<string, string>)[0] ?? "";
  } catch (error) {
    verdict = (error as Error).message;
  }
  if (verdict !== "ok") {
    throw damagedDatabase(verdict);
  }
}

export function damagedDatabase(reason: string): OperatorError {
  return new OperatorError(
    `The database is damaged (${reason}). Stop the service, set the data folder aside, and restore it whole from a copy made earlier.`,
  );
}
