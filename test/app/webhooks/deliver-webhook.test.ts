import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { sweep } from "../../../src/app/operations/sweep.ts";
import { takeOver } from "../../../src/app/operations/take-over.ts";
import { createDeliverer, type Deliverer } from "../../../src/app/webhooks/deliver-webhook.ts";
import {
  type Delivery,
  listDeliveries,
  redeliver,
  sendTest,
} from "../../../src/app/webhooks/manage-deliveries.ts";
import {
  enableEndpoint,
  getEndpoint,
  removeEndpoint,
  revokeOldSecret,
  rotateSecret,
  unreadableEndpoints,
  updateEndpoint,
} from "../../../src/app/webhooks/manage-webhooks.ts";
import { DELIVERY_WAITS_MS } from "../../../src/core/delivery-schedule.ts";
import { MAX_DELIVERIES_PER_ENDPOINT, WEBHOOK_RETENTION_MS } from "../../../src/core/outbound-limits.ts";
import { secretBox } from "../../../src/core/secret-box.ts";
import { StorageUnavailable } from "../../../src/core/storage-unavailable.ts";
import { onlyNode } from "../../../src/state/nodes.ts";
import { changeEndpoint } from "../../../src/store/webhooks/webhooks.ts";
import { BUILD } from "../../../src/version.ts";
import { seededRandom } from "../../harness.ts";
import {
  deliverDue,
  type Receiver,
  receiver,
  verify,
  type WebhookWorkspace,
  webhookWorkspace,
} from "./receivers.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

let workspace: WebhookWorkspace;
let deliverer: Deliverer;
const closing: { close: () => void }[] = [];
beforeEach(async () => {
  workspace = await webhookWorkspace();
  deliverer = createDeliverer(workspace);
});
afterEach(async () => {
  for (const server of closing.splice(0)) server.close();
  await workspace.close();
});

function listening(...answer: Parameters<typeof receiver>): Receiver {
  const server = receiver(...answer);
  closing.push(server);
  workspace.allow(server.origin);
  return server;
}
async function onlyDelivery(): Promise<Delivery> {
  const { items } = await listDeliveries(workspace, { accountId: workspace.accountId });
  expect(items).toHaveLength(1);
  return items[0] as Delivery;
}

describe("an event", () => {
  test("arrives signed, as JSON with type, time, environment and data, and is delivered once", async () => {
    const partner = listening();
    const { secret } = await workspace.endpoint(partner.url);
    const subject = await workspace.happen();
    expect(await deliverDue(deliverer)).toBe(1);
    const [got] = partner.received;
    expect(got?.event).toEqual({
      type: "image.completed",
      timestamp: "2026-11-15T12:00:00.000Z",
      environment: "test",
      data: { image_id: subject },
    });
    expect(got?.headers).toMatchObject({ "content-type": "application/json" });
    expect(got?.headers["user-agent"]).toBe(`cardpress/${BUILD}`);
    verify(secret, got as never, workspace.clock.now());
    const delivery = await onlyDelivery();
    expect(delivery).toMatchObject({ state: "delivered", nextAttemptAt: null, attempts: 1 });
    expect(delivery.history).toMatchObject([{ number: 1, status: 200, error: null, answer: null }]);
    workspace.clock.advance(30 * DAY_MS);
    expect(await deliverDue(deliverer)).toBe(0);
  });

  test("goes to every endpoint that wants it, signed with each one's own secret, and to no other environment", async () => {
    const [all, failures] = [listening(), listening()];
    const first = await workspace.endpoint(all.url);
    const second = await workspace.endpoint(failures.url, ["image.failed"]);
    await workspace.happen("image.completed");
    await workspace.happen("image.failed");
    await deliverDue(deliverer);
    expect(all.received.map(({ event }) => event.type).sort()).toEqual(["image.completed", "image.failed"]);
    expect(failures.received.map(({ event }) => event.type)).toEqual(["image.failed"]);
    const failed = failures.received[0] as Receiver["received"][number];
    verify(second.secret, failed, workspace.clock.now());
    expect(() => verify(first.secret, failed, workspace.clock.now())).toThrow();
  });

  test("is tried by the schedule to its end with one id, fresh signatures and the same bytes", async () => {
    const partner = listening(() => new Response("down for repairs", { status: 500 }));
    const { id, secret } = await workspace.endpoint(partner.url);
    await workspace.happen();
    const waits: number[] = [];
    for (;;) {
      expect(await deliverDue(deliverer)).toBe(1);
      verify(secret, partner.received.at(-1) as never, workspace.clock.now());
      const { nextAttemptAt } = await onlyDelivery();
      if (nextAttemptAt === null) break;
      waits.push(nextAttemptAt - workspace.clock.now());
      workspace.clock.advance(nextAttemptAt - workspace.clock.now() - 1);
      expect(await deliverDue(deliverer)).toBe(0);
      workspace.clock.advance(1);
    }
    expect(waits).toHaveLength(9);
    for (const [i, wait] of waits.entries()) {
      const planned = DELIVERY_WAITS_MS[i + 1] ?? 0;
      expect(Math.abs(wait - planned)).toBeLessThanOrEqual(planned * 0.2);
    }
    // Jitter is random for each attempt, so not all waits deviate by the same fraction.
    expect(
      new Set(waits.map((wait, i) => (wait / (DELIVERY_WAITS_MS[i + 1] ?? 1)).toFixed(3))).size,
    ).toBeGreaterThan(3);
    const unique = (name: string) => new Set(partner.received.map(({ headers }) => headers[name])).size;
    expect(unique("webhook-id")).toBe(1);
    expect(unique("webhook-signature")).toBe(10);
    expect(new Set(partner.received.map(({ body }) => body)).size).toBe(1);
    const delivery = await onlyDelivery();
    expect(delivery).toMatchObject({ state: "failed", attempts: 10 });
    expect(delivery.history.at(-1)).toMatchObject({ number: 10, status: 500, answer: "down for repairs" });
    expect(delivery.history.at(-1)?.error).toContain("answered 500");
    expect(await getEndpoint(workspace, { endpointId: id })).toMatchObject({ state: "enabled" });
    workspace.clock.advance(30 * DAY_MS);
    expect(await deliverDue(deliverer)).toBe(0);
  });

  test("that failed can be sent again by hand, with the schedule from its start and the same id", async () => {
    const partner = listening((_, count) => new Response(null, { status: count === 11 ? 204 : 500 }));
    await workspace.endpoint(partner.url);
    await workspace.happen();
    while ((await onlyDelivery()).state === "pending") {
      workspace.clock.advance(30 * HOUR_MS);
      // Ten failures in ten days would disable the endpoint; this is about the delivery.
      await workspace.store.write("test", (tx) =>
        tx.db
          .update(tx.t.webhookEndpoints)
          .set({ failingSince: null })
          .then(() => {}),
      );
      await deliverDue(deliverer);
    }
    const failed = await onlyDelivery();
    expect(await redeliver(workspace, { deliveryId: failed.id })).toMatchObject({
      state: "pending",
      step: 0,
    });
    await deliverDue(deliverer);
    expect(await onlyDelivery()).toMatchObject({ state: "delivered", attempts: 11 });
    expect(partner.received.at(-1)?.headers["webhook-id"]).toBe(failed.eventId);
  });
});

describe("an endpoint", () => {
  test("that answers 410 is disabled with the reason, sends no more, and can be enabled again", async () => {
    let status = 410;
    const partner = listening(() => new Response(null, { status }));
    const { id } = await workspace.endpoint(partner.url);
    for (let i = 0; i < 3; i++) await workspace.happen();
    expect(await deliverDue(deliverer)).toBe(1);
    const endpoint = await getEndpoint(workspace, { endpointId: id });
    expect(endpoint).toMatchObject({ state: "disabled", disabledAt: workspace.clock.now() });
    expect(endpoint.disabledReason).toContain("answered 410 Gone on 2026-11-15T12:00:00.000Z");
    const { items } = await listDeliveries(workspace, { accountId: workspace.accountId });
    expect(items.map(({ state }) => state)).toEqual(["failed", "failed", "failed"]);
    await workspace.happen();
    expect((await listDeliveries(workspace, { accountId: workspace.accountId })).items).toHaveLength(3);
    await expect(sendTest(workspace, { endpointId: id })).rejects.toThrow("Enable it first");

    status = 200;
    expect(await enableEndpoint(workspace, { endpointId: id })).toMatchObject({
      state: "enabled",
      disabledReason: null,
    });
    await workspace.happen();
    expect(await deliverDue(deliverer)).toBe(1);
  });

  test("is disabled after five days of nothing but failures, not before, and never after one success", async () => {
    let status = 500;
    const partner = listening(() => new Response(null, { status }));
    const { id } = await workspace.endpoint(partner.url);
    const attempt = async () => {
      await workspace.happen();
      await deliverDue(deliverer);
      return getEndpoint(workspace, { endpointId: id });
    };
    const failingSince = workspace.clock.now();
    expect(await attempt()).toMatchObject({ state: "enabled", failingSince });
    workspace.clock.advance(4 * DAY_MS);
    status = 200;
    expect(await attempt()).toMatchObject({ failingSince: null, lastSuccessAt: workspace.clock.now() });
    status = 500;
    workspace.clock.advance(4 * DAY_MS);
    expect(await attempt()).toMatchObject({ state: "enabled", failingSince: workspace.clock.now() });
    workspace.clock.advance(5 * DAY_MS - 1);
    expect(await attempt()).toMatchObject({ state: "enabled" });
    workspace.clock.advance(DAY_MS);
    const disabled = await attempt();
    expect(disabled.state).toBe("disabled");
    expect(disabled.disabledReason).toContain("Every attempt since 2026-11-23T12:00:00.000Z failed");
    expect(disabled.disabledReason).toContain("It answered 500");
  });

  test("that is removed while an attempt is on its way is not tried again", async () => {
    const answer = Promise.withResolvers<Response>();
    const partner = listening(() => answer.promise);
    const { id } = await workspace.endpoint(partner.url);
    await workspace.happen();
    await deliverer.dispatch();
    await partner.got(1);
    await removeEndpoint(workspace, { endpointId: id });
    answer.resolve(new Response(null, { status: 500 }));
    await deliverer.idle();
    expect(await onlyDelivery()).toMatchObject({ state: "failed", attempts: 1 });
  });

  test("that moves gets what waits at its new address", async () => {
    const [old, fresh] = [listening(() => new Response(null, { status: 500 })), listening()];
    const { id } = await workspace.endpoint(old.url);
    await workspace.happen();
    await deliverDue(deliverer);
    await updateEndpoint(workspace, { endpointId: id }, { url: fresh.url });
    workspace.clock.advance(MINUTE_MS);
    await deliverDue(deliverer);
    expect([old.received.length, fresh.received.length]).toEqual([1, 1]);
  });
});

describe("after a rotation", () => {
  test("both secrets sign for 24 hours, then only the new one", async () => {
    const partner = listening();
    const { id, secret: oldSecret } = await workspace.endpoint(partner.url);
    const { secret } = await rotateSecret(workspace, { endpointId: id });
    const next = async () => {
      await workspace.happen();
      await deliverDue(deliverer);
      return partner.received.at(-1) as Receiver["received"][number];
    };
    workspace.clock.advance(DAY_MS - 1);
    const during = await next();
    verify(secret, during, workspace.clock.now());
    verify(oldSecret, during, workspace.clock.now());
    workspace.clock.advance(1);
    const after = await next();
    verify(secret, after, workspace.clock.now());
    expect(() => verify(oldSecret, after, workspace.clock.now())).toThrow();
  });

  test("the old secret can be revoked at once", async () => {
    const partner = listening();
    const { id, secret: oldSecret } = await workspace.endpoint(partner.url);
    const { secret } = await rotateSecret(workspace, { endpointId: id });
    await revokeOldSecret(workspace, { endpointId: id });
    await workspace.happen();
    await deliverDue(deliverer);
    const got = partner.received[0] as Receiver["received"][number];
    verify(secret, got, workspace.clock.now());
    expect(() => verify(oldSecret, got, workspace.clock.now())).toThrow();
  });
});

describe("with the wrong secret.key", () => {
  test("nothing is sent or lost: deliveries wait uncounted until the secret is rotated", async () => {
    const partner = listening();
    const { id } = await workspace.endpoint(partner.url);
    await workspace.happen();
    const restored = { ...workspace, secrets: secretBox(new Uint8Array(32).fill(9), workspace.random.bytes) };
    expect(await unreadableEndpoints(restored)).toEqual([id]);
    deliverer = createDeliverer(restored);
    await deliverDue(deliverer);
    expect(partner.received).toEqual([]);
    expect(await onlyDelivery()).toMatchObject({ state: "pending", attempts: 0, history: [] });
    const { secret } = await rotateSecret(restored, { endpointId: id });
    workspace.clock.advance(5 * MINUTE_MS);
    await deliverDue(deliverer);
    verify(secret, partner.received[0] as Receiver["received"][number], workspace.clock.now());
    expect(await unreadableEndpoints(restored)).toEqual([]);
  });
});

describe("a claim", () => {
  test("is for a place at the receiver, of which all processes together have eight", async () => {
    const open = Promise.withResolvers<void>();
    let held = false;
    const partner = listening(async () => {
      if (held) await open.promise;
      return new Response();
    });
    await workspace.endpoint(partner.url);
    const other = createDeliverer({ ...workspace, node: "node_other", random: seededRandom(7) });
    const nodes = [deliverer, other];
    // Both know the receiver well: each alone would send eight at a time.
    for (const node of nodes) {
      for (let n = 0; n < 2 * MAX_DELIVERIES_PER_ENDPOINT; n++) await workspace.happen();
      await deliverDue(node);
    }
    const before = partner.received.length;
    held = true;
    for (let n = 0; n < 3 * MAX_DELIVERIES_PER_ENDPOINT; n++) await workspace.happen();
    const begun = await Promise.all([...nodes, ...nodes].map((node) => node.dispatch()));
    expect(begun.reduce((sum, n) => sum + n)).toBe(MAX_DELIVERIES_PER_ENDPOINT);
    await partner.got(before + MAX_DELIVERIES_PER_ENDPOINT);
    for (const node of nodes) expect(await node.dispatch()).toBe(0);
    open.resolve();
    for (const node of nodes) await node.idle();
    for (const node of nodes) await deliverDue(node);
    expect(partner.received.length - before).toBe(3 * MAX_DELIVERIES_PER_ENDPOINT);
  });

  test("is held by one process only, and what its process took to the grave is sent again under the same id", async () => {
    const dead = Promise.withResolvers<Response>();
    const partner = listening((_, count) => (count === 1 ? dead.promise : new Response()));
    await workspace.endpoint(partner.url);
    await workspace.happen();
    await deliverer.dispatch();
    await partner.got(1);
    const other = createDeliverer({ ...workspace, random: seededRandom(7) });
    expect(await other.dispatch()).toBe(0);

    await takeOver({ ...workspace, nodes: onlyNode(workspace.node) });
    expect(await other.dispatch()).toBe(0);
    await takeOver({ ...workspace, nodes: onlyNode("node_other") });
    expect(await other.dispatch()).toBe(1);
    await other.idle();
    expect(await onlyDelivery()).toMatchObject({ state: "delivered", attempts: 1 });
    // The first process was only slow, not dead: what it records now changes nothing.
    dead.resolve(new Response(null, { status: 500 }));
    await deliverer.idle();
    expect(await onlyDelivery()).toMatchObject({ state: "delivered", attempts: 1 });
    const ids = partner.received.map(({ headers }) => headers["webhook-id"]);
    expect(ids[0]).toBe(ids[1] as string);
  });

  test.each([
    ["removed", (id: string) => removeEndpoint(workspace, { endpointId: id })],
    [
      "disabled",
      (id: string) =>
        workspace.store.write("test", async (tx) => {
          const now = workspace.clock.now();
          const change = {
            state: "disabled",
            disabledReason: "gone",
            disabledAt: now,
            updatedAt: now,
          } as const;
          await changeEndpoint(tx, id, change);
        }),
    ],
  ])("whose process died after its endpoint was %s has failed, and is swept in its time", async (_, end) => {
    const partner = listening(() => new Promise<Response>(() => {}));
    const { id } = await workspace.endpoint(partner.url);
    await workspace.happen();
    await deliverer.dispatch();
    await partner.got(1);
    await end(id);
    await takeOver({ ...workspace, nodes: onlyNode("node_other") });
    expect(await onlyDelivery()).toMatchObject({ state: "failed", nextAttemptAt: null, attempts: 0 });
    workspace.clock.advance(WEBHOOK_RETENTION_MS);
    await sweep(workspace);
    expect((await listDeliveries(workspace, { accountId: workspace.accountId })).items).toEqual([]);
  });

  test("whose end cannot be recorded, because the disk is full, is recorded later and not sent again", async () => {
    const partner = listening();
    await workspace.endpoint(partner.url);
    await workspace.happen();
    let isFull = false;
    const write: typeof workspace.store.write = (name, fn) =>
      isFull
        ? Promise.reject(new StorageUnavailable(new Error("disk full")))
        : workspace.store.write(name, fn);
    const ended = Promise.withResolvers<void>();
    deliverer = createDeliverer({ ...workspace, store: { ...workspace.store, write } }, ended.resolve);
    await deliverer.dispatch();
    isFull = true;
    await ended.promise;
    await expect(deliverer.dispatch()).rejects.toThrow(StorageUnavailable);
    expect(await onlyDelivery()).toMatchObject({ state: "sending", attempts: 0 });
    isFull = false;
    expect(await deliverer.dispatch()).toBe(0);
    expect(await onlyDelivery()).toMatchObject({ state: "delivered", attempts: 1 });
    expect(partner.received).toHaveLength(1);
  });

  test("is given back uncounted when the service stops", async () => {
    const partner = listening(() => new Promise<Response>(() => {}));
    await workspace.endpoint(partner.url);
    await workspace.happen();
    await deliverer.dispatch();
    await partner.got(1);
    deliverer.abort();
    await deliverer.idle();
    expect(await onlyDelivery()).toMatchObject({
      state: "pending",
      attempts: 0,
      nextAttemptAt: workspace.clock.now(),
    });
    expect(await deliverer.dispatch()).toBe(0);
  });
});
