import { afterEach, expect, test } from "bun:test";
import { queueEstimate } from "../../../src/app/images/queue-estimate.ts";
import {
  MAX_QUEUE_WAIT_MS,
  MAX_QUEUE_WORK_MS,
  MAX_WAITING_TEST_IMAGES,
  RENDER_TIMEOUT_MS,
  TYPICAL_RENDER_MS,
} from "../../../src/core/limits.ts";
import { nextPlace } from "../../../src/store/images/queue-place.ts";
import { type TestWorkspace, testAccount, testWorkspace } from "../../harness.ts";
import { acceptLive } from "../accepting.ts";

let open: TestWorkspace[] = [];
afterEach(async () => {
  for (const workspace of open) await workspace.close();
  open = [];
});

/** How many images one account may have waiting on one worker while it is the only account. */
const SHARE = Math.ceil(MAX_QUEUE_WAIT_MS / TYPICAL_RENDER_MS);

test("an account that has filled its share is refused; another is accepted and served next", async () => {
  const workspace = await testWorkspace();
  open.push(workspace);
  const rovers = (await testAccount(workspace, { credits: 1000 })).account.id;
  const united = (await testAccount(workspace, { credits: 1000 })).account.id;
  const queue = queueEstimate({ workers: 1 });
  const acceptUntilFull = async (account: string) => {
    for (let n = 0; ; n++) {
      const accepted = await acceptLive(workspace, account, { queue }).catch((error) => error.code);
      if (accepted === "SERVICE_OVERLOADED") return n;
    }
  };
  expect(await acceptUntilFull(rovers)).toBe(SHARE);
  const place = await nextPlace(
    workspace.store.read,
    { accountId: united, environment: "live" },
    { most: queue.mostCounted("live") },
  );
  // Behind the first of the other account only, and its estimate says so.
  expect(place).toEqual({ turn: 0, ahead: 1, total: SHARE });
  expect(queue.etaSeconds(place)).toBe(Math.ceil((2 * TYPICAL_RENDER_MS) / 1000));
  // Its images alternate with the other's, so it may have half as many.
  expect(await acceptUntilFull(united)).toBe(SHARE / 2);
  await expect(acceptLive(workspace, rovers, { queue })).rejects.toMatchObject({
    code: "SERVICE_OVERLOADED",
    retryAfterSeconds: expect.any(Number),
  });
});

test("there is a bound on the work of all accounts together, and on waiting test images", () => {
  const queue = queueEstimate({ workers: 2 });
  const most = Math.ceil((2 * MAX_QUEUE_WORK_MS) / TYPICAL_RENDER_MS);
  queue.refuseWhenFull("live", { ahead: 1, total: most - 1 });
  expect(() => queue.refuseWhenFull("live", { ahead: 1, total: most })).toThrow("Retry-After");
  queue.refuseWhenFull("test", { ahead: MAX_WAITING_TEST_IMAGES - 1, total: 1e6 });
  expect(() => queue.refuseWhenFull("test", { ahead: MAX_WAITING_TEST_IMAGES, total: 1e6 })).toThrow(
    "Retry-After",
  );
});

test("a photo that times out at every render does not refuse partners; a service that got slow does", () => {
  const queue = queueEstimate({ workers: 1 });
  const renderMs = () => queue.etaSeconds({ ahead: 999 });
  for (let n = 0; n < 50; n++) queue.observe(600);
  expect(renderMs()).toBeLessThan(620);
  for (let n = 0; n < 3; n++) queue.observe(RENDER_TIMEOUT_MS);
  // Without a bound on outliers they would count as twelve seconds each for the next twenty renders.
  expect(renderMs()).toBeLessThan(1_400);
  for (let n = 0; n < 20; n++) queue.observe(600);
  expect(renderMs()).toBeLessThan(750);
  for (let n = 0; n < 40; n++) queue.observe(6_000);
  expect(renderMs()).toBeGreaterThan(5_500);
});

test("the work is shared among all nodes that live, each at its own pace", () => {
  const others = [{ workers: 3, renderMs: TYPICAL_RENDER_MS }];
  const queue = queueEstimate({ workers: 1, others: () => others });
  expect(queue.load()).toEqual({ workers: 1, renderMs: TYPICAL_RENDER_MS });
  expect(queue.etaSeconds({ ahead: 40 })).toBe(Math.ceil((11 * TYPICAL_RENDER_MS) / 1000));
  others.push({ workers: 8, renderMs: 2 * TYPICAL_RENDER_MS });
  expect(queue.etaSeconds({ ahead: 40 })).toBe(Math.ceil((6 * TYPICAL_RENDER_MS) / 1000));
});

test("no more of a queue is counted than makes a difference, and what is refused stays refused", async () => {
  const workspace = await testWorkspace();
  open.push(workspace);
  const { id: accountId } = (await testAccount(workspace, { credits: 1000 })).account;
  for (let n = 0; n < 12; n++) await acceptLive(workspace, accountId);
  const placeOf = (ahead: number, total: number) =>
    nextPlace(workspace.store.read, { accountId, environment: "live" }, { most: { ahead, total } });
  expect(await placeOf(100, 100)).toEqual({ turn: 12, ahead: 12, total: 12 });
  expect(await placeOf(5, 7)).toEqual({ turn: 12, ahead: 5, total: 7 });
  for (const queue of [queueEstimate({ workers: 1 }), queueEstimate({ workers: 7 })]) {
    const { ahead, total } = queue.mostCounted("live");
    expect(() => queue.refuseWhenFull("live", { ahead, total: 0 })).toThrow("Retry-After");
    expect(() => queue.refuseWhenFull("live", { ahead: 0, total })).toThrow("Retry-After");
    queue.refuseWhenFull("live", { ahead: ahead - 2, total: total - 2 });
  }
  const queue = queueEstimate({ workers: 1 });
  expect(() => queue.refuseWhenFull("test", queue.mostCounted("test"))).toThrow("Retry-After");
});
