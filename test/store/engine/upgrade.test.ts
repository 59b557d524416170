import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { migrations } from "../../../db/migrations/sqlite/index.ts";
import { openSqliteStore } from "../../../src/store/engine/sqlite.ts";
import { type TestFolder, testFolder } from "../../harness.ts";

let folder: TestFolder;
beforeEach(() => {
  folder = testFolder();
});
afterEach(() => folder.remove());

const known = [...migrations];
afterEach(() => {
  migrations.splice(0, migrations.length, ...known);
});
const file = () => join(folder.dir, "cardpress.db");
const copies = () =>
  existsSync(join(folder.dir, "backups")) ? readdirSync(join(folder.dir, "backups")).sort() : [];
const next = { name: "9000_next", sql: "ALTER TABLE accounts ADD COLUMN colour TEXT" };

/** A database as the program of an earlier version wrote it, with an account. */
async function writtenBefore(last: number): Promise<void> {
  migrations.splice(0, migrations.length, ...known.slice(0, last));
  await openSqliteStore(file()).close();
  const db = new Database(file());
  db.run(
    "INSERT INTO accounts (id, name, tier, status, credit_limit, plan_period, credits_plan, credits_topup, credits_held, created_at, updated_at) VALUES ('acct_1', 'Rovers', 'starter', 'active', 5, '2026-11', 0, 0, 0, 1, 1)",
  );
  db.close();
  migrations.splice(0, migrations.length, ...known);
}

const schemaOf = (path: string) => {
  const db = new Database(path, { readonly: true });
  const names = db.query("SELECT name FROM schema_migrations ORDER BY name").values().flat();
  const accounts = db.query("SELECT name FROM accounts").values().flat();
  db.close();
  return { names, accounts };
};

for (let last = 1; last < known.length; last++) {
  test(`a database written before ${known[last]?.name} is upgraded, and was copied first`, async () => {
    await writtenBefore(last);
    expect(copies()).toEqual([]);
    await openSqliteStore(file()).close();
    expect(schemaOf(file())).toEqual({ names: known.map(({ name }) => name), accounts: ["Rovers"] });
    const [copy = ""] = copies();
    expect(copy).toStartWith(`before-migration-${known[last]?.name}-`);
    const path = join(folder.dir, "backups", copy);
    expect(schemaOf(path)).toEqual({
      names: known.slice(0, last).map(({ name }) => name),
      accounts: ["Rovers"],
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await openSqliteStore(file()).close();
    expect(copies()).toEqual([copy]);
  });
}

test("a new database is not copied, and of the copies the last three are kept", async () => {
  await openSqliteStore(file()).close();
  expect(copies()).toEqual([]);
  mkdirSync(join(folder.dir, "backups"), { recursive: true });
  for (const year of [2021, 2022, 2023])
    writeFileSync(join(folder.dir, "backups", `before-migration-0001_x-${year}0101T000000Z.sqlite`), "");
  writeFileSync(join(folder.dir, "backups", "mine.sqlite"), "");
  migrations.push(next);
  await openSqliteStore(file()).close();
  expect(copies().map((name) => name.slice(0, 27))).toEqual([
    "before-migration-0001_x-202",
    "before-migration-0001_x-202",
    "before-migration-9000_next-",
    "mine.sqlite",
  ]);
  expect(copies().join()).not.toContain("2021");
});

test("an upgrade that fails changes nothing, not even half, and leaves no copy", async () => {
  await writtenBefore(known.length);
  migrations.push(next, { name: "9001_broken", sql: "ALTER TABLE nowhere ADD COLUMN x TEXT" });
  expect(() => openSqliteStore(file())).toThrow("nowhere");
  expect(schemaOf(file()).names).toEqual(known.map(({ name }) => name));
  expect(copies()).toEqual([]);
});

test("a program between the two names the copy too, though other changes were made in the same upgrade", async () => {
  await writtenBefore(known.length);
  migrations.push(next, { name: "9001_more", sql: "ALTER TABLE accounts ADD COLUMN motto TEXT" });
  await openSqliteStore(file()).close();
  migrations.pop();
  const [copy = ""] = copies();
  expect(() => openSqliteStore(file())).toThrow(join(folder.dir, "backups", copy));
});

test("an older program refuses the database and names the copy, which takes it back", async () => {
  await writtenBefore(known.length);
  migrations.push(next);
  await openSqliteStore(file()).close();
  migrations.pop();
  const [copy = ""] = copies();
  const path = join(folder.dir, "backups", copy);
  expect(() => openSqliteStore(file())).toThrow(path);
  for (const suffix of ["-wal", "-shm"]) rmSync(file() + suffix, { force: true });
  await copyFile(path, file());
  await openSqliteStore(file()).close();
  expect(schemaOf(file())).toEqual({ names: known.map(({ name }) => name), accounts: ["Rovers"] });
});
