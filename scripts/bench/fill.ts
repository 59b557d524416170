import { Database } from "bun:sqlite";
import { DatabaseSync } from "node:sqlite";
import { SQL } from "bun";
import { API_PATHS } from "../../src/core/api-paths.ts";
import { MAX_BATCH_CARDS } from "../../src/core/limits.ts";
import { openSqliteStore } from "../../src/store/engine/sqlite.ts";

const DAY_MS = 86_400_000;
/** The current time in the filled database. */
export const FILLED_AT = Date.parse("2026-11-15T12:00:00.000Z");
/** When the image with that number was created: they are spread over thirty days. */
export const createdAtOf = (number: number, images: number) =>
  FILLED_AT - Math.trunc(((images - number) * 30 * DAY_MS) / images);

/** The image's id. Like real ones, ids are unordered: every index on them is accessed at random places. */
export const idOf = (number: number) =>
  `img_${String(Number((BigInt(number) * SCATTER) & 0xffff_ffffn)).padStart(24, "0")}`;
/** 2^32 divided by the golden ratio, odd, so that products of different numbers differ (Knuth, TAOCP 6.4). */
const SCATTER = 2_654_435_761n;

export interface Filling {
  images: number;
  /** Images of an account. */
  perAccount: number;
  /** Give every other image to the first account, whatever `perAccount` says. */
  hasGiant?: boolean;
  /** How many of the newest images still wait; 50 unless given. */
  queued?: number;
}

/** What the two engines say differently. */
interface Dialect {
  /** A relation n(i) of the numbers from 0 to below `count`. */
  numbers: (count: number) => string;
  padded: (number: string, digits: number) => string;
  dayOf: (ms: string) => string;
}

const SQLITE: Dialect = {
  numbers: (count) =>
    `(WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${count}) SELECT i FROM n) AS n`,
  padded: (number, digits) => `printf('%0${digits}d', ${number})`,
  dayOf: (ms) => `date(${ms} / 1000, 'unixepoch')`,
};

const POSTGRES: Dialect = {
  numbers: (count) => `generate_series(0::bigint, ${count - 1}) AS n(i)`,
  padded: (number, digits) => `lpad((${number})::text, ${digits}, '0')`,
  dayOf: (ms) => `to_char(to_timestamp(${ms} / 1000) AT TIME ZONE 'UTC', 'YYYY-MM-DD')`,
};

/**
 * Fills a new SQLite database with consistent accounts, images and entries, like a busy installation after a
 * month: 90 % of the images completed, 9 % failed, a few waiting; the previous month over, with credits
 * expired and granted again; and every image's end announced to one webhook endpoint of its account.
 */
export async function fillDatabase(file: string, filling: Filling): Promise<void> {
  await openSqliteStore(file).close();
  const restoreKeys = removeKeys(file);
  const db = new Database(file);
  // The file is thrown away if this fails.
  for (const setting of [
    "journal_mode = DELETE",
    "journal_mode = OFF",
    "synchronous = OFF",
    "ignore_check_constraints = ON",
    "cache_size = -2000000",
  ])
    db.run(`PRAGMA ${setting}`);
  const kept = db
    .query<{ type: string; name: string; sql: string }, []>(
      "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL",
    )
    .all();
  // Rows are written first and sorted into the indexes then: far quicker than row by row.
  for (const { type, name } of kept) db.run(`DROP ${type} ${name}`);
  for (const statement of statementsFor(SQLITE, filling)) db.transaction(() => db.run(statement))();
  restoreKeys(db);
  for (const { sql } of kept) db.run(sql);
  db.run("PRAGMA journal_mode = WAL");
  db.close();
}

/**
 * Takes the primary keys from the tables of a database without rows, and returns what gives them back. SQLite
 * can neither drop nor add one, but what it keeps of it is an index like any other: that is built of the
 * finished table, and then called what it was.
 */
function removeKeys(file: string): (filled: Database) => void {
  // Bun's own driver lets nobody change the schema by hand.
  const edit = (work: (db: DatabaseSync) => void) => {
    const db = new DatabaseSync(file, { defensive: false });
    db.exec("PRAGMA writable_schema = ON");
    work(db);
    db.exec("PRAGMA writable_schema = OFF");
    db.close();
  };
  const define = "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ?";
  const keys: { name: string; owner: string; made: string; columns: string }[] = [];
  edit((db) => {
    const found = db.prepare(`SELECT i.name, i.tbl_name AS owner, t.sql AS made,
        (SELECT group_concat(name) FROM pragma_index_info(i.name)) AS columns
      FROM sqlite_master AS i JOIN sqlite_master AS t ON t.type = 'table' AND t.name = i.tbl_name
      WHERE i.type = 'index' AND i.sql IS NULL AND i.tbl_name <> 'schema_migrations'`);
    keys.push(...(found.all() as typeof keys));
    for (const { name, owner, made } of keys) {
      const keyless = made
        .replace(" PRIMARY KEY NOT NULL", " NOT NULL")
        .replace(/,\s*PRIMARY KEY\s*\([^)]*\)/, "");
      if (/PRIMARY KEY/.test(keyless)) throw new Error(`the primary key of ${owner} is written otherwise`);
      db.prepare(define).run(keyless, owner);
      db.prepare("DELETE FROM sqlite_master WHERE name = ?").run(name);
    }
  });
  // The first pages of their indexes are nobody's now.
  edit((db) => db.exec("VACUUM"));
  return (filled) => {
    for (const [n, { owner, columns }] of keys.entries())
      filled.run(`CREATE UNIQUE INDEX key_${n} ON ${owner} (${columns})`);
    edit((db) => {
      for (const [n, { name, owner, made }] of keys.entries()) {
        db.prepare(define).run(made, owner);
        db.prepare("UPDATE sqlite_master SET name = ?, sql = NULL WHERE name = ?").run(name, `key_${n}`);
      }
      // Other connections notice that the schema is another.
      const { schema_version } = db.prepare("PRAGMA schema_version").get() as { schema_version: number };
      db.exec(`PRAGMA schema_version = ${schema_version + 1}`);
    });
  };
}

/** The same in a database on PostgreSQL that has its tables and no rows; its user must be a superuser. */
export async function fillPostgres(url: string, filling: Filling): Promise<void> {
  const db = new SQL(url, { max: 1, idleTimeout: 0 });
  try {
    await db.unsafe("SET session_replication_role = replica");
    await db.unsafe("SET maintenance_work_mem = '2GB'");
    await db.unsafe("BEGIN");
    // Primary keys too: their rows come in no order, and each would be put into its place.
    const keys: { owner: string; name: string; sql: string }[] = await db.unsafe(
      `SELECT conrelid::regclass::text AS owner, conname AS name, pg_get_constraintdef(oid) || CASE contype WHEN 'f' THEN ' NOT VALID' ELSE '' END AS sql
       FROM pg_constraint WHERE contype IN ('p', 'f') AND connamespace = 'public'::regnamespace ORDER BY contype DESC`,
    );
    const indexes: { name: string; sql: string }[] = await db.unsafe(
      `SELECT indexname AS name, indexdef AS sql FROM pg_indexes
       WHERE schemaname = 'public' AND indexname NOT IN (SELECT conname FROM pg_constraint)`,
    );
    for (const { name } of indexes) await db.unsafe(`DROP INDEX "${name}"`);
    for (const { owner, name } of keys)
      await db.unsafe(`ALTER TABLE ${owner} DROP CONSTRAINT IF EXISTS "${name}" CASCADE`);
    // Of a table emptied in the same transaction nothing is logged, where the log is no more than a crash
    // needs.
    await db.unsafe(`TRUNCATE ${FILLED.join(", ")}`);
    for (const statement of statementsFor(POSTGRES, filling)) await db.unsafe(statement);
    for (const { owner, name, sql } of keys)
      await db.unsafe(`ALTER TABLE ${owner} ADD CONSTRAINT "${name}" ${sql}`);
    for (const { sql } of indexes) await db.unsafe(sql);
    await db.unsafe("COMMIT");
    await db.unsafe("VACUUM ANALYZE");
  } finally {
    await db.close();
  }
}

/** The tables that are filled. */
const FILLED = [
  "accounts",
  "images",
  "image_metadata",
  "batches",
  "batch_cards",
  "ledger_entries",
  "usage_days",
  "webhook_endpoints",
  "webhook_events",
  "webhook_deliveries",
  "delivery_attempts",
  "idempotency_records",
  "request_log",
  "player_consents",
];

/** The statements that fill the tables, in their order. */
function* statementsFor(dialect: Dialect, filling: Filling): Generator<string> {
  const { images, perAccount, hasGiant = false, queued = 50 } = filling;
  const accounts = hasGiant ? 1 + Math.ceil(images / (2 * perAccount)) : Math.ceil(images / perAccount);
  const owner = hasGiant
    ? `CASE WHEN i % 2 = 0 THEN 0 ELSE 1 + i / ${2 * perAccount} END`
    : `i / ${perAccount}`;
  const plan = hasGiant ? images : perAccount * 2;
  const now = FILLED_AT;
  yield `INSERT INTO accounts (id, name, tier, status, suspended_reason, credit_limit, plan_period, credits_plan, credits_topup, credits_held, created_at, updated_at)
    SELECT 'acct_' || i, 'Club ' || i, 'scale', 'active', NULL, ${plan}, '2026-11', ${plan}, 0, 0, ${now}, ${now} FROM ${dialect.numbers(accounts)}`;
  const id = `'img_' || ${dialect.padded(`(i * ${SCATTER}) & 4294967295`, 24)}`;
  // Of a hundred images 90 are completed and 9 failed; only the newest few overall still wait.
  const state = `CASE WHEN i >= ${images - queued} THEN 'queued' WHEN i % 100 < 90 THEN 'completed' ELSE 'failed' END`;
  const when = (of: string, then: string, otherwise = "NULL") =>
    `CASE WHEN s = '${of}' THEN ${then} ELSE ${otherwise} END`;
  yield `INSERT INTO images (id, account_id, environment, state, type, external_id, player_name, request, source_sha256, turn, available_at, renders,
      failure_code, failure_message, output_name, output_width, output_height, output_content_type, output_bytes, created_at, updated_at, completed_at, expires_at)
    SELECT ${id}, 'acct_' || (${owner}), 'live', s, 'player_card', 'player-' || i, 'player ' || i, '${REQUEST}', ${dialect.padded("i", 64)}, i, 0, ${when("queued", "0", "1")},
      ${when("failed", "'IMAGE_PROCESSING_FAILED'")}, ${when("failed", "'No player was found.'")}, ${when("completed", `${id} || '-' || i || '.png'`)},
      1024, 1280, 'image/png', 1600000, t, t, ${when("queued", "NULL", "t + 2000")}, ${when("completed", "t + 2592000000")}
    FROM (SELECT i, ${state} AS s, ${now} - ((${images} - i) * ${30 * DAY_MS}) / ${images} AS t FROM ${dialect.numbers(images)}) AS rows`;
  // One value that all share, and one of each image's own.
  const metadata = (key: string, value: string) =>
    `INSERT INTO image_metadata SELECT id, account_id, environment, '${key}', ${value}, created_at FROM images`;
  yield metadata("season", "'2026'");
  yield metadata("crm", "substr(external_id, 8)");
  const number = (of: string) => `sum(CASE WHEN state = '${of}' THEN 1 ELSE 0 END)`;
  // The oldest images of the first account, at most as many as a batch can have.
  const cards = `SELECT id, state, created_at FROM images WHERE account_id = 'acct_0' AND completed_at IS NOT NULL
    ORDER BY created_at, id LIMIT ${Math.min(MAX_BATCH_CARDS, Math.ceil(images / 200))}`;
  yield `INSERT INTO batches (id, account_id, environment, name, fingerprint, total, completed, failed, canceled, created_at, updated_at, completed_at)
    SELECT 'bat_1', 'acct_0', 'live', 'Squad', '', count(*), ${number("completed")}, ${number("failed")}, 0, min(created_at), max(created_at), max(created_at) FROM (${cards}) AS cards`;
  yield `INSERT INTO batch_cards SELECT 'bat_1', row_number() OVER (ORDER BY created_at, id) - 1, id FROM (${cards}) AS cards`;
  yield* ledgerStatements(plan, now);
  yield `UPDATE accounts SET credits_plan = ${plan} - own.used, credits_held = own.held FROM (SELECT account_id, sum(CASE WHEN state = 'failed' THEN 0 ELSE 1 END) AS used,
    sum(CASE WHEN state = 'queued' THEN 1 ELSE 0 END) AS held FROM images GROUP BY account_id) AS own WHERE own.account_id = accounts.id`;
  yield `INSERT INTO usage_days (account_id, environment, day, requested, completed, failed, credits_used)
    SELECT account_id, 'live', ${dialect.dayOf("created_at")} AS day, count(*), ${number("completed")}, ${number("failed")}, ${number("completed")}
    FROM images GROUP BY account_id, ${dialect.dayOf("created_at")}`;
  yield* webhookStatements(now);
  yield `INSERT INTO idempotency_records SELECT account_id, 'live', 'key-' || id, ${dialect.padded("1", 64)}, id, '{"success":true,"data":{"image_id":"' || id || '"}}',
    created_at, created_at + 259200000 FROM images WHERE created_at > ${now} - 259200000`;
  yield* requestStatements();
}

/** The player that a quarter of all requests are about. */
export const COMMON_PLAYER = "player-common";

/**
 * A logged create for each image: one in twenty was refused, one in 100,000 failed with 500. And a consent
 * of every tenth player.
 */
function* requestStatements(): Generator<string> {
  const number = "CAST(substr(external_id, 8) AS INTEGER)";
  const status = `CASE WHEN n % 100000 = 20 THEN 500 WHEN n % 20 < 2 THEN 400 ELSE 202 END`;
  yield `INSERT INTO request_log (id, account_id, environment, key_id, method, path, status, code, duration_ms, external_id, created_at)
    SELECT 'req_' || substr(id, 5), account_id, 'live', 'key_1', 'POST', '${API_PATHS.images}', s, CASE s WHEN 400 THEN 'INVALID_REQUEST' WHEN 500 THEN 'INTERNAL_ERROR' END, 12,
      CASE WHEN n % 8 < 2 THEN '${COMMON_PLAYER}' ELSE external_id END, created_at
    FROM (SELECT id, account_id, external_id, created_at, n, ${status} AS s FROM (SELECT id, account_id, external_id, created_at, ${number} AS n FROM images) AS numbered) AS rows`;
  yield `INSERT INTO player_consents (account_id, external_id, no_photo, no_full_name, created_at, updated_at)
    SELECT account_id, external_id, 0, 0, created_at, created_at FROM images WHERE ${number} % 10 = 0`;
}

const REQUEST = JSON.stringify({
  type: "player_card",
  player: {
    name: "Maya Okafor",
    external_id: "x".repeat(20),
    source_image_url: "https://photos.example/".padEnd(120, "p"),
  },
  style: { preset: "club_card" },
});

function* ledgerStatements(plan: number, now: number): Generator<string> {
  const entry = (kind: string, select: string) =>
    `INSERT INTO ledger_entries SELECT ${select.replaceAll("KIND", `'${kind}'`)}`;
  const month = (id: string, period: string, amount: string, reason: string, at: number) =>
    `'${id}' || id, id, KIND, 'plan', '${period}', ${amount}, NULL, '${reason}', ${at} FROM accounts`;
  yield entry("grant", month("led_g", "2026-10", `${plan}`, "monthly plan credits", 0));
  yield entry("expire", month("led_e", "2026-10", `${plan}`, "plan credits do not roll over", 0));
  yield entry("grant", month("led_n", "2026-11", `${plan}`, "monthly plan credits", now));
  const of = "account_id, KIND, 'plan', '2026-11', 1, id, NULL, created_at FROM images";
  yield entry("reserve", `'led_r' || substr(id, 5), ${of}`);
  yield entry("settle", `'led_s' || substr(id, 5), ${of} WHERE state = 'completed'`);
  yield entry("release", `'led_l' || substr(id, 5), ${of} WHERE state = 'failed'`);
}

/** One endpoint per account; all but the last few events arrived at the first attempt. */
function* webhookStatements(now: number): Generator<string> {
  yield `INSERT INTO webhook_endpoints SELECT 'ep_' || id, id, 'live', 'https://hooks.example/' || id, NULL, 'v1.sealed', NULL, NULL,
    'enabled', NULL, NULL, NULL, ${now}, NULL, 0, 0 FROM accounts`;
  const result = `"result":{"image_url":"https://cards.example/cdn/' || output_name || '","width":1024,"height":1280,"content_type":"image/png"}`;
  yield `INSERT INTO webhook_events SELECT 'evt_' || substr(id, 5), account_id, environment, 'image.' || state, id,
      '{"type":"image.' || state || '","timestamp":"2026-11-15T12:00:00.000Z","environment":"live","data":{"image_id":"' || id || '","status":"' || state
      || CASE WHEN state = 'completed' THEN '",${result}' ELSE '","failure":{"code":"IMAGE_PROCESSING_FAILED"}' END || '}}', completed_at
    FROM images WHERE completed_at IS NOT NULL`;
  const ifPending = (then: string, otherwise: string) =>
    `CASE WHEN created_at > ${now} - 5000 THEN ${then} ELSE ${otherwise} END`;
  yield `INSERT INTO webhook_deliveries SELECT 'dlv_' || substr(id, 5), id, 'ep_' || account_id, account_id, environment, type,
      ${ifPending("'pending'", "'delivered'")}, ${ifPending("0", "1")}, ${ifPending("0", "1")}, ${ifPending("created_at", "NULL")}, NULL, NULL,
      created_at, created_at, ${ifPending("NULL", "created_at")} FROM webhook_events`;
  yield `INSERT INTO delivery_attempts SELECT id, 1, created_at, 80, 200, NULL, NULL FROM webhook_deliveries WHERE attempts = 1`;
}
