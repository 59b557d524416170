import { afterEach, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { eq, sql } from "drizzle-orm";
import { migrations } from "../../../db/migrations/postgres/index.ts";
import * as exportsOfSchema from "../../../db/postgres-schema.ts";
import { postgresTables } from "../../../db/postgres-schema.ts";
import { OperatorError } from "../../../src/core/errors.ts";
import { withDeadlineBudget } from "../../../src/core/patience.ts";
import type { RawQuery } from "../../../src/core/ports.ts";
import { StorageUnavailable } from "../../../src/core/storage-unavailable.ts";
import { DAY_MS } from "../../../src/core/time.ts";
import { startServer } from "../../../src/service/server.ts";
import { openPostgresStore } from "../../../src/store/engine/postgres.ts";
import { findAccount, insertAccount } from "../../../src/store/people/accounts.ts";
import type { Store, Tx } from "../../../src/store/store.ts";
import { systemClock } from "../../../src/system/clock-file.ts";
import {
  silentLog,
  type TestWorkspace,
  testAccount,
  testConfig,
  testFolder,
  testWorkspace,
} from "../../harness.ts";
import { ENGINE, openTestPostgres, postgresUrl, tamper } from "../../postgres.ts";

const dir = join(import.meta.dir, "../../../db/migrations/postgres");

test("a compiled binary carries every migration of Postgres, in order", () => {
  const files = readdirSync(dir).filter((name) => name.endsWith(".sql"));
  expect(migrations.map(({ name }) => `${name}.sql`)).toEqual(files.sort());
});

test("the migrations of Postgres give the tables of the schema: nothing is left to generate", async () => {
  const [newest] = readdirSync(join(dir, "meta"))
    .filter((name) => name.endsWith("_snapshot.json"))
    .sort()
    .reverse();
  const snapshot = await Bun.file(join(dir, "meta", newest ?? "")).json();
  expect(await generateMigration(snapshot, generateDrizzleJson(postgresTables))).toEqual([]);
  // What is not named there drizzle-kit makes no migration for.
  expect(Object.keys(exportsOfSchema).toSorted()).toEqual(
    ["postgresTables", ...Object.keys(postgresTables)].toSorted(),
  );
});

test("a server that cannot be reached ends the start with the variable's name and the remedy", async () => {
  const opened = openPostgresStore({ url: "postgres://nobody@127.0.0.1:1/none" });
  await expect(opened).rejects.toThrow(OperatorError);
  await expect(opened).rejects.toThrow(/CARDPRESS_DATABASE_URL .* Look whether the server runs/);
});

describe.skipIf(ENGINE !== "postgres")("on Postgres", () => {
  let workspace: TestWorkspace;
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function open(): Promise<{ store: Store; accountId: string }> {
    workspace = await testWorkspace();
    closing.push(workspace.close);
    const { account } = await testAccount(workspace, { credits: 5 });
    return { store: workspace.store, accountId: account.id };
  }

  const addTopup = (accountId: string) => async (tx: Tx) => {
    const { accounts: a } = tx.t;
    await tx.db
      .update(a)
      .set({ creditsTopup: sql`${a.creditsTopup} + 1` })
      .where(eq(a.id, accountId));
  };
  const topup = async (store: Store, id: string) => (await findAccount(store.read, id))?.creditsTopup;
  /** Ends the connections of the service from the server's side. */
  async function cutConnections() {
    const client = new SQL(postgresUrl(workspace.folder.database), { max: 1 });
    await client.unsafe(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    await client.close();
  }

  test("a ledger entry can be neither changed, deleted nor emptied away, by whatever connection", async () => {
    const { store, accountId } = await open();
    const e = (tx: Tx) => tx.t.ledgerEntries;
    await expect(
      store.write("test", async (tx) => void (await tx.db.update(e(tx)).set({ amount: 9 }))),
    ).rejects.toThrow();
    await expect(store.write("test", async (tx) => void (await tx.db.delete(e(tx))))).rejects.toThrow();
    await expect(runOn(store, "TRUNCATE ledger_entries")).rejects.toMatchObject({
      message: expect.stringContaining("immutable"),
    });
    expect((await findAccount(store.read, accountId))?.creditsPlan).toBe(5);
  });

  test("what reads refuses to write", async () => {
    const { store, accountId } = await open();
    await expect(addTopup(accountId)(store.read)).rejects.toThrow();
    expect(await topup(store, accountId)).toBe(0);
  });

  test("a transaction that throws leaves nothing, also after its first changes", async () => {
    const { store, accountId } = await open();
    const failing = store.write("test", async (tx) => {
      await addTopup(accountId)(tx);
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await topup(store, accountId)).toBe(0);
  });

  test("an error that the work swallows does not become a silent rollback", async () => {
    const { store, accountId } = await open();
    const swallowing = store.write("test", async (tx) => {
      await addTopup(accountId)(tx);
      const account = await findAccount(tx, accountId);
      if (account) await insertAccount(tx, { ...account, creditsPlan: -1, id: "acct_x" }).catch(() => {});
    });
    await expect(swallowing).rejects.toThrow();
    expect(await topup(store, accountId)).toBe(0);
  });

  test("a connection that is lost within a transaction takes nothing of it to another one: it is done anew, once", async () => {
    const { store, accountId } = await open();
    let tries = 0;
    await store.write("test", async (tx) => {
      tries++;
      await addTopup(accountId)(tx);
      if (tries === 1) await cutConnections();
      await addTopup(accountId)(tx);
    });
    expect(tries).toBe(2);
    expect(await topup(store, accountId)).toBe(2);
  });

  test("reads go on when every connection was cut", async () => {
    const { store, accountId } = await open();
    expect(await topup(store, accountId)).toBe(0);
    await cutConnections();
    expect(await topup(store, accountId)).toBe(0);
  });

  test("a key that somebody else was writing is found by the second, which runs again", async () => {
    const { store, accountId } = await open();
    const account = await findAccount(store.read, accountId);
    if (!account) throw new Error("no account");
    let tries = 0;
    const writes = [1, 2, 3].map(() =>
      store.write(
        "test",
        async (tx) => {
          tries++;
          if (await findAccount(tx, "acct_new")) return "found";
          await insertAccount(tx, { ...account, id: "acct_new" });
          return "written";
        },
        { concurrent: true },
      ),
    );
    expect((await Promise.all(writes)).toSorted()).toEqual(["found", "found", "written"]);
    expect(tries).toBeGreaterThanOrEqual(3);
  });

  test("what is not allowed side by side runs alone: a count and the write that rests on it are one", async () => {
    const { store, accountId } = await open();
    await Promise.all(
      [...Array(20)].map(() =>
        store.write("test", async (tx) => {
          const now = (await findAccount(tx, accountId))?.creditsTopup ?? 0;
          await tx.db
            .update(tx.t.accounts)
            .set({ creditsTopup: now + 1 })
            .where(eq(tx.t.accounts.id, accountId));
        }),
      ),
    );
    expect(await topup(store, accountId)).toBe(20);
  });

  test("a server that gives no answer is a store out of order, within the deadline, and well again after", async () => {
    const { store: other, accountId } = await open();
    await other.read.db.select().from(other.read.t.accounts);
    const store = await openPostgresStore({ url: postgresUrl(workspace.folder.database), deadlineMs: 1_000 });
    closing.push(store.close);
    // A row that is never released looks like a frozen server to those who wait for it.
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const holder = other.write("test", async (tx) => {
      await addTopup(accountId)(tx);
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await expect(store.write("test", addTopup(accountId))).rejects.toThrow(StorageUnavailable);
    held.resolve();
    await holder;
    await store.write("test", addTopup(accountId));
    expect(await topup(store, accountId)).toBe(2);
  });

  test("a process that stands still while it writes keeps no other from writing, whatever both write", async () => {
    const { store: still, accountId } = await open();
    const { account: other } = await testAccount(workspace, { credits: 5 });
    const store = await openPostgresStore({ url: postgresUrl(workspace.folder.database), deadlineMs: 1_000 });
    closing.push(store.close);
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const holder = still.write("test", async (tx) => {
      await addTopup(accountId)(tx);
      begun.resolve();
      await held.promise;
    });
    await begun.promise;
    await store.write("test", addTopup(other.id));
    await store.write("test", addTopup(other.id), { concurrent: true });
    // What /ready asks.
    await store.write("test", async () => {});
    expect(await topup(store, other.id)).toBe(2);
    held.resolve();
    await holder;
    expect(await topup(store, accountId)).toBe(1);
  });

  test("what a process that stands still has changed others may change soon, and it finds its own undone", async () => {
    const { store, accountId } = await open();
    const held = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    let tries = 0;
    const holder = store.write(
      "test",
      async (tx) => {
        await addTopup(accountId)(tx);
        begun.resolve();
        if (tries++ === 0) await held.promise;
      },
      { concurrent: true },
    );
    await begun.promise;
    // Resolves because the server ends the other one.
    await store.write("test", addTopup(accountId), { concurrent: true });
    expect(await topup(store, accountId)).toBe(1);
    held.resolve();
    await holder;
    expect(tries).toBe(2);
    expect(await topup(store, accountId)).toBe(2);
  });

  test("queries of one request that get no answer share its time, also when one swallowed its error", async () => {
    const { accountId } = await open();
    const url = postgresUrl(workspace.folder.database);
    const store = await openPostgresStore({ url, deadlineMs: 60_000 });
    closing.push(store.close);
    const locker = new SQL(url, { max: 1 });
    const held = await locker.reserve();
    await held.unsafe("BEGIN; LOCK accounts IN ACCESS EXCLUSIVE MODE");
    const released = Promise.withResolvers<void>();
    let leftRunning: Promise<unknown> | undefined;
    const request = withDeadlineBudget(300, async () => {
      leftRunning = released.promise.then(() => topup(store, accountId));
      await findAccount(store.read, accountId).catch(() => {});
      await store.write("test", addTopup(accountId));
    });
    await expect(request).rejects.toThrow(StorageUnavailable);
    await held.unsafe("ROLLBACK");
    released.resolve();
    // Nothing half made; and what outlives the request has the store's own time again.
    expect(await leftRunning).toBe(0);
    held.release();
    await locker.close();
  });

  test("a database that a newer version wrote is refused", async () => {
    await open();
    await tamper(workspace.folder.database, "INSERT INTO schema_migrations VALUES ('9999_later', 0)");
    const opened = openPostgresStore({ url: postgresUrl(workspace.folder.database) });
    await expect(opened).rejects.toThrow(/newer cardpress \(it has the migration 9999_later\)/);
  });

  test("a server that was starting while a newer version changed the tables does not begin to serve", async () => {
    const folder = testFolder();
    const starting = startServer(testConfig(folder.dir), silentLog, {
      openStore: async (file, options) => {
        const store = await openTestPostgres()(file, options);
        await tamper(file, "INSERT INTO schema_migrations VALUES ('9999_later', 0)");
        return store;
      },
    });
    await expect(starting).rejects.toThrow(/newer cardpress \(it has the migration 9999_later\)/);
    await folder.remove();
  });

  test("a server whose clock is 35 days ahead of the database's does not begin to serve", async () => {
    const folder = testFolder();
    const clock = { ...systemClock, now: () => Date.now() + 35 * DAY_MS };
    const starting = startServer(testConfig(folder.dir), silentLog, { openStore: openTestPostgres(), clock });
    await expect(starting).rejects.toThrow(
      /clock of this machine is 30\d\d\d\d\d[\d.]* seconds ahead of the database's/,
    );
    await folder.remove();
  });

  test("as many connections are opened as were asked for, whatever is asked at once", async () => {
    await open();
    const url = postgresUrl(workspace.folder.database);
    const admin = new SQL(url, { max: 1 });
    const all = async (): Promise<number[]> => {
      const rows = await admin.unsafe(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'cardpress'",
      );
      return rows.map(({ pid }: { pid: number }) => pid);
    };
    for (const connections of [5, 20]) {
      const before = await all();
      const store = await openPostgresStore({ url, connections });
      const held = Promise.withResolvers<void>();
      const writes = Array.from({ length: 40 }, () =>
        store.write("test", async () => held.promise, { concurrent: true }),
      );
      const sleep = (rawQuery: RawQuery | undefined) => rawQuery?.("SELECT pg_sleep(0.02)", []);
      await Promise.all(
        Array.from({ length: 40 }, () => [sleep(store.read.rawQuery), sleep(store.rawQuery)]).flat(),
      );
      const opened = (await all()).filter((pid) => !before.includes(pid));
      expect(opened.length).toBe(connections);
      held.resolve();
      await Promise.all(writes);
      await store.close();
    }
    await admin.close();
  });

  test("a statement that takes its time has it, and leaves the others their limit", async () => {
    await open();
    const store = await openPostgresStore({ url: postgresUrl(workspace.folder.database), connections: 5 });
    closing.push(store.close);
    await store.withoutTimeout(
      "CREATE TABLE limits AS SELECT current_setting('statement_timeout') AS ms",
      300_000,
    );
    expect(await store.rawQuery("SELECT ms FROM limits", [])).toEqual([{ ms: "5min" }]);
    const now = await Promise.all(
      [1, 2, 3].map(() =>
        store.write("test", (tx) => tx.rawQuery?.("SHOW statement_timeout", []) ?? Promise.resolve([])),
      ),
    );
    expect(now).toEqual([1, 2, 3].map(() => [{ statement_timeout: "8s" }]));
  });

  test("what deletions left is vacuumed while others use the tables, rewrites none, and not again for hours", async () => {
    const { store } = await open();
    const beside = new SQL(postgresUrl(workspace.folder.database), { max: 1 });
    closing.push(() => beside.close({ timeout: 0 }));
    const files = () =>
      beside.unsafe("SELECT relname, relfilenode FROM pg_class WHERE relkind IN ('r', 't') ORDER BY relname");
    const before = await files();
    // A rewrite needs each table alone, and would wait for this one.
    await beside.unsafe("BEGIN");
    await beside.unsafe("SELECT id FROM images FOR UPDATE");
    expect(await store.erase({ maxBytes: 0 })).toBe(true);
    expect(await store.erase({ maxBytes: Number.MAX_SAFE_INTEGER })).toBe(false);
    await beside.unsafe("COMMIT");
    expect(await files()).toEqual(before);
    const vacuumed = await beside.unsafe(
      "SELECT relname FROM pg_stat_user_tables WHERE last_vacuum IS NOT NULL ORDER BY relname",
    );
    expect(vacuumed.map(({ relname }: { relname: string }) => relname)).toContain("webhook_events");
  });

  test("tables are not changed while others serve from them", async () => {
    const { store } = await open();
    const { database } = workspace.folder;
    await tamper(
      database,
      "DROP TABLE sealing_key",
      "DELETE FROM schema_migrations WHERE name = '0004_sealing_key'",
    );
    await workspace.nodes.beat({ workers: 1, renderMs: 1 });
    const start = () => openPostgresStore({ url: postgresUrl(database) });
    await expect(start()).rejects.toThrow(
      new RegExp(`others serve from: ${workspace.node} \\(.*Stop them all, then start this version`),
    );
    expect(await store.rawQuery?.("SELECT to_regclass('sealing_key') AS t", [])).toEqual([{ t: null }]);
    await workspace.nodes.strike(workspace.node);
    closing.push((await start()).close);
    expect(await store.rawQuery?.("SELECT to_regclass('sealing_key')::text AS t", [])).toEqual([
      { t: "sealing_key" },
    ]);
  });

  test("many that start at once on an empty database make its tables once", async () => {
    await open();
    await tamper(workspace.folder.database, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public");
    const url = postgresUrl(workspace.folder.database);
    const stores = await Promise.all([1, 2, 3, 4].map(() => openPostgresStore({ url })));
    closing.push(...stores.map((store) => store.close));
    expect(await stores[0]?.read.db.select().from(stores[0].read.t.accounts)).toEqual([]);
  });

  test("a NUL finds nothing, and is refused in words where it should be stored", async () => {
    const { store, accountId } = await open();
    const account = await findAccount(store.read, accountId);
    if (!account) throw new Error("no account");
    expect(await findAccount(store.read, "acct_\0")).toBeUndefined();
    const stored = store.write("test", (tx) => insertAccount(tx, { ...account, id: "acct_y", name: "a\0b" }));
    await expect(stored).rejects.toThrow(/holds a NUL character.* Leave it out/);
  });

  test("texts have the order of their bytes, and JSON keeps what SQLite keeps", async () => {
    const { store, accountId } = await open();
    const account = await findAccount(store.read, accountId);
    if (!account) throw new Error("no account");
    for (const id of ["acct_b", "acct_B", "acct_é"])
      await store.write("test", (tx) => insertAccount(tx, { ...account, id }));
    const a = store.read.t.accounts;
    const ids = (await store.read.db.select({ id: a.id }).from(a).orderBy(a.id)).map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted());
    const receipt = { z: "\0", a: ["\ud800", "é", null] };
    const id = "img_1";
    await tamper(
      workspace.folder.database,
      "ALTER TABLE image_receipts DROP CONSTRAINT image_receipts_image_id_images_id_fk",
    );
    await store.write("test", async (tx) => {
      await tx.db.insert(tx.t.imageReceipts).values({ imageId: id, receipt });
    });
    const [row] = await store.read.db.select().from(store.read.t.imageReceipts);
    expect(JSON.stringify(row?.receipt)).toBe(JSON.stringify(receipt));
  });

  const runOn = (store: Store, statement: string) =>
    store.write("test", async ({ db }) => {
      await (db as unknown as { execute(query: unknown): Promise<unknown> })
        .execute(sql.raw(statement))
        .catch((error: Error) => {
          throw error.cause ?? error;
        });
    });
});
