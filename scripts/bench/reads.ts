/**
 * How fast the API answers reads, and a create with a known photo, compared with a bare Bun and bun:sqlite
 * route in the same run.
 *
 *     bun scripts/bench/reads.ts [--requests 20000]
 *
 * Both are separate processes on one database of 20,000 images, queried over 32 connections in turn. The bare
 * route looks a row up by its id and answers it as JSON, without keys, limits, headers or a log. What counts
 * is the server's CPU time per request, because elapsed time also includes the client and other load.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createKey } from "../../src/app/people/manage-account.ts";
import { quietLog } from "../../src/log.ts";
import { openWorkspace } from "../../src/service/workspace.ts";
import { imageRequest, photoServer, testConfig } from "../../test/harness.ts";
import { keepRendering } from "./busy-workers.ts";
import { fillDatabase, idOf } from "./fill.ts";
import { load, within } from "./load.ts";
import { type RunningServer, startServer } from "./running-server.ts";

const IMAGES = 20_000;
const ACCOUNT = "acct_0";
const CONNECTIONS = 32;
/** Each figure is the median of this many rounds, every route once per round. */
const TURNS = 3;

interface Route {
  name: string;
  server: RunningServer;
  request: () => string;
  status: number;
}

interface Cost {
  perSecond: number;
  processorUs: number;
  p50: number;
  p99: number;
}

/** Prints a line per route. `requests` is the number sent in each round. */
export async function benchReads(requests: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), "cardpress-reads-"));
  const photos = photoServer();
  const servers: RunningServer[] = [];
  try {
    await fillDatabase(join(dir, "cardpress.db"), { images: IMAGES, perAccount: IMAGES });
    const key = await liveKey(dir);
    const place = { dir, photos: photos.origin };
    const bare = await startServer("bare", place);
    const ours = await startServer("cardpress", place);
    servers.push(bare, ours);
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n\r\n`;
    const image = `/v1/images/${idOf(IMAGES / 2)}`;
    const routes: Route[] = [
      { name: "bare Bun + bun:sqlite", server: bare, request: () => get(image), status: 200 },
      { name: "GET /v1/images/:id", server: ours, request: () => get(image), status: 200 },
      { name: "GET /v1/images", server: ours, request: () => get("/v1/images"), status: 200 },
      {
        name: "GET /v1/usage",
        server: ours,
        request: () => get("/v1/usage?period=current_month"),
        status: 200,
      },
    ];
    const rates = await inTurns(routes, requests);
    await replays(ours, key, photos.url("yoga.jpg"));
    await besideRenders(routes.slice(1), rates.slice(1), dir);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await photos.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the requests per second that each route answered. */
async function inTurns(routes: Route[], requests: number): Promise<number[]> {
  const costs = new Map<string, Cost[]>(routes.map(({ name }) => [name, []]));
  for (const route of routes) await cost(route, Math.min(2_000, requests));
  for (let turn = 0; turn < TURNS; turn++) {
    for (const route of routes) costs.get(route.name)?.push(await cost(route, requests));
  }
  const [baseline] = routes.map(({ name }) => medianCost(costs.get(name) ?? []));
  console.log(`Reads, ${CONNECTIONS} connections, the median of ${TURNS} turns:`);
  for (const { name } of routes) {
    const one = medianCost(costs.get(name) ?? []);
    const ratio = (one.perSecond / (baseline?.perSecond ?? 1)).toFixed(2);
    const byWork = ((baseline?.processorUs ?? 0) / one.processorUs).toFixed(2);
    console.log(
      `  ${name.padEnd(22)} ${one.perSecond.toFixed(0).padStart(6)}/s (${ratio})   processor ${one.processorUs.toFixed(1).padStart(6)} µs (${byWork})   half of all within ${one.p50.toFixed(2)} ms, 99 of 100 within ${one.p99.toFixed(2)} ms`,
    );
  }
  return routes.map(({ name }) => medianCost(costs.get(name) ?? []).perSecond);
}

const RENDER_WORKERS = 2;
/** How long each route is asked, so that many cards are begun and ended meanwhile. */
const BESIDE_RENDERS_SECONDS = 5;

/**
 * The times of answers at half of what each route can, while cards are made. `rates` is requests per second.
 */
async function besideRenders(routes: Route[], rates: number[], dir: string): Promise<void> {
  const workers = await keepRendering(RENDER_WORKERS, {
    dir,
    cacheDir: join(tmpdir(), "cardpress-test-cache"),
  });
  console.log(`Reads at half that rate while ${RENDER_WORKERS} workers render new photos:`);
  for (const [place, { name, server, request, status }] of routes.entries()) {
    const perSecond = (rates[place] ?? 0) / 2;
    const before = workers.made();
    const { times, ...got } = await load({
      port: server.port,
      request: request(),
      status,
      connections: CONNECTIONS,
      requests: Math.ceil(perSecond * BESIDE_RENDERS_SECONDS),
      perSecond,
    });
    console.log(
      `  ${name.padEnd(22)} ${got.perSecond.toFixed(0).padStart(6)}/s of ${perSecond.toFixed(0)}   half of all within ${within(times, 0.5).toFixed(2)} ms, 99 of 100 within ${within(times, 0.99).toFixed(2)} ms   ${workers.made() - before} cards done meanwhile`,
    );
  }
  await workers.stop();
}

async function cost({ server, request, status }: Route, requests: number): Promise<Cost> {
  const before = await server.report();
  const { perSecond, times } = await load({
    port: server.port,
    request: request(),
    status,
    connections: CONNECTIONS,
    requests,
  });
  const processorUs = ((await server.report()).processorUs - before.processorUs) / requests;
  return { perSecond, processorUs, p50: within(times, 0.5), p99: within(times, 0.99) };
}

function medianCost(costs: Cost[]): Cost {
  const of = (name: keyof Cost) =>
    costs.map((one) => one[name]).sort((a, b) => a - b)[costs.length >> 1] ?? 0;
  return { perSecond: of("perSecond"), processorUs: of("processorUs"), p50: of("p50"), p99: of("p99") };
}

/** How many creates are measured, after some that warm up the code. */
const CREATES = 150;

/** Creates with a previously fetched photo, one after the other. */
async function replays(server: RunningServer, key: string, photo: string): Promise<void> {
  const body = JSON.stringify(imageRequest({ player: { source_image_url: photo } }));
  let count = 0;
  const create = async () => {
    const head = `POST /v1/images HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\nIdempotency-Key: reads-${count++}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    return load({ port: server.port, request: head + body, status: 202, connections: 1, requests: 1 });
  };
  for (let n = 0; n < 60; n++) await create();
  const before = await server.report();
  const times: number[] = [];
  for (let n = 0; n < CREATES; n++) times.push(...(await create()).times);
  const processorUs = ((await server.report()).processorUs - before.processorUs) / CREATES;
  times.sort((a, b) => a - b);
  console.log(
    `  ${"POST /v1/images".padEnd(22)} known photo, one after the other: half within ${within(times, 0.5).toFixed(2)} ms, processor ${(processorUs / 1000).toFixed(2)} ms`,
  );
}

async function liveKey(dir: string): Promise<string> {
  const workspace = await openWorkspace(testConfig(dir), quietLog());
  const { key } = await createKey(workspace, {
    accountId: ACCOUNT,
    environment: "live",
    name: "bench",
    by: null,
  });
  await workspace.store.close();
  return key;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { requests: { type: "string", default: "20000" } } });
  await benchReads(Number(values.requests));
  process.exit(0);
}
