import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { migrations } from "../../../db/migrations/sqlite/index.ts";
import { sqliteTables } from "../../../db/schema.ts";
import { migrate } from "../../../src/store/engine/migrate.ts";

const dir = join(import.meta.dir, "../../../db/migrations/sqlite");

test("a compiled binary carries every migration, in order", () => {
  const files = readdirSync(dir).filter((name) => name.endsWith(".sql"));
  expect(migrations.map(({ name }) => `${name}.sql`)).toEqual(files.sort());
});

test("the migrations give the tables of the schema: nothing is left to generate", async () => {
  const [newest] = readdirSync(join(dir, "meta"))
    .filter((name) => name.endsWith("_snapshot.json"))
    .sort()
    .reverse();
  const snapshot = await Bun.file(join(dir, "meta", newest ?? "")).json();
  expect(await generateSQLiteMigration(snapshot, await generateSQLiteDrizzleJson(sqliteTables))).toEqual([]);
});

test("of the people of an older version operators are trusted, and nobody else, until an operator's link is used", () => {
  const client = new Database(":memory:");
  client.run("CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT");
  for (const { name, sql } of migrations.slice(0, 3)) {
    for (const statement of sql.split("--> statement-breakpoint")) client.run(statement);
    client.query("INSERT INTO schema_migrations VALUES (?, 0)").run(name);
  }
  client.run(
    "INSERT INTO users VALUES ('usr_1', 'op@x', 'hash', 1, 0, NULL), ('usr_2', 'ana@x', 'hash', 0, 0, NULL)",
  );
  client.run("INSERT INTO setup_links VALUES ('t', 'usr_2', 0, 0, NULL)");
  expect(migrate(client)).toContain("0003_vouched_users");
  const users = client.query("SELECT id, is_vouched, password_hash FROM users ORDER BY id").values();
  expect(users).toEqual([
    ["usr_1", 1, "hash"],
    ["usr_2", 0, "hash"],
  ]);
  expect(client.query("SELECT is_vouched FROM setup_links").values()).toEqual([[0]]);
  client.close();
});

test("of an older version's images those that are not deleted are listed by their metadata", () => {
  const client = new Database(":memory:");
  client.run("CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT");
  const at = migrations.findIndex(({ name }) => name === "0015_image_lists");
  for (const { name, sql } of migrations.slice(0, at)) {
    for (const statement of sql.split("--> statement-breakpoint")) client.run(statement);
    client.query("INSERT INTO schema_migrations VALUES (?, 0)").run(name);
  }
  client.run(`INSERT INTO accounts (id, name, tier, status, credit_limit, plan_period, credits_plan, credits_topup, credits_held, created_at, updated_at)
    VALUES ('acct_1', 'Club', 'starter', 'active', 0, '2026-11', 0, 0, 0, 0, 0)`);
  const insert = client.query(`INSERT INTO images
    (id, account_id, environment, state, type, external_id, request, turn, available_at, renders, created_at, updated_at, forgotten_at)
    VALUES (?, 'acct_1', 'live', 'queued', 'player_card', '', ?, 0, 0, 0, 7, 7, ?)`);
  const long = "k".repeat(101);
  insert.run("img_1", JSON.stringify({ metadata: { season: "2026", "crm id": 'a"b', [long]: "x" } }), null);
  insert.run("img_2", JSON.stringify({ player: {} }), null);
  insert.run("img_3", JSON.stringify({ metadata: {} }), null);
  insert.run("img_4", "{}", 9);
  expect(migrate(client)).toContain("0015_image_lists");
  expect(client.query("SELECT * FROM image_metadata ORDER BY key").values()).toEqual([
    ["img_1", "acct_1", "live", "crm id", 'a"b', 7],
    ["img_1", "acct_1", "live", "season", "2026", 7],
  ]);
  client.close();
});
