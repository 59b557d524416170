import { afterEach, expect, test } from "bun:test";
import { cancelBatch } from "../../src/app/batches/cancel-batch.ts";
import { finishImage, type RenderEnd } from "../../src/app/images/finish-image.ts";
import { forgetImage } from "../../src/app/images/forget-image.ts";
import { claimImage } from "../../src/app/images/render-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { requeueAbandoned } from "../../src/app/operations/sweep.ts";
import type { Environment } from "../../src/core/account.ts";
import { LEASE_MS, MAX_RENDERS, MAX_RETRY_PAUSE_MS } from "../../src/core/limits.ts";
import { StorageUnavailable } from "../../src/core/storage-unavailable.ts";
import type { Claimed } from "../../src/jobs/jobs.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import { acceptLive } from "../app/accepting.ts";
import { ampleQueue, idlePool } from "../fakes.ts";
import { imageRequest, type TestWorkspace, testAccount, testWorkspace } from "../harness.ts";

// What the queue of renders promises, on whichever engine these tests run.

let open: TestWorkspace[] = [];
afterEach(async () => {
  // Whatever a test did, rows and queue agree in the end.
  for (const workspace of open) {
    const { findings } = await audit(workspace.store, workspace.clock.now());
    expect(findings.filter(({ ok }) => !ok)).toEqual([]);
    await workspace.close();
  }
  open = [];
});

async function start() {
  const workspace = await testWorkspace();
  open.push(workspace);
  const { account } = await testAccount(workspace, { credits: 500 });
  const row = async (id: string) => {
    const { db, t } = workspace.store.read;
    return (await db.select().from(t.images)).find((image) => image.id === id);
  };
  return { workspace, account, row };
}

const leaseOf = ({ id, leaseToken, renders }: Claimed) => ({ imageId: id, token: leaseToken, renders });
const output = {
  name: "a-b.png",
  width: 1,
  height: 1,
  contentType: "image/png",
  bytes: 1,
  composition: "cutout" as const,
};
const ENDS: RenderEnd[] = [
  { kind: "completed", output },
  { kind: "refused", message: "no player", reason: "no_player" },
  { kind: "fault" },
  { kind: "requeued" },
];

async function claimed(workspace: TestWorkspace, environment: Environment = "live"): Promise<Claimed> {
  const image = await claimImage(workspace, environment);
  if (!image) throw new Error("nothing waits");
  return image;
}

/** The worker that holds this dies, and somebody notices. */
async function die(workspace: TestWorkspace): Promise<void> {
  workspace.clock.advance(LEASE_MS);
  await requeueAbandoned(workspace);
  workspace.clock.advance(1_000);
}

test("images are claimed by turn, not by arrival, and each once", async () => {
  const { workspace, account } = await start();
  const other = (await testAccount(workspace, { credits: 500 })).account;
  const [a1, a2, a3] = [
    await acceptLive(workspace, account.id),
    await acceptLive(workspace, account.id),
    await acceptLive(workspace, account.id),
  ];
  workspace.clock.advance(1);
  const b1 = await acceptLive(workspace, other.id);
  const order: string[] = [];
  for (let n = 0; n < 4; n++) order.push((await claimed(workspace)).id);
  expect(order).toEqual([a1, b1, a2, a3]);
  expect(await claimImage(workspace, "live")).toBeUndefined();
});

test("live and test images are two queues", async () => {
  const { workspace, account } = await start();
  const id = await acceptLive(workspace, account.id, { environment: "test" });
  expect(await claimImage(workspace, "live")).toBeUndefined();
  expect((await claimed(workspace, "test")).id).toBe(id);
});

test("workers that claim at once each get another image, and none goes away empty-handed", async () => {
  const { workspace, account } = await start();
  const ids = await Promise.all(Array.from({ length: 30 }, () => acceptLive(workspace, account.id)));
  const taken = await Promise.all(ids.map(() => claimImage(workspace, "live")));
  expect(taken.map((image) => image?.id).sort()).toEqual([...ids].sort());
  expect(new Set(taken.map((image) => image?.leaseToken)).size).toBe(30);
  await Promise.all(
    taken.map((image) =>
      finishImage(workspace, leaseOf(image as Claimed), {
        kind: "refused",
        message: "no player",
        reason: "no_player",
      }),
    ),
  );
  expect(await workspace.jobs.isWaiting("live", workspace.clock.now())).toBe(false);
});

test("an acceptance that is rolled back queues nothing", async () => {
  const { workspace, account } = await start();
  const id = await acceptLive(workspace, account.id);
  const image = await claimed(workspace);
  await finishImage(workspace, leaseOf(image), { kind: "refused", message: "x", reason: "no_player" });
  const enqueued = workspace.store.write("test", async (tx) => {
    const copy = { ...image, id: `${id}x`, state: "queued" as const, leaseToken: null };
    await tx.db.insert(tx.t.images).values(copy);
    await workspace.jobs.enqueue(tx, [copy]);
    throw new Error("changed our mind");
  });
  expect((await enqueued.catch((error: Error) => error)) as unknown).toMatchObject({
    message: "changed our mind",
  });
  expect(await workspace.jobs.isWaiting("live", workspace.clock.now())).toBe(false);
  expect(await claimImage(workspace, "live")).toBeUndefined();
});

test("an end that is rolled back leaves the claim as it was", async () => {
  const { workspace, account, row } = await start();
  await acceptLive(workspace, account.id);
  const image = await claimed(workspace);
  const broken = workspace.store.write("test", async (tx) => {
    expect(await workspace.jobs.end(tx, leaseOf(image))).toBe(true);
    throw new Error("the disk was full");
  });
  expect((await broken.catch((error: Error) => error)) as unknown).toMatchObject({
    message: "the disk was full",
  });
  const done = await finishImage(workspace, leaseOf(image), { kind: "completed", output });
  expect(done).toMatchObject({ state: "completed" });
  expect((await row(image.id))?.leaseToken).toBeNull();
});

test("what is given back is claimed again after its pause, in its old place", async () => {
  const { workspace, account } = await start();
  await acceptLive(workspace, account.id);
  await acceptLive(workspace, account.id);
  const first = await claimed(workspace);
  expect(await finishImage(workspace, leaseOf(first), { kind: "requeued", pauseMs: 15_000 })).toMatchObject({
    state: "queued",
    renders: 0,
  });
  const second = await claimed(workspace);
  expect(second.id).not.toBe(first.id);
  expect(await claimImage(workspace, "live")).toBeUndefined();
  await finishImage(workspace, leaseOf(second), { kind: "requeued" });
  workspace.clock.advance(15_000);
  const again = await claimed(workspace);
  expect(again).toMatchObject({ id: first.id, renders: 1 });
  expect((await claimed(workspace)).id).toBe(second.id);
});

test("a render that came to nothing moves its account's other images back by one turn", async () => {
  const { workspace, account } = await start();
  const other = (await testAccount(workspace, { credits: 500 })).account;
  for (let n = 0; n < 3; n++) await acceptLive(workspace, account.id);
  const first = await claimed(workspace);
  const theirs = [await acceptLive(workspace, other.id), await acceptLive(workspace, other.id)];
  await finishImage(workspace, leaseOf(first), { kind: "fault" });
  // Turns 0 (after its pause), 2 and 3 against 1 and 2.
  const next = await claimed(workspace);
  expect(next.id).toBe(theirs[0] ?? "");
  expect(next.turn).toBe(1);
});

test("the image of a worker that died is rendered by another one, and the dead one's end changes nothing", async () => {
  const { workspace, account, row } = await start();
  const id = await acceptLive(workspace, account.id);
  const dead = await claimed(workspace);
  await die(workspace);
  const heir = await claimed(workspace);
  expect(heir).toMatchObject({ id, renders: 2 });
  const before = await row(id);
  for (const end of ENDS) expect(await finishImage(workspace, leaseOf(dead), end)).toBeUndefined();
  expect(await row(id)).toEqual(before);
  expect(await finishImage(workspace, leaseOf(heir), { kind: "completed", output })).toMatchObject({
    state: "completed",
  });
  for (const end of ENDS)
    for (const late of [dead, heir]) expect(await finishImage(workspace, leaseOf(late), end)).toBeUndefined();
});

test("an image whose workers die every time fails after as many renders as any other", async () => {
  const { workspace, account, row } = await start();
  const id = await acceptLive(workspace, account.id);
  for (let n = 1; n <= MAX_RENDERS; n++) {
    expect((await claimed(workspace)).renders).toBe(n);
    await die(workspace);
    workspace.clock.advance(MAX_RETRY_PAUSE_MS);
  }
  expect(await claimImage(workspace, "live")).toBeUndefined();
  expect(await row(id)).toMatchObject({ state: "failed", renders: MAX_RENDERS });
  expect(await findAccount(workspace.store.read, account.id)).toMatchObject({
    creditsPlan: 500,
    creditsHeld: 0,
  });
});

test("a claim whose answer the database lost costs the image none of its renders, whether or not it was committed", async () => {
  const { workspace, account, row } = await start();
  const id = await acceptLive(workspace, account.id);
  const lost = new StorageUnavailable(new Error("the connection was lost during the commit"));
  for (let n = 0; n < 2 * MAX_RENDERS; n++) {
    const { store } = workspace;
    let calls = 0;
    const write: typeof store.write = async (name, fn, options) => {
      const isFirst = ++calls === 1;
      const isCommitted = n % 2 === 0;
      const done = await store.write(
        name,
        async (tx) => {
          const result = await fn(tx);
          if (isFirst && !isCommitted) throw lost;
          return result;
        },
        options,
      );
      if (isFirst) throw lost;
      return done;
    };
    await expect(claimImage({ ...workspace, store: { ...store, write } }, "live")).rejects.toThrow(
      "during the commit",
    );
    expect(calls).toBe(2);
    expect(await row(id)).toMatchObject({ state: "queued", renders: 0, leaseToken: null });
  }
  const heir = await claimed(workspace);
  expect(heir).toMatchObject({ id, renders: 1 });
  expect(await finishImage(workspace, leaseOf(heir), { kind: "completed", output })).toMatchObject({
    state: "completed",
  });
});

test("a forgotten image is claimed by nobody, and its renderer finds its lease lost", async () => {
  const { workspace, account } = await start();
  const deps = buildDeps(workspace, { pool: idlePool });
  const ids = [await acceptLive(workspace, account.id), await acceptLive(workspace, account.id)];
  const rendering = await claimed(workspace);
  for (const id of ids) await forgetImage(deps, { accountId: account.id, environment: "live", id });
  expect(await workspace.jobs.isWaiting("live", workspace.clock.now())).toBe(false);
  expect(await claimImage(workspace, "live")).toBeUndefined();
  for (const end of ENDS) expect(await finishImage(workspace, leaseOf(rendering), end)).toBeUndefined();
});

test("cards of a canceled batch are claimed by nobody, and one that is being rendered ends", async () => {
  const { workspace, account, row } = await start();
  const { acceptBatch } = buildDeps(workspace, { pool: idlePool, queue: ampleQueue() });
  const requests = ["a", "b", "c"].map((external_id) => imageRequest({ player: { external_id } }));
  const { batch } = await acceptBatch({
    account,
    environment: "test",
    idempotencyKey: null,
    name: "",
    requests,
  });
  const rendering = await claimed(workspace, "test");
  await cancelBatch(workspace, { accountId: account.id, environment: "test", id: batch.id });
  expect(await workspace.jobs.isWaiting("test", workspace.clock.now())).toBe(false);
  expect(await claimImage(workspace, "test")).toBeUndefined();
  await finishImage(workspace, leaseOf(rendering), { kind: "completed", output });
  expect((await row(rendering.id))?.state).toBe("completed");
});
