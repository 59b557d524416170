import { createEndpoint } from "../../src/app/webhooks/manage-webhooks.ts";
import { recordEvent } from "../../src/app/webhooks/webhook-events.ts";
import { startDeliveries } from "../../src/service/deliveries.ts";
import { systemRandom } from "../../src/service/system.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { systemClock } from "../../src/system/clock-file.ts";
import { silentLog, testAccount, testConfig, testFolder } from "../../test/harness.ts";

/**
 * The maximum number of endpoints per account and environment; more are spread over accounts with the same
 * events.
 */
const ENDPOINTS_PER_ACCOUNT = 10;

export interface Storm {
  events: number;
  endpoints: number;
  hanging: number;
  failing: number;
  eventsPerSecond: number;
}

export interface StormReport {
  healthyEndpoints: number;
  deliveries: number;
  /** Healthy endpoints that did not receive every event. */
  incomplete: number;
  /** Arrivals beyond one per event and endpoint. */
  repeats: number;
  /** From the first event to the last arrival at a healthy endpoint, in milliseconds. */
  tookMs: number;
  deliveriesPerSecond: number;
  /** From an event's commit to its arrival at a healthy endpoint. */
  delayMs: { p50: number; p95: number; p99: number; max: number };
  /** Attempts to reach a hanging and a failing endpoint meanwhile: the maximum for any one. */
  attempts: { hanging: number; failing: number };
}

/** The real store, deliveries and sockets. Receivers share this process and its cores with the sender. */
export async function benchWebhooks(storm: Storm): Promise<StormReport> {
  const folder = testFolder();
  const receivers = Array.from({ length: storm.endpoints }, (_, i) =>
    startReceiver(i < storm.hanging ? "hangs" : i < storm.hanging + storm.failing ? "fails" : "well"),
  );
  const origins = receivers.map(({ origin }) => origin).join(",");
  const config = testConfig(folder.dir, { CARDPRESS_WEBHOOK_ALLOWED_ORIGINS: origins });
  const context = await openWorkspace(config, silentLog, { clock: systemClock, random: systemRandom });
  const accounts: string[] = [];
  for (const [i, { origin }] of receivers.entries()) {
    if (i % ENDPOINTS_PER_ACCOUNT === 0) accounts.push((await testAccount(context)).account.id);
    const accountId = accounts.at(-1) ?? "";
    await createEndpoint(context, { accountId, environment: "live", url: `${origin}/` });
  }
  const deliveries = startDeliveries(context);
  const healthy = receivers.filter(({ kind }) => kind === "well");
  const startedAt = performance.now();
  const committedAt = new Map<number, number>();
  for (let number = 0; number < storm.events; number++) {
    const dueAt = startedAt + (number / storm.eventsPerSecond) * 1000;
    if (performance.now() < dueAt) await Bun.sleep(dueAt - performance.now());
    await context.store.write("test", async (tx) => {
      for (const accountId of accounts) {
        const subject = `${accountId}.${number}`;
        const data = { image_id: subject, number };
        const event = { accountId, environment: "live", type: "image.completed", subject, data } as const;
        await recordEvent(tx, event, { now: context.clock.now(), random: context.random });
      }
    });
    committedAt.set(number, performance.now());
    deliveries.wake();
  }
  await Promise.all(healthy.map((one) => one.got(storm.events)));
  const tookMs = performance.now() - startedAt;

  for (const one of receivers) one.release();
  await deliveries.stop();
  await context.store.close();
  for (const one of receivers) one.close();
  await folder.remove();

  const delays = healthy.flatMap(({ arrivals }) =>
    [...arrivals].map(([number, at]) => at - (committedAt.get(number) ?? 0)),
  );
  const most = (kind: Kind) =>
    Math.max(0, ...receivers.filter((r) => r.kind === kind).map((r) => r.requests()));
  const deliveriesMade = healthy.reduce((sum, one) => sum + one.arrivals.size, 0);
  return {
    healthyEndpoints: healthy.length,
    deliveries: deliveriesMade,
    incomplete: healthy.filter(({ arrivals }) => arrivals.size < storm.events).length,
    repeats: healthy.reduce((sum, one) => sum + one.requests() - one.arrivals.size, 0),
    tookMs: Math.round(tookMs),
    deliveriesPerSecond: Math.round((deliveriesMade / tookMs) * 1000),
    delayMs: quantiles(delays),
    attempts: { hanging: most("hangs"), failing: most("fails") },
  };
}

type Kind = "well" | "hangs" | "fails";

function startReceiver(kind: Kind) {
  const arrivals = new Map<number, number>();
  const complete = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  let requests = 0;
  let awaited = Number.POSITIVE_INFINITY;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch: async (request) => {
      const { data } = (await request.json()) as { data: { number: number } };
      requests++;
      if (!arrivals.has(data.number)) arrivals.set(data.number, performance.now());
      if (arrivals.size >= awaited) complete.resolve();
      if (kind === "hangs") await released.promise;
      return new Response("ok", { status: kind === "well" ? 200 : 500 });
    },
  });
  return {
    kind,
    arrivals,
    requests: () => requests,
    origin: `http://127.0.0.1:${server.port}`,
    got: (count: number) => {
      awaited = count;
      if (arrivals.size >= count) complete.resolve();
      return complete.promise;
    },
    release: released.resolve,
    close: () => void server.stop(true),
  };
}

function quantiles(values: number[]): StormReport["delayMs"] {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => Number((sorted[Math.ceil(part * sorted.length) - 1] ?? 0).toFixed(1));
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1) };
}
