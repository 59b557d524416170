import { Database } from "bun:sqlite";
import { afterEach, expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { renewPlan, reserveCredit, topUpCredits } from "../../../src/app/credits/credits.ts";
import { finishImage } from "../../../src/app/images/finish-image.ts";
import { claimImage } from "../../../src/app/images/render-image.ts";
import { audit } from "../../../src/app/operations/audit/audit.ts";
import { sweep } from "../../../src/app/operations/sweep.ts";
import { changePlan, grantCredits } from "../../../src/app/people/manage-account.ts";
import { insertEntry, type LedgerEntry, ledgerPage } from "../../../src/store/credits/ledger.ts";
import { findAccount } from "../../../src/store/people/accounts.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { ENGINE } from "../../postgres.ts";
import { acceptLive } from "../accepting.ts";

let open: TestWorkspace[] = [];
afterEach(async () => {
  for (const workspace of open) await workspace.close();
  open = [];
});

async function workspace(): Promise<TestWorkspace> {
  const made = await testWorkspace();
  open.push(made);
  return made;
}

/** Another connection, as an operator with a database tool would have. */
function tool(w: TestWorkspace): Database {
  const db = new Database(w.folder.database);
  db.run("PRAGMA foreign_keys = ON");
  return db;
}

const entryOf = (accountId: string, change: Partial<LedgerEntry>): LedgerEntry => ({
  id: `led_${Math.random()}`,
  accountId,
  kind: "grant",
  bucket: "topup",
  period: "2026-11",
  amount: 1,
  imageId: null,
  reason: null,
  createdAt: 1,
  ...change,
});

async function balances(w: TestWorkspace, id: string) {
  const account = await findAccount(w.store.read, id);
  return [account?.creditsPlan, account?.creditsTopup, account?.creditsHeld];
}

async function kinds(w: TestWorkspace, id: string): Promise<string[]> {
  return (await ledgerPage(w.store.read, { accountId: id, limit: 100 }))
    .map((e) => `${e.kind} ${e.bucket} ${e.period} ${e.amount}`)
    .sort();
}

// What Postgres refuses is in test/store/engine/postgres.test.ts.
test.skipIf(ENGINE === "postgres")(
  "a ledger entry can be neither changed, deleted nor replaced, by whatever connection",
  async () => {
    const w = await workspace();
    const { account } = await testAccount(w, { credits: 3 });
    await acceptLive(w, account.id);
    const image = await claimImage(w, "live");
    if (!image) throw new Error("nothing to claim");
    const output = {
      name: "a-b.png",
      width: 1,
      height: 1,
      contentType: "image/png",
      bytes: 1,
      composition: "cutout" as const,
    };
    const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
    await finishImage(w, lease, { kind: "completed", output });
    const db = tool(w);
    expect(() => db.run("UPDATE ledger_entries SET amount = 9")).toThrow("immutable");
    expect(() => db.run("DELETE FROM ledger_entries")).toThrow("immutable");
    const before = db.query("SELECT * FROM ledger_entries ORDER BY id").all();
    // REPLACE deletes what is in its way without asking the triggers of deletes: by its id, or by what must
    // be single.
    const columns = ["id", "account_id", "kind", "bucket", "period", "amount", "image_id", "created_at"];
    for (const [column, value] of [
      ["amount", "amount + 6"],
      ["id", "id || 'x'"],
    ]) {
      const values = columns.map((name) => (name === column ? value : name));
      const replace = `INSERT OR REPLACE INTO ledger_entries (${columns}) SELECT ${values} FROM ledger_entries`;
      for (const kind of ["grant", "reserve", "settle"]) {
        expect(() => db.run(`${replace} WHERE kind = '${kind}'`)).toThrow(/immutable|CHECK/);
      }
    }
    expect(db.query("SELECT * FROM ledger_entries ORDER BY id").all()).toEqual(before);
    expect(before).toHaveLength(3);
    db.close();
  },
);

test("a reservation is resolved once, and only by an entry of its own image, account, bucket and month", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 2 });
  const other = await testAccount(w, { credits: 2 });
  const imageId = await acceptLive(w, account.id);
  const insert = (change: Partial<LedgerEntry>) =>
    w.store.write("test", (tx) =>
      insertEntry(tx, entryOf(account.id, { imageId, bucket: "plan", kind: "settle", ...change })),
    );
  await expect(insert({ accountId: other.account.id })).rejects.toThrow();
  await expect(insert({ bucket: "topup" })).rejects.toThrow();
  await expect(insert({ period: "2026-10" })).rejects.toThrow();
  await expect(insert({ amount: 2 })).rejects.toThrow();
  await expect(insert({ kind: "reserve" })).rejects.toThrow();
  await expect(insert({ kind: "expire" })).rejects.toThrow();
  await insert({});
  await expect(insert({})).rejects.toThrow();
  await expect(insert({ kind: "release" })).rejects.toThrow();
});

test("an entry has the shape of its kind", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 2 });
  const insert = (change: Partial<LedgerEntry>) =>
    w.store.write("test", (tx) => insertEntry(tx, entryOf(account.id, change)));
  await expect(insert({ amount: 0 })).rejects.toThrow();
  await expect(insert({ amount: -1 })).rejects.toThrow();
  await expect(insert({ kind: "refund" as "grant" })).rejects.toThrow();
  await expect(insert({ bucket: "gift" as "plan" })).rejects.toThrow();
  await expect(insert({ kind: "reserve" })).rejects.toThrow();
  await expect(insert({ kind: "expire", bucket: "topup" })).rejects.toThrow();
});

test("no balance goes below zero, even when the code is wrong", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 0 });
  for (const column of ["creditsPlan", "creditsTopup", "creditsHeld"] as const) {
    const wrong = w.store.write("test", async ({ db, t: { accounts: a } }) => {
      await db
        .update(a)
        .set({ [column]: sql`${a[column]} - 1` })
        .where(eq(a.id, account.id));
    });
    await expect(wrong).rejects.toThrow();
  }
});

test("the month's plan credits are granted once and last month's expire once, however often it is tried", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 5 });
  await acceptLive(w, account.id);
  w.clock.set("2026-12-01T00:00:00.000Z");
  await Promise.all([sweep(w), sweep(w), sweep(w)]);
  await w.store.write("test", (tx) => renewPlan(tx, account.id, { now: w.clock.now(), random: w.random }));
  expect(await kinds(w, account.id)).toEqual([
    "expire plan 2026-11 4",
    "grant plan 2026-11 5",
    "grant plan 2026-12 5",
    "reserve plan 2026-11 1",
  ]);
  expect(await balances(w, account.id)).toEqual([5, 0, 1]);
});

test("months are those of the UTC calendar, however long and whenever the account was made; a changed plan counts from the next", async () => {
  const w = await workspace();
  w.clock.set("2028-01-31T23:59:59.999Z");
  const { account } = await testAccount(w, { credits: 5 });
  const at = async (time: string) => {
    w.clock.set(time);
    await sweep(w);
    return (await balances(w, account.id))[0];
  };
  await changePlan(w, account.id, { tier: "scale", credits: 7 });
  expect(await at("2028-01-31T23:59:59.999Z")).toBe(5);
  expect(await at("2028-02-01T00:00:00.000Z")).toBe(7);
  await changePlan(w, account.id, { tier: "starter", credits: 3 });
  expect(await at("2028-02-29T23:59:59.999Z")).toBe(7);
  expect(await at("2028-03-01T00:00:00.000Z")).toBe(3);
  // Nobody looked for half a year: one month is granted, not six.
  await changePlan(w, account.id, { tier: "starter", credits: 4 });
  expect(await at("2028-12-31T23:59:59.999Z")).toBe(4);
  expect((await kinds(w, account.id)).filter((kind) => kind.startsWith("grant"))).toEqual([
    "grant plan 2028-01 5",
    "grant plan 2028-02 7",
    "grant plan 2028-03 3",
    "grant plan 2028-12 4",
  ]);
  expect((await audit(w.store, w.clock.now())).findings.filter(({ ok }) => !ok)).toEqual([]);
});

test("a clock that was set back grants nothing", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 5 });
  w.clock.set("2026-12-01T00:00:00.000Z");
  await sweep(w);
  w.clock.set("2026-11-30T23:59:59.000Z");
  await sweep(w);
  await acceptLive(w, account.id);
  w.clock.set("2026-12-01T00:00:01.000Z");
  await sweep(w);
  expect((await kinds(w, account.id)).filter((kind) => kind.startsWith("grant"))).toHaveLength(2);
  expect(await balances(w, account.id)).toEqual([4, 0, 1]);
});

test("a plan credit released after its month expires; a top-up comes back and stays", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 1 });
  await grantCredits(w, { accountId: account.id, amount: 1, reason: null });
  await acceptLive(w, account.id);
  await acceptLive(w, account.id);
  expect(await balances(w, account.id)).toEqual([0, 0, 2]);
  w.clock.set("2026-12-03T00:00:00.000Z");
  await sweep(w);
  for (let n = 0; n < 2; n++) {
    const image = await claimImage(w, "live");
    if (!image) throw new Error("nothing to claim");
    const lease = { imageId: image.id, token: image.leaseToken, renders: image.renders };
    await finishImage(w, lease, { kind: "refused", message: "no player", reason: "no_player" });
  }
  // The new month's plan credit and the top-up; November's credit is gone.
  expect(await balances(w, account.id)).toEqual([1, 1, 0]);
  expect((await kinds(w, account.id)).filter((kind) => kind.startsWith("expire"))).toEqual([
    "expire plan 2026-11 1",
  ]);
  w.clock.set("2027-02-01T00:00:00.000Z");
  await sweep(w);
  expect(await balances(w, account.id)).toEqual([1, 1, 0]);
});

test("plan credits are used before top-ups", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 1 });
  await grantCredits(w, { accountId: account.id, amount: 1, reason: null });
  await acceptLive(w, account.id);
  expect(await balances(w, account.id)).toEqual([0, 1, 1]);
});

test("a fault between balance and entry leaves neither", async () => {
  const w = await workspace();
  const { account } = await testAccount(w, { credits: 1 });
  const random = {
    ...w.random,
    id: () => {
      throw new Error("half way");
    },
  };
  const moment = { now: w.clock.now(), random };
  await expect(w.store.write("test", (tx) => reserveCredit(tx, account, "img_x", moment))).rejects.toThrow(
    "half way",
  );
  await expect(w.store.write("test", (tx) => topUpCredits(tx, account.id, 5, null, moment))).rejects.toThrow(
    "half way",
  );
  expect(await balances(w, account.id)).toEqual([1, 0, 0]);
});
