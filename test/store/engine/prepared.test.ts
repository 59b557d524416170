import { afterAll, beforeAll, expect, test } from "bun:test";
import { asc, count, eq, isNotNull, sql } from "drizzle-orm";
import type { PreparedQuery } from "../../../src/store/engine/map-rows.ts";
import { type Parameters, prepared } from "../../../src/store/engine/prepared.ts";
import type { Tx } from "../../../src/store/store.ts";
import { acceptLive } from "../../app/accepting.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";

let workspace: TestWorkspace;
let accountId: string;
beforeAll(async () => {
  workspace = await testWorkspace();
  ({
    account: { id: accountId },
  } = await testAccount(workspace));
  for (const name of ["Maya Okafor", "Zoë Ångström"]) await acceptLive(workspace, accountId, { name });
});
afterAll(() => workspace.close());

/** What every kind of column is selected by somewhere: plain, JSON, null, computed, mapped and named. */
function everyKind({ db, t: { images: i } }: Tx, account: unknown) {
  return db
    .select({
      id: i.id,
      request: i.request,
      completedAt: i.completedAt,
      createdAt: i.createdAt,
      doubled: sql<string>`${i.externalId} || ${i.externalId}`,
      known: sql<boolean>`${i.createdAt}`.mapWith(Boolean),
      named: sql<string>`${i.playerName}`.as("player_shown"),
    })
    .from(i)
    .where(eq(i.accountId, account as string))
    .orderBy(asc(i.id));
}

test("a kept query returns what the same query built anew does, whatever it selects", async () => {
  const { read } = workspace.store;
  const kept = prepared("test of every kind", (tx, { id }: Parameters<{ id: string }>) => everyKind(tx, id));
  const anew = await everyKind(read, accountId);
  const [one] = anew;
  expect(anew).toHaveLength(2);
  expect(one).toMatchObject({ completedAt: null, known: true, request: { player: {} } });
  expect(await kept(read, { id: accountId })).toEqual(anew);
  expect(await kept(read, { id: accountId })).toEqual(anew);
  expect(await kept(read, { id: "nobody" })).toEqual([]);
});

test("a kept query of counts, of a subquery and of joined tables returns what one built anew does", async () => {
  const { read } = workspace.store;
  const counted = ({ db, t: { images: i } }: Tx) =>
    db.select({ n: count(), failed: count(i.failureCode) }).from(i);
  const inner = ({ db, t: { images: i } }: Tx) => {
    const own = db.select({ id: i.id, request: i.request }).from(i).where(isNotNull(i.request)).as("own");
    return db.select().from(own).orderBy(asc(own.id));
  };
  const joined = ({ db, t: { accounts: a, images: i } }: Tx) =>
    db.select({ account: a, image: i }).from(i).innerJoin(a, eq(a.id, i.accountId)).orderBy(asc(i.id));
  for (const [name, build] of Object.entries({ counted, inner, joined })) {
    const anew: unknown = await build(read);
    expect(anew).toHaveProperty("0");
    expect(await prepared<object, unknown>(`test of ${name}`, build)(read, {})).toEqual(anew);
  }
});

test("Drizzle says what a query selects and leaves its rows to a mapper, by the unpublished names that kept queries rest on", async () => {
  const { db, t } = workspace.store.read;
  const query = db.select({ id: t.images.id }).from(t.images);
  const made = (query as unknown as { prepare(name: string): PreparedQuery<object, unknown> }).prepare("own");
  expect(made.fields).toMatchObject([{ path: ["id"], field: t.images.id }]);
  made.customResultMapper = (rows) => ({ mapped: rows.length });
  expect(await made.execute({})).toEqual({ mapped: 2 });
});
