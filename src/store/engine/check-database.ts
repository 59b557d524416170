import { Database } from "bun:sqlite";
import { migrations } from "../../../db/migrations/sqlite/index.ts";

/**
 * Triggers and indexes that keep the ledger immutable and free of duplicates; a file without one was changed
 * by hand.
 */
const GUARDS = [
  "ledger_entries_no_update",
  "ledger_entries_no_delete",
  "ledger_entries_no_replace",
  "ledger_entries_resolution_matches",
  "ledger_entries_late_expiry_matches",
  "ledger_one_reserve",
  "ledger_one_resolution",
  "ledger_one_late_expiry",
  "ledger_one_grant",
  "ledger_one_expiry",
];

/**
 * Reads the whole file without writing to it. Returns descriptions of the problems found; empty when there
 * are none.
 */
export function databaseProblems(file: string): string[] {
  let client: Database | undefined;
  try {
    client = new Database(file, { readwrite: true });
    client.run("PRAGMA query_only = ON");
    const damage = values(client, "PRAGMA quick_check(5)").filter((verdict) => verdict !== "ok");
    if (damage.length > 0) return damage;
    const orphans = values(
      client,
      `SELECT "table" || ' -> ' || parent FROM pragma_foreign_key_check LIMIT 5`,
    );
    const applied = new Set(values(client, "SELECT name FROM schema_migrations"));
    const missing = migrations.filter(({ name }) => !applied.has(name));
    const present = new Set(values(client, "SELECT name FROM sqlite_master"));
    const unguarded = missing.length > 0 ? [] : GUARDS.filter((name) => !present.has(name));
    return [
      ...orphans.map((pair) => `a row refers to one that does not exist: ${pair}`),
      ...missing.map(({ name }) => `the migration ${name} has not been applied: run "cardpress migrate"`),
      ...unguarded.map((name) => `the trigger or index ${name} is missing`),
    ];
  } catch (error) {
    return [(error as Error).message];
  } finally {
    client?.close();
  }
}

/** The first column of every row, as text. */
function values(client: Database, query: string): string[] {
  return client
    .query(query)
    .values()
    .map(([value]) => String(value));
}
