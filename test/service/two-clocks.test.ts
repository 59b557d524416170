import { afterEach, expect, test } from "bun:test";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { claimImage, leaseOf } from "../../src/app/images/render-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { requeueAbandoned, sweep } from "../../src/app/operations/sweep.ts";
import { IDEMPOTENCY_RETENTION_MS, LEASE_MS } from "../../src/core/limits.ts";
import { SECOND_MS } from "../../src/core/time.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { ledgerPage } from "../../src/store/credits/ledger.ts";
import { acceptLive } from "../app/accepting.ts";
import { ampleQueue, idlePool, readySources } from "../fakes.ts";
import { fakeClock, imageRequest, type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";
import { ENGINE, openTestPostgresStore } from "../postgres.ts";

// Servers on one database whose clocks differ, by less than operators are asked to keep them within.

const AHEAD_MS = 3 * SECOND_MS;
const onPostgres = test.if(ENGINE === "postgres");
const output = { width: 1, height: 1, contentType: "image/png", bytes: 1, composition: "cutout" as const };

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Three servers, each with connections of its own; the second one's clock is ahead. */
async function start(iso: string): Promise<TestWorkspace[]> {
  const first = await testWorkspace({ clock: fakeClock(iso) });
  closing.push(first.close);
  const other = async (aheadMs: number): Promise<TestWorkspace> => {
    const store = await openTestPostgresStore(first.folder.database);
    closing.push(store.close);
    return { ...first, store, clock: { ...first.clock, now: () => first.clock.now() + aheadMs } };
  };
  return [first, await other(AHEAD_MS), await other(0)];
}

onPostgres(
  "at a month's end several servers grant and expire once, though one is there before the others and cards are accepted",
  async () => {
    const servers = await start("2026-11-30T23:59:58.000Z");
    const [first] = servers as [TestWorkspace];
    const accounts = await Promise.all(
      Array.from({ length: 5 }, async () => (await testAccount(first, { credits: 10 })).account.id),
    );
    // Before the end by two clocks and after it by one; then after it by all.
    for (let turn = 0; turn < 2; turn++) {
      await Promise.all([
        ...servers.map((server) => sweep(server)),
        ...accounts.flatMap((id) => servers.map((server) => acceptLive(server, id))),
      ]);
      first.clock.advance(AHEAD_MS);
    }
    for (const id of accounts) {
      const entries = await ledgerPage(first.store.read, { accountId: id, limit: 99 });
      const of = (kind: string) => entries.filter((entry) => entry.kind === kind).map(({ period }) => period);
      expect([of("grant").toSorted(), of("expire")]).toEqual([["2026-11", "2026-12"], ["2026-11"]]);
      expect(of("reserve").length).toBe(6);
    }
    const { findings } = await audit(first.store, first.clock.now());
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  },
);

onPostgres("a lease of one is no other's to take while it lasts, whichever clock is ahead", async () => {
  const servers = await start("2026-11-15T12:00:00.000Z");
  const [first, ahead] = servers as [TestWorkspace, TestWorkspace];
  const { account } = await testAccount(first, { credits: 5 });
  for (const [holder, other] of [
    [first, ahead],
    [ahead, first],
  ] as const) {
    const id = await acceptLive(holder, account.id);
    const claimed = await claimImage(holder, "live");
    expect(claimed?.id).toBe(id);
    first.clock.advance(LEASE_MS - AHEAD_MS - SECOND_MS);
    expect(await requeueAbandoned(other)).toBe(0);
    if (claimed)
      expect(
        await finishImage(holder, leaseOf(claimed), {
          kind: "completed",
          output: { ...output, name: `${id}-a.png` },
        }),
      ).toMatchObject({
        state: "completed",
      });
  }
});

onPostgres("one key is one image until it expires, whichever clock is asked", async () => {
  const servers = await start("2026-11-15T12:00:00.000Z");
  const [first] = servers as [TestWorkspace];
  const { account } = await testAccount(first, { credits: 5 });
  const ask = async () => {
    const answers = await Promise.all(
      servers.map((server) =>
        buildDeps(server, { pool: idlePool, sources: readySources, queue: ampleQueue() }).accept({
          account,
          environment: "live",
          idempotencyKey: "derby",
          request: imageRequest(),
        }),
      ),
    );
    return new Set(answers.map(({ answer }) => answer.image_id));
  };
  const ids = await ask();
  expect(ids.size).toBe(1);
  first.clock.advance(IDEMPOTENCY_RETENTION_MS - 2 * AHEAD_MS);
  await Promise.all(servers.map((server) => sweep(server)));
  expect(await ask()).toEqual(ids);
});
