import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { SQL } from "bun";
import type { OpenStore } from "../src/app/places.ts";
import type { Clock } from "../src/core/ports.ts";
import { openPostgresStore, type PostgresStore } from "../src/store/engine/postgres.ts";
import { JOBS_SCHEMA } from "../src/store/engine/postgres-jobs.ts";

/** The engine the suites run on; `bun run test:postgres` sets both, and starts a server. */
export const ENGINE = process.env.ENGINE === "postgres" ? "postgres" : "sqlite";
const SERVER_URL = process.env.CARDPRESS_TEST_POSTGRES ?? "";
/** A database with all migrations and no rows: copying it takes a tenth of what making one does. */
export const TEMPLATE = "cardpress_template";

/** Lets the queue in the database follow a test's clock, which followClock() sets. */
export const FOLLOW_TEST_CLOCK = [
  `CREATE TABLE ${JOBS_SCHEMA}.test_clock (at timestamptz)`,
  `INSERT INTO ${JOBS_SCHEMA}.test_clock VALUES (NULL)`,
  `CREATE OR REPLACE FUNCTION ${JOBS_SCHEMA}.job_now() RETURNS timestamptz LANGUAGE sql STABLE AS
    $$ SELECT coalesce((SELECT at FROM ${JOBS_SCHEMA}.test_clock), now()) $$`,
];

/** The same store, whose queue goes by this clock. */
export function followClock(store: PostgresStore, { now }: Pick<Clock, "now">): PostgresStore {
  let last: number | undefined;
  const setTime = async () => {
    if (last === now()) return;
    last = now();
    await store.rawQuery(`UPDATE ${JOBS_SCHEMA}.test_clock SET at = to_timestamp($1::float8 / 1000)`, [last]);
  };
  return {
    ...store,
    rawQuery: (...query) => setTime().then(() => store.rawQuery(...query)),
    script: (text) => setTime().then(() => store.script(text)),
    write: (...work) => setTime().then(() => store.write(...work)),
  };
}

/** The database that stands for a file. */
const databaseOf = (file: string) => `t_${createHash("sha256").update(file).digest("hex").slice(0, 24)}`;

export const postgresUrl = (file: string) => `${SERVER_URL}/${databaseOf(file)}`;

/**
 * Opens a Postgres database instead of a file: one per file, the same one when the file is opened again. Its
 * queue goes by the clock, if one is given.
 */
export const openTestPostgres =
  (clock?: Clock): OpenStore =>
  async (file, { mapped = false } = {}) => {
    const store = await openTestPostgresStore(file, mapped);
    return clock ? followClock(store, clock) : store;
  };

export async function openTestPostgresStore(file: string, patient = false): Promise<PostgresStore> {
  const name = databaseOf(file);
  const admin = new SQL(`${SERVER_URL}/postgres`, { max: 1 });
  try {
    const [known] = await admin.unsafe("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
    if (!known) await admin.unsafe(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE} STRATEGY FILE_COPY`);
  } finally {
    await admin.close();
  }
  return openPostgresStore({ url: postgresUrl(file), patient });
}

/** What an attacker with the database, a bug, or a bad disk could do: past every trigger and check. */
export async function tamper(file: string, ...statements: string[]): Promise<void> {
  if (ENGINE === "postgres") return tamperPostgres(file, statements);
  const db = new Database(file);
  db.run("PRAGMA ignore_check_constraints = ON");
  const triggers = db.query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'trigger'");
  for (const { name } of triggers.all()) db.run(`DROP TRIGGER ${name}`);
  for (const statement of statements) db.run(statement);
  db.close();
}

async function tamperPostgres(file: string, statements: string[]): Promise<void> {
  const client = new SQL(postgresUrl(file), { max: 1 });
  try {
    // Neither triggers nor references are looked at.
    await client.unsafe("SET session_replication_role = replica");
    const checks = await client.unsafe(
      "SELECT conname, conrelid::regclass::text AS of FROM pg_constraint WHERE contype = 'c' AND conrelid <> 0",
    );
    for (const { conname, of } of checks)
      await client.unsafe(`ALTER TABLE ${of} DROP CONSTRAINT "${conname}"`);
    for (const statement of statements) await client.unsafe(statement);
  } finally {
    await client.close();
  }
}
