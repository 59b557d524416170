import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { migrations } from "../../db/migrations/sqlite/index.ts";
import { sqliteTables } from "../../db/schema.ts";

const dir = join(import.meta.dir, "../../db/migrations/sqlite");

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
