import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { chmodSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableConfig } from "drizzle-orm/pg-core";
import { postgresKit } from "../../../db/postgres-kit.ts";
import { defineTables } from "../../../db/schema.ts";
import { blobPath } from "../../../src/blobs/folder-blobs.ts";
import { OperatorError } from "../../../src/core/errors.ts";
import { rewriteCommand } from "../../../src/service/system.ts";
import { openWorkspace } from "../../../src/service/workspace.ts";
import { openSqliteStore } from "../../../src/store/engine/sqlite.ts";
import { findAccount, listAccounts, setAccountStatus } from "../../../src/store/people/accounts.ts";
import { writeWhole } from "../../../src/system/write-whole.ts";
import {
  silentLog,
  type TestFolder,
  testAccount,
  testConfig,
  testFolder,
  testWorkspace,
} from "../../harness.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function workspace() {
  const made = await testWorkspace();
  cleanups.push(made.close);
  return made;
}

function folder(): TestFolder {
  const made = testFolder();
  cleanups.push(made.remove);
  return made;
}

test("a write that throws after awaiting leaves nothing behind", async () => {
  const { store, clock, random } = await workspace();
  const { account } = await testAccount({ store, clock, random });
  const attempt = store.write("test", async (tx) => {
    await setAccountStatus(tx, account.id, { status: "suspended", reason: "x", now: 1 });
    await Promise.resolve();
    throw new Error("half way");
  });
  await expect(attempt).rejects.toThrow("half way");
  expect((await findAccount(store.read, account.id))?.status).toBe("active");
});

test("writes that wait for another process's lock give up together, not one after the other", async () => {
  const file = join(folder().dir, "x.db");
  const patienceMs = 500;
  const store = openSqliteStore(file, { patienceMs });
  const beside = openSqliteStore(file, { patienceMs });
  const other = new Database(file);
  other.run("BEGIN IMMEDIATE");
  const order: string[] = [];
  const writes = Array.from({ length: 20 }, (_, n) =>
    store.write("test", async () => n).catch((error) => void order.push(error.name)),
  );
  // One that begins to wait at the first one's end gives up after the last of them.
  await Promise.race(writes);
  await beside.write("test", async () => 20).catch(() => order.push("beside"));
  expect(order).toEqual([...Array(20).fill("StorageUnavailable"), "beside"]);
  // What comes later is not refused for that, but waits in turn.
  const later = store.write("test", async () => "written");
  other.run("COMMIT");
  expect(await later).toBe("written");
  other.close();
  await beside.close();
  await store.close();
});

test("a database that was moved away or replaced takes no more writes until it is back, and reads go on", async () => {
  const { store, folder: data, clock, random } = await workspace();
  const { account } = await testAccount({ store, clock, random });
  const write = () => store.write("test", async () => "written").catch((error) => error.name);
  const away = `${data.database}-away`;
  renameSync(data.database, away);
  expect(await write()).toBe("StorageUnavailable");
  writeFileSync(data.database, "");
  expect(await write()).toBe("StorageUnavailable");
  expect(store.problem()).toContain(`${data.database} is not the file any more`);
  expect((await findAccount(store.read, account.id))?.id).toBe(account.id);
  renameSync(away, data.database);
  expect(store.problem()).toBeNull();
  expect(await write()).toBe("written");
});

test("an empty or missing database beside pictures is refused with what to do; a new installation is none", async () => {
  const made = testFolder();
  cleanups.push(made.remove);
  const config = testConfig(made.dir);
  const { store, folder: data } = await openWorkspace(config, silentLog);
  await store.close();
  for (const damage of [() => rmSync(data.database), () => writeFileSync(data.database, "")]) {
    damage();
    // Nothing is there yet that could be lost.
    await (await openWorkspace(config, silentLog)).store.close();
  }
  await writeWhole(blobPath(data, "picture", "img_1-x.png"), "picture");
  for (const damage of [() => rmSync(data.database), () => writeFileSync(data.database, "")]) {
    damage();
    await expect(openWorkspace(config, silentLog)).rejects.toThrow(
      /There are pictures in .* Put the right one back/,
    );
  }
  expect(statSync(data.database).size).toBe(0);
});

test("writes started together run one after the other", async () => {
  const { store } = await workspace();
  const seen: string[] = [];
  await Promise.all(
    [1, 2, 3].map((n) =>
      store.write("test", async () => {
        seen.push(`${n} in`);
        await Promise.resolve();
        seen.push(`${n} out`);
      }),
    ),
  );
  expect(seen).toEqual(["1 in", "1 out", "2 in", "2 out", "3 in", "3 out"]);
});

test("reads never see a write before its commit, and the reader cannot write", async () => {
  const { store, clock, random } = await workspace();
  const { account } = await testAccount({ store, clock, random });
  await store.write("test", async (tx) => {
    await setAccountStatus(tx, account.id, { status: "suspended", reason: null, now: 1 });
    expect((await findAccount(store.read, account.id))?.status).toBe("active");
  });
  expect((await findAccount(store.read, account.id))?.status).toBe("suspended");
  const sneaky = async () =>
    setAccountStatus(store.read, account.id, { status: "active", reason: null, now: 2 });
  await expect(sneaky()).rejects.toThrow();
});

test("another process's write lock is waited for without losing the write", async () => {
  const { store, folder: data } = await workspace();
  const other = new Database(data.database);
  other.run("BEGIN IMMEDIATE");
  let committed = false;
  const write = store
    .write("test", async () => {})
    .then(() => {
      committed = true;
    });
  await new Promise((resolve) => setImmediate(resolve));
  expect(committed).toBe(false);
  other.run("COMMIT");
  await write;
  expect(committed).toBe(true);
  other.close();
});

test("a large database is rewritten by another process: deleted rows leave its file, and reading goes on", async () => {
  const file = join(folder().dir, "x.db");
  const store = openSqliteStore(file, { rewriteCommand: rewriteCommand() });
  const beside = new Database(file);
  beside.run("CREATE TABLE heap (id INTEGER PRIMARY KEY, text TEXT)");
  const insert = beside.query("INSERT INTO heap (text) VALUES (?)");
  beside.transaction(() => {
    for (let row = 0; row < 40; row++) insert.run(`row ${row} `.repeat(100_000));
  })();
  // A free page keeps its place in the file until the file is written anew.
  beside.run("DELETE FROM heap WHERE id > 35");
  const bytes = () => statSync(file).size;
  beside.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const before = bytes();
  expect(await store.erase({ maxBytes: 1 })).toBe(false);
  let reads = 0;
  let isDone = false;
  const erased = store.erase({ maxBytes: Number.MAX_SAFE_INTEGER }).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await listAccounts(store.read);
    await Bun.sleep(0);
    reads += 1;
  }
  expect(await erased).toBe(true);
  expect(reads).toBeGreaterThan(10);
  expect(bytes()).toBeLessThan(before);
  expect(await store.write("test", async () => "written")).toBe("written");
  beside.close();
  await store.close();
});

test("every commit is synced, foreign keys hold, and the log is a WAL", () => {
  const { dir } = folder();
  const store = openSqliteStore(join(dir, "x.db"));
  const pragma = (name: string) => {
    // Drizzle keeps the bun:sqlite connection it was given as $client.
    const { $client } = store.read.db as unknown as { $client: Database };
    return Object.values($client.query(`PRAGMA ${name}`).get() as object)[0];
  };
  expect([pragma("synchronous"), pragma("foreign_keys"), pragma("journal_mode")]).toEqual([2, 1, "wal"]);
  return store.close();
});

test("nobody but its user can read a new database, its log and its index, in a folder open to all", async () => {
  const { dir } = folder();
  chmodSync(dir, 0o755);
  const store = openSqliteStore(join(dir, "x.db"));
  const modes = ["x.db", "x.db-wal", "x.db-shm"].map((name) => statSync(join(dir, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600, 0o600]);
  await store.close();
});

test("a file that is no database is refused with what to do", () => {
  const { dir } = folder();
  writeFileSync(join(dir, "x.db"), "this is no database, but long enough to be looked at".repeat(100));
  expect(() => openSqliteStore(join(dir, "x.db"))).toThrow(OperatorError);
  expect(() => openSqliteStore(join(dir, "x.db"))).toThrow(/restore/);
});

test("a database of a newer version is refused by name", async () => {
  const { dir } = folder();
  const file = join(dir, "x.db");
  await openSqliteStore(file).close();
  const raw = new Database(file);
  raw.run("INSERT INTO schema_migrations (name, applied_at) VALUES ('9999_future', 1)");
  raw.close();
  expect(() => openSqliteStore(file)).toThrow(/9999_future/);
});

test("opening twice migrates once and keeps what is there", async () => {
  const made = await workspace();
  await testAccount(made);
  const again = openSqliteStore(made.folder.database, { verify: true });
  expect(await listAccounts(again.read)).toHaveLength(1);
  await again.close();
});

test("the Postgres kit gives the same tables with Postgres types", () => {
  const tables = defineTables(postgresKit);
  const { name, columns, indexes, checks } = getTableConfig(tables.images as never);
  expect(name).toBe("images");
  expect(columns.find((c) => c.name === "created_at")?.getSQLType()).toBe("bigint");
  expect(columns.find((c) => c.name === "request")?.getSQLType()).toBe("text");
  expect(indexes.length).toBeGreaterThan(4);
  expect(checks.length).toBe(4);
});
