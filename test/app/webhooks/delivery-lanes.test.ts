import { describe, expect, test } from "bun:test";
import { createDeliverer } from "../../../src/app/webhooks/deliver-webhook.ts";
import { deliveryLanes, type Slot } from "../../../src/app/webhooks/delivery-lanes.ts";
import { listDeliveries } from "../../../src/app/webhooks/manage-deliveries.ts";
import {
  MAX_DELIVERIES,
  MAX_DELIVERIES_PER_ENDPOINT,
  MAX_PROMPT_DELIVERIES,
  MAX_STALLED_DELIVERIES,
  PROMPT_ANSWER_MS,
} from "../../../src/core/outbound-limits.ts";
import { StorageUnavailable } from "../../../src/core/storage-unavailable.ts";
import { fakeClock } from "../../harness.ts";
import { deliverDue, receiver, webhookWorkspace } from "./receivers.ts";

const well = (id: string) => ({ id, failing: false });

/** Takes all the room an endpoint has. */
function fill(lanes: ReturnType<typeof deliveryLanes>, endpoint: { id: string; failing: boolean }): Slot[] {
  return Array.from({ length: lanes.freeSlots(endpoint) }, () => lanes.take(endpoint));
}

/** Lets an endpoint answer promptly until its window is open. */
function warmUp(lanes: ReturnType<typeof deliveryLanes>, id: string): void {
  for (let i = 0; i < MAX_DELIVERIES_PER_ENDPOINT; i++) lanes.take(well(id)).finish(true);
}

describe("an endpoint", () => {
  test("gets one place more with each event it takes up to its share, and one at all after a failure", () => {
    const lanes = deliveryLanes(fakeClock());
    expect(lanes.freeSlots(well("a"))).toBe(1);
    lanes.take(well("a")).finish(true);
    expect(lanes.freeSlots(well("a"))).toBe(2);
    warmUp(lanes, "a");
    expect(lanes.freeSlots(well("a"))).toBe(MAX_DELIVERIES_PER_ENDPOINT);
    lanes.take(well("a")).finish(false);
    expect(lanes.freeSlots(well("a"))).toBe(1);
  });

  test("whose attempts could not begin stands as it stood", () => {
    const lanes = deliveryLanes(fakeClock());
    warmUp(lanes, "a");
    for (const place of fill(lanes, well("a"))) place.giveBack();
    expect(lanes.freeSlots(well("a"))).toBe(MAX_DELIVERIES_PER_ENDPOINT);
    // Nor is it among the slow ones: where all prompt places are taken, there is none for it.
    for (let i = 0; i < MAX_PROMPT_DELIVERIES; i++) fill(lanes, well(`e${i}`));
    expect(lanes.freeSlots(well("a"))).toBe(0);
  });

  test("that was prompt and is late gets no more until it answers", () => {
    const clock = fakeClock();
    const lanes = deliveryLanes(clock);
    warmUp(lanes, "a");
    const place = lanes.take(well("a"));
    clock.advance(PROMPT_ANSWER_MS);
    expect(lanes.freeSlots(well("a"))).toBe(0);
    place.finish(false);
    expect(lanes.freeSlots(well("a"))).toBe(1);
  });

  test("that is slow but takes its events keeps its share, among the slow ones, and does not fall behind", () => {
    const clock = fakeClock();
    const lanes = deliveryLanes(clock);
    for (let round = 0; round < 5; round++) {
      const places = fill(lanes, well("slow"));
      clock.advance(PROMPT_ANSWER_MS);
      for (const place of places) place.finish(true);
    }
    expect(fill(lanes, well("slow"))).toHaveLength(MAX_DELIVERIES_PER_ENDPOINT);
    // Its places are none of the prompt ones'.
    const others = Array.from({ length: 40 }, (_, i) => `e${i}`);
    const begun = others.map((id) => fill(lanes, well(id)).length).reduce((a, b) => a + b);
    expect(begun).toBe(MAX_PROMPT_DELIVERIES);
  });
});

describe("the lanes", () => {
  test("bound how many attempts begin at prompt receivers, and serve whoever waited longest first", () => {
    const lanes = deliveryLanes(fakeClock());
    const ids = Array.from({ length: 10 }, (_, i) => `e${i}`);
    for (const id of ids) warmUp(lanes, id);
    const taken = ids.map((id) => fill(lanes, well(id)).length);
    expect(taken.reduce((a, b) => a + b)).toBe(MAX_PROMPT_DELIVERIES);
    expect(lanes.inTurn(ids.map(well)).map(({ id }) => id)[0]).toBe("e4");
  });

  test("keep failing receivers, however many, out of the others' places", () => {
    const lanes = deliveryLanes(fakeClock());
    let begun = 0;
    for (let i = 0; i < 500; i++) begun += fill(lanes, { id: `dead${i}`, failing: true }).length;
    expect(begun).toBe(MAX_STALLED_DELIVERIES);
    warmUp(lanes, "alive");
    expect(lanes.freeSlots(well("alive"))).toBe(MAX_DELIVERIES_PER_ENDPOINT);
  });

  test("get a place back from a receiver that falls silent after two seconds, and never hold more than the bound", () => {
    const clock = fakeClock();
    const lanes = deliveryLanes(clock);
    let begun = 0;
    for (let i = 0; i < 500; i++) {
      const id = `silent${i}`;
      begun += fill(lanes, well(id)).length;
      if (lanes.freeSlots(well("alive")) === 0) clock.advance(PROMPT_ANSWER_MS);
      if (begun < MAX_DELIVERIES) expect(lanes.freeSlots(well("alive"))).toBe(1);
    }
    expect(begun).toBe(MAX_DELIVERIES);
  });
});

test("receivers that hang hold up nobody: all others get every event while they hang", async () => {
  const workspace = await webhookWorkspace();
  const deliverer = createDeliverer(workspace);
  const hanging = Array.from({ length: 5 }, () => receiver(() => new Promise<Response>(() => {})));
  const alive = Array.from({ length: 4 }, () => receiver());
  try {
    for (const { origin, url } of [...hanging, ...alive]) {
      workspace.allow(origin);
      await workspace.endpoint(url);
    }
    for (let i = 0; i < 40; i++) await workspace.happen();
    // Never idle: the hanging ones are on their way all the time.
    const all = Promise.all(alive.map((partner) => partner.got(40)));
    let done = false;
    void all.then(() => {
      done = true;
    });
    while (!done) {
      await deliverer.dispatch();
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (const partner of alive) {
      expect(new Set(partner.received.map(({ headers }) => headers["webhook-id"])).size).toBe(40);
      expect(partner.received).toHaveLength(40);
    }
    expect(hanging.map(({ received }) => received.length)).toEqual([1, 1, 1, 1, 1]);
  } finally {
    deliverer.abort();
    await deliverer.idle();
    for (const partner of [...hanging, ...alive]) partner.close();
    await workspace.close();
  }
});

test("a fault of our own database slows no receiver down", async () => {
  const workspace = await webhookWorkspace();
  const partner = receiver();
  let isFull = false;
  // The transaction claims, and then cannot be committed.
  const write: typeof workspace.store.write = (name, work) =>
    workspace.store.write(name, async (tx) => {
      const result = await work(tx);
      if (isFull) throw new StorageUnavailable(new Error("disk full"));
      return result;
    });
  const deliverer = createDeliverer({ ...workspace, store: { ...workspace.store, write } });
  try {
    workspace.allow(partner.origin);
    await workspace.endpoint(partner.url);
    for (let i = 0; i < 60; i++) await workspace.happen();
    const begun: number[] = [];
    for (let window = 1; window <= MAX_DELIVERIES_PER_ENDPOINT; window++) {
      begun.push(await deliverer.dispatch());
      await deliverer.idle();
    }
    expect(begun.at(-1)).toBe(MAX_DELIVERIES_PER_ENDPOINT);
    isFull = true;
    await expect(deliverer.dispatch()).rejects.toThrow(StorageUnavailable);
    isFull = false;
    expect(await deliverer.dispatch()).toBe(MAX_DELIVERIES_PER_ENDPOINT);
    await deliverer.idle();
  } finally {
    partner.close();
    await workspace.close();
  }
});

test("a backlog larger than any window is sent in rounds, each event once", async () => {
  const workspace = await webhookWorkspace();
  const partner = receiver();
  try {
    workspace.allow(partner.origin);
    await workspace.endpoint(partner.url);
    for (let i = 0; i < 100; i++) await workspace.happen();
    expect(await deliverDue(createDeliverer(workspace))).toBe(100);
    expect(new Set(partner.received.map(({ headers }) => headers["webhook-id"])).size).toBe(100);
    const { items } = await listDeliveries(workspace, {
      accountId: workspace.accountId,
      state: "delivered",
      limit: 100,
    });
    expect(items).toHaveLength(100);
  } finally {
    partner.close();
    await workspace.close();
  }
});
