/**
 * How fast the API answers when one account has a million images: bun scripts/bench/million.ts [images]
 * Over real sockets, one request after another; the figures cover server and client, both in this process.
 */

import { Database } from "bun:sqlite";
import { stat } from "node:fs/promises";
import { createKey } from "../../src/app/people/manage-account.ts";
import type { PublicStatus } from "../../src/core/image-state.ts";
import { encodeCursor } from "../../src/http/cursor.ts";
import { systemRandom } from "../../src/service/system.ts";
import { listImagesQuery } from "../../src/store/images/image-reads.ts";
import { imageRequest, post } from "../../test/harness.ts";
import { type Json, send, testApi } from "../../test/http/api.ts";
import { offerHelp } from "../help.ts";
import { createdAtOf, fillDatabase, idOf } from "./fill.ts";

offerHelp(import.meta);

const images = Number(process.argv[2] ?? 1_000_000);
const ROUNDS = 300;
const ACCOUNT = "acct_0";

const api = await testApi({ random: systemRandom });
try {
  const startedAt = performance.now();
  await fillDatabase(api.folder.database, { images, perAccount: images });
  const mb = Math.round((await stat(api.folder.database)).size / 1024 ** 2);
  console.log(
    `${images} images of one account, ${mb} MB, filled in ${Math.round((performance.now() - startedAt) / 1000)} s`,
  );
  const keyFor = async (environment: "live" | "test") =>
    (await createKey(api, { accountId: ACCOUNT, environment, name: "bench", by: null })).key;
  const [live, test] = [await keyFor("live"), await keyFor("test")];

  const get = async (path: string): Promise<Json> => {
    const response = await send(api, path, { headers: { "X-API-Key": live } });
    const body = (await response.json()) as Json;
    if (!body.success) throw new Error(JSON.stringify(body));
    return body.data;
  };
  await measure("list, first page of 20", () => get("/v1/images"));
  await measure("list, first page of 100", () => get("/v1/images?limit=100"));
  const deep = cursorAt(0.5);
  await measure("list, page of 20 half a million deep", () => get(`/v1/images?after=${deep}`));
  await measure("list, page of 100 half a million deep", () => get(`/v1/images?limit=100&after=${deep}`));
  for (const status of ["completed", "failed", "processing"]) {
    await measure(`list, status=${status}`, () => get(`/v1/images?status=${status}`));
  }
  // Fifty images wait: a page of a hundred has to find that there are no more.
  await measure("list, status=processing&limit=100", () => get("/v1/images?status=processing&limit=100"), 10);
  for (const period of ["current_month", "last_30_days"]) {
    await measure(`usage, ${period}`, () => get(`/v1/usage?period=${period}`));
  }
  await measure("get one image", () => get(`/v1/images/${idOf(Math.floor(images / 3))}`));
  await measure("create with a test key", async () => {
    const response = await post(api.baseUrl, test, imageRequest());
    if (response.status !== 202) throw new Error(await response.text());
  });
  const body = imageRequest({ player: { source_image_url: api.photo } });
  await measure(
    "create with a live key (photo fetched and checked)",
    async () => {
      const response = await post(api.baseUrl, live, body);
      if (response.status !== 202) throw new Error(await response.text());
    },
    // More would fill one worker's queue.
    25,
  );
  showPlans();
} finally {
  await api.close();
}

/** A cursor as the service makes them, `share` of the way from the oldest image. */
function cursorAt(share: number): string {
  const at = Math.floor(images * share);
  const createdAt = createdAtOf(at, images);
  const position = { createdAt, id: idOf(at) };
  return encodeCursor(position, { accountId: ACCOUNT, environment: "live" });
}

async function measure(name: string, work: () => Promise<unknown>, rounds = ROUNDS): Promise<void> {
  api.clock.advance(60_000);
  await work();
  const times: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const startedAt = performance.now();
    await work();
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  console.log(`${name.padEnd(52)} median ${at(0.5)} ms, 99th of 100 ${at(0.99)} ms`);
}

function showPlans(): void {
  const client = new Database(api.folder.database, { readonly: true });
  const scope = { accountId: ACCOUNT, environment: "live", limit: 21 } as const;
  const cases: (PublicStatus | undefined)[] = [undefined, "completed", "failed", "processing"];
  for (const status of cases) {
    const { sql, params } = listImagesQuery(api.store.read, {
      ...scope,
      status,
      after: { createdAt: 1, id: "x" },
    }).toSQL();
    const plan = client
      .query<{ detail: string }, never[]>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...(params as never[]));
    console.log(`plan, status=${status ?? "any"}: ${plan.map(({ detail }) => detail).join(" / ")}`);
  }
  client.close();
}
