import { afterEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { claimImage, renderNextImage } from "../../../src/app/images/render-image.ts";
import { audit } from "../../../src/app/operations/audit/audit.ts";
import { StorageUnavailable, storageFault } from "../../../src/core/storage-unavailable.ts";
import { buildDeps } from "../../../src/service/deps.ts";
import { startServer } from "../../../src/service/server.ts";
import { openWorkspace } from "../../../src/service/workspace.ts";
import { openPostgresStore, type PostgresStore } from "../../../src/store/engine/postgres.ts";
import { acceptLive } from "../../app/accepting.ts";
import { busyPool, picturesAfter, poolOf } from "../../fakes.ts";
import {
  fakeClock,
  get,
  imageRequest,
  photoServer,
  post,
  seededRandom,
  silentLog,
  testAccount,
  testConfig,
  testFolder,
} from "../../harness.ts";
import { ENGINE, followClock, openTestPostgresStore, postgresUrl } from "../../postgres.ts";
import { silentProxy } from "../../silent-proxy.ts";

// Packets that are dropped, as by a firewall that forgets or a machine that vanishes: no error ever comes.

const DEADLINE_MS = 3_000;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A store whose connections go through a proxy; `direct` is another on the same database. */
async function open() {
  const name = `half-open ${crypto.randomUUID()}`;
  const direct = await openTestPostgresStore(name);
  closing.push(direct.close);
  const url = new URL(postgresUrl(name));
  const proxy = await silentProxy(Number(url.port));
  closing.push(proxy.close);
  url.port = String(proxy.port);
  const connect = async () => {
    const store = await openPostgresStore({ url: url.href, deadlineMs: DEADLINE_MS });
    closing.push(store.close);
    return store;
  };
  return { proxy, direct, connect };
}

const count = async ({ rawQuery }: PostgresStore) =>
  Number((await rawQuery("SELECT count(*) AS n FROM accounts", []))[0]?.n);

let accounts = 0;
const addAccount = (store: PostgresStore) =>
  store.write(
    "test",
    async ({ rawQuery }) => {
      await rawQuery?.(
        `INSERT INTO accounts (id, name, tier, status, credit_limit, plan_period, credits_plan, credits_topup, credits_held, created_at, updated_at)
         VALUES ($1, 'Rovers', 'starter', 'active', 5, '2026-11', 0, 0, 0, 1, 1)`,
        [`acct_${++accounts}`],
      );
    },
    { concurrent: true },
  );

/** What the service does of each kind at once. */
const everything = (store: PostgresStore, times: number) =>
  Promise.allSettled(
    Array.from({ length: times }, () => [
      store.read.db.select().from(store.read.t.accounts),
      store.rawQuery("SELECT 1", []),
      addAccount(store),
    ]).flat(),
  );
const failures = (outcomes: PromiseSettledResult<unknown>[]) =>
  outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [storageFault(outcome.reason) ?? outcome.reason] : [],
  );

describe.skipIf(ENGINE !== "postgres")("a network that goes silent", () => {
  test("connections that a firewall forgot cost each kind of work one failure, not one each", async () => {
    const { proxy, connect, direct } = await open();
    const store = await connect();
    expect(failures(await everything(store, 6))).toEqual([]);
    proxy.forgetConnections();
    const met = failures(await everything(store, 1));
    expect(met.map((reason) => reason instanceof StorageUnavailable)).toEqual([true, true, true]);
    // One after the other, as little work comes in at night.
    for (let n = 0; n < 4; n++) expect(failures(await everything(store, 1))).toEqual([]);
    expect(await count(direct)).toBe(6 + 4);
  });

  test("work that met the silence ends, and all of it goes on once packets pass again", async () => {
    const { proxy, connect, direct } = await open();
    const store = await connect();
    await everything(store, 3);
    proxy.isDead = true;
    proxy.forgetConnections();
    // More than there are connections, so that some wait for those that open new ones.
    const met = failures(await everything(store, 30));
    expect(met).toHaveLength(90);
    for (const reason of met) expect(reason).toBeInstanceOf(StorageUnavailable);
    proxy.isDead = false;
    expect(failures(await everything(store, 30))).toEqual([]);
    expect(await count(direct)).toBe(3 + 30);
  });

  test("a transaction whose COMMIT got no answer is reported as unknown, and is not done twice", async () => {
    const { proxy, connect, direct } = await open();
    const store = await connect();
    const sent = proxy.loseCommitAfter("INSERT INTO accounts");
    await expect(addAccount(store)).rejects.toThrow(StorageUnavailable);
    await sent;
    expect(await count(direct)).toBe(1);
    await addAccount(store);
    expect(await count(direct)).toBe(2);
  });

  test("a create whose COMMIT got no answer is a 503 to be tried again, and its key finds the image that was made", async () => {
    const { connect, proxy } = await open();
    const store = await connect();
    const folder = testFolder();
    closing.push(folder.remove);
    const photos = photoServer();
    closing.push(photos.stop);
    const config = testConfig(folder.dir, { CARDPRESS_SOURCE_ALLOWED_ORIGINS: photos.origin });
    const server = await startServer(config, silentLog, {
      openStore: () => ({ ...store, close: async () => {} }),
      createPool: () => busyPool,
    });
    closing.push(server.stop);
    const { liveKey } = await testAccount(server.service);
    const body = imageRequest({ player: { source_image_url: photos.url("astronaut.png") } });
    const create = () => post(server.config.baseUrl, liveKey, body, { "Idempotency-Key": "season-1" });
    // Of the create alone: the first sweep of a server, which deletes old records, may run beside it.
    const sent = proxy.loseCommitAfter('insert into "idempotency_records"');
    const lost = await create();
    await sent;
    expect([lost.status, Number(lost.headers.get("retry-after")) > 0]).toEqual([503, true]);
    const again = await create();
    expect(again.status).toBe(202);
    const { data } = (await again.json()) as { data: { image_id: string } };
    const list = await (await get(server.config.baseUrl, liveKey, "/v1/images")).json();
    expect(list.data.images.map(({ image_id }: { image_id: string }) => image_id)).toEqual([data.image_id]);
    const usage = await (await get(server.config.baseUrl, liveKey, "/v1/usage?period=current_month")).json();
    expect(usage.data).toMatchObject({ images_requested: 1, credits_remaining: 99 });
    expect((await audit(store, Date.now())).findings.filter(({ ok }) => !ok)).toEqual([]);
  });

  test("claim and end of a card whose COMMITs got no answer leave one card, made and charged once", async () => {
    const { connect, proxy } = await open();
    const folder = testFolder();
    closing.push(folder.remove);
    const clock = fakeClock();
    const store = await connect();
    const workspace = await openWorkspace(testConfig(folder.dir), silentLog, {
      clock,
      random: seededRandom(),
      openStore: () => followClock({ ...store, close: async () => {} }, clock),
    });
    const { account } = await testAccount(workspace, { credits: 5 });
    const id = await acceptLive(workspace, account.id);
    let renders = 0;
    const pool = poolOf(
      picturesAfter(async () => {
        renders += 1;
      }),
    );
    const render = () =>
      renderNextImage(buildDeps(workspace, { pool }), new AbortController().signal, () => {});

    const claimed = proxy.loseCommitAfter("lease_token");
    await expect(claimImage(workspace, "live")).rejects.toThrow(StorageUnavailable);
    await claimed;
    const ended = proxy.loseCommitAfter("webhook_events");
    await render();
    await ended;
    const { t, db } = workspace.store.read;
    const [image] = await db.select().from(t.images).where(eq(t.images.id, id));
    expect(image?.state).toBe("completed");
    expect(renders).toBe(1);
    const kinds = (await db.select().from(t.ledgerEntries)).map(({ kind }) => kind).sort();
    expect(kinds).toEqual(["grant", "reserve", "settle"]);
    expect(await db.select().from(t.webhookEvents)).toHaveLength(1);
    expect((await audit(workspace.store, clock.now())).findings.filter(({ ok }) => !ok)).toEqual([]);
  });
});
