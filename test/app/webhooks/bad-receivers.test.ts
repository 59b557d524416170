import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createDeliverer, type Deliverer } from "../../../src/app/webhooks/deliver-webhook.ts";
import { type Delivery, listDeliveries } from "../../../src/app/webhooks/manage-deliveries.ts";
import { getEndpoint, listEndpoints } from "../../../src/app/webhooks/manage-webhooks.ts";
import { EXHAUSTED_RETRY_MS, MAX_WEBHOOK_ANSWER_BYTES } from "../../../src/core/outbound-limits.ts";
import { GuardedHttpError } from "../../../src/sources/guarded-http.ts";
import { head, serveRaw, serveSilence, startCanary } from "../../sources/servers.ts";
import { deliverDue, type Receiver, receiver, type WebhookWorkspace, webhookWorkspace } from "./receivers.ts";

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
async function using<T extends { close: () => void }>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  closing.push(server);
  return server;
}
async function onlyDelivery(): Promise<Delivery> {
  const { items } = await listDeliveries(workspace, { accountId: workspace.accountId });
  expect(items).toHaveLength(1);
  return items[0] as Delivery;
}

describe("Retry-After", () => {
  test.each([
    ["7200", 2 * HOUR_MS],
    ["Mon, 16 Nov 2026 06:00:00 GMT", 18 * HOUR_MS],
    ["9999999", DAY_MS],
  ])("%s is respected, up to a day, and 429 pauses the whole endpoint", async (value, waitMs) => {
    const partner = listening(() => new Response(null, { status: 429, headers: { "Retry-After": value } }));
    const { id } = await workspace.endpoint(partner.url);
    await workspace.happen();
    await deliverDue(deliverer);
    expect((await onlyDelivery()).nextAttemptAt).toBe(workspace.clock.now() + waitMs);
    expect((await getEndpoint(workspace, { endpointId: id })).pausedUntil).toBe(
      workspace.clock.now() + waitMs,
    );
    await workspace.happen();
    workspace.clock.advance(waitMs - 1);
    expect(await deliverDue(deliverer)).toBe(0);
    workspace.clock.advance(1);
    expect(await deliverer.dispatch()).toBe(1);
    await deliverer.idle();
  });
});

describe("a receiver that", () => {
  const failureOf = async (url: string) => {
    await workspace.endpoint(url);
    await workspace.happen();
    await deliverDue(deliverer);
    const delivery = await onlyDelivery();
    expect(delivery.state).toBe("pending");
    return delivery.history[0];
  };

  test("redirects has failed, and the other address gets nothing", async () => {
    const canary = await using(startCanary());
    const partner = listening(() => Response.redirect(`http://127.0.0.1:${canary.port}/`, 307));
    workspace.allow(`http://127.0.0.1:${canary.port}`);
    expect(await failureOf(partner.url)).toMatchObject({ status: 307 });
    expect((await onlyDelivery()).history[0]?.error).toContain("Register the address it leads to");
    expect(await canary.connections()).toBe(0);
  });

  test("answers without end is read for 64 KB, and its 200 counts", async () => {
    let sent = 0;
    const server = await using(
      serveRaw((socket) => {
        socket.write(head(200));
        const pour = () => {
          while (socket.writable && socket.write(Buffer.alloc(16_384, "x"))) sent += 16_384;
        };
        socket.on("drain", pour);
        pour();
      }),
    );
    workspace.allow(server.origin);
    await workspace.endpoint(server.origin);
    await workspace.happen();
    await deliverDue(deliverer);
    await server.firstClosed;
    expect(await onlyDelivery()).toMatchObject({ state: "delivered" });
    // What the kernel buffers on the way comes on top of what was read.
    expect(sent).toBeLessThan(MAX_WEBHOOK_ANSWER_BYTES + 16 * 1024 * 1024);
  });

  test("fails with a long page leaves only its beginning in the attempt", async () => {
    const partner = listening(() => new Response("x".repeat(1_000_000), { status: 502 }));
    const attempt = await failureOf(partner.url);
    expect(attempt).toMatchObject({ status: 502 });
    expect(attempt?.answer).toHaveLength(500);
  });

  test("breaks off or does not speak HTTP has failed", async () => {
    const server = await using(serveRaw((socket) => socket.end("220 mail.example ESMTP\r\n")));
    workspace.allow(server.origin);
    expect(await failureOf(server.origin)).toMatchObject({ status: null, answer: null });
    expect((await onlyDelivery()).history[0]?.error).toContain("does not speak HTTP");
  });

  test("has gone away has failed", async () => {
    const server = await using(serveRaw(() => {}));
    workspace.allow(server.origin);
    server.close();
    expect((await failureOf(server.origin))?.error).toContain("No connection");
  });

  test.each([
    ["expired", "has expired"],
    ["self-signed", "no known authority"],
  ] as const)(
    "shows a certificate that is %s has failed, and receives nothing",
    async (certificate, message) => {
      const server = await using(serveRaw((socket) => socket.end(head(200)), certificate));
      workspace.allow(server.origin);
      expect((await failureOf(server.origin))?.error).toContain(message);
      expect(server.requests).toEqual([]);
    },
  );

  test("has a good certificate gets its event over TLS", async () => {
    const server = await using(serveRaw((socket) => socket.end(head(204)), "photos.example"));
    workspace.allow(server.origin);
    await workspace.endpoint(`${server.origin}/hook?token=1`);
    await workspace.happen();
    await deliverDue(deliverer);
    expect(await onlyDelivery()).toMatchObject({ state: "delivered" });
    expect(server.requests[0]).toStartWith("POST /hook?token=1 HTTP/1.1\r\n");
    expect(server.requests[0]).toMatch(/webhook-signature: v1,[\w+/]{43}=\r\n/i);
    expect(server.requests[0]).toMatch(/content-length: \d+\r\n/i);
  });
});

describe("a receiver without an end", () => {
  beforeEach(async () => {
    await workspace.close();
    workspace = await webhookWorkspace({ timeoutMs: 60 });
    deliverer = createDeliverer(workspace);
  });

  test.each([
    ["never answers", () => serveRaw(() => {})],
    ["drips its answer", () => serveRaw((socket) => drip(socket, head(200)))],
    ["drips its headers", () => serveRaw((socket) => drip(socket, "HTTP/1.1 200 OK\r\nX-Slow: "))],
  ] as const)("that %s is cut off at the time-out", async (_, start) => {
    const server = await using(start());
    workspace.allow(server.origin);
    await workspace.endpoint(server.origin);
    await workspace.happen();
    await deliverDue(deliverer);
    await server.firstClosed;
    expect((await onlyDelivery()).history[0]?.error).toContain("No complete answer came within 0.06 seconds");
  });

  test("that keeps silent in the TLS handshake is cut off too", async () => {
    const server = await using(serveSilence());
    workspace.allow(server.origin);
    await workspace.endpoint(server.origin);
    await workspace.happen();
    await deliverDue(deliverer);
    expect(await onlyDelivery()).toMatchObject({ state: "pending", attempts: 1 });
  });

  function drip(socket: { write(text: string): unknown; writable: boolean }, start: string) {
    socket.write(start);
    const timer = setInterval(() => (socket.writable ? socket.write("x") : clearInterval(timer)), 5);
  }
});

test("an attempt that this machine could not make counts for nobody, and is made a little later", async () => {
  let isHindered = true;
  await workspace.close();
  workspace = await webhookWorkspace({
    resolve: async (name) => {
      if (isHindered && name === "hooks.example") throw new GuardedHttpError("ours", "EMFILE");
      return ["127.0.0.1"];
    },
  });
  deliverer = createDeliverer(workspace);
  const server = await using(serveRaw((socket) => socket.end(head(200, { "Content-Length": 0 }))));
  workspace.allow(`http://hooks.example:${server.port}`);
  isHindered = false;
  await workspace.endpoint(`http://hooks.example:${server.port}/`);
  isHindered = true;
  await workspace.happen();
  expect(await deliverDue(deliverer)).toBe(1);
  expect(await onlyDelivery()).toMatchObject({ state: "pending", attempts: 0, history: [] });
  const [endpoint] = await listEndpoints(workspace, { accountId: workspace.accountId });
  expect(endpoint).toMatchObject({ state: "enabled", failingSince: null });
  isHindered = false;
  workspace.clock.advance(EXHAUSTED_RETRY_MS);
  await deliverDue(deliverer);
  expect(await onlyDelivery()).toMatchObject({ state: "delivered", attempts: 1 });
});

describe("at every attempt", () => {
  test("a name that has come to lead to a private address is refused, and nothing is connected", async () => {
    const canary = await using(startCanary());
    let addresses = ["93.184.216.34"];
    await workspace.close();
    workspace = await webhookWorkspace({ resolve: async () => addresses });
    deliverer = createDeliverer(workspace);
    await workspace.endpoint(`https://rebind.example:${canary.port}/`);
    addresses = ["127.0.0.1"];
    await workspace.happen();
    await deliverDue(deliverer);
    expect((await onlyDelivery()).history[0]).toMatchObject({ status: null });
    expect((await onlyDelivery()).history[0]?.error).toContain("not on the public internet");
    expect(await canary.connections()).toBe(0);
  });
});
