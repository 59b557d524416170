import { afterAll, beforeAll, expect, test } from "bun:test";
import { suspendAccount } from "../../src/app/people/manage-account.ts";
import { MAX_QUEUE_WAIT_MS, TYPICAL_RENDER_MS } from "../../src/core/limits.ts";
import { ledgerPage } from "../../src/store/credits/ledger.ts";
import { queueDepth } from "../../src/store/images/queue-depth.ts";
import { findAccount } from "../../src/store/people/accounts.ts";
import { get, imageRequest, post, type TestServer, testAccount, testServer } from "../harness.ts";

let server: TestServer;
/** Photos that are answered when the test says so. */
let held: { url: string; asked: Promise<void>; answer: () => void; stop: () => void };
beforeAll(async () => {
  held = heldPhotos();
  server = await testServer({ env: { CARDPRESS_SOURCE_ALLOWED_ORIGINS: new URL(held.url).origin } });
});
afterAll(async () => {
  await server.close();
  held.stop();
});

function heldPhotos() {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const photo = Bun.file(`${import.meta.dir}/../photos/astronaut.png`);
  const photos = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async ({ url }) => {
      if (!url.endsWith("/held.png")) return new Response(photo);
      asked.resolve();
      await gate.promise;
      return new Response(photo);
    },
  });
  const url = `http://127.0.0.1:${photos.port}/held.png`;
  return { url, asked: asked.promise, answer: () => gate.resolve(), stop: () => void photos.stop(true) };
}

const body = (photo: string) => imageRequest({ player: { source_image_url: new URL(photo, held.url).href } });

test("5 parallel creates on 3 credits: three are accepted, two are 402, nothing is held twice", async () => {
  const { account, liveKey } = await testAccount(server.service, { credits: 3 });
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(server.baseUrl, liveKey, body("/now.png"))),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 202, 402, 402]);
  const entries = await ledgerPage(server.service.store.read, { accountId: account.id, limit: 100 });
  expect(entries.filter(({ kind }) => kind === "reserve")).toHaveLength(3);
  expect((await findAccount(server.service.store.read, account.id))?.creditsPlan).toBe(0);
});

test("an account suspended while its photo is being fetched is refused, and nothing is reserved", async () => {
  const { account, liveKey } = await testAccount(server.service, { credits: 3 });
  const create = post(server.baseUrl, liveKey, body("/held.png"));
  await held.asked;
  await suspendAccount(server.service, account.id, "unpaid");
  held.answer();
  const answer = await create;
  expect(answer.status).toBe(403);
  expect(await answer.json()).toMatchObject({ error: { code: "PARTNER_SUSPENDED" } });
  expect(await findAccount(server.service.store.read, account.id)).toMatchObject({
    creditsPlan: 3,
    creditsHeld: 0,
  });
});

test("past the bound on waiting a create is 503 with Retry-After before its photo is fetched, and reads go on", async () => {
  const { account, liveKey } = await testAccount(server.service, { credits: 10_000 });
  const { store, queue } = server.service;
  // Renders that took two minutes each: a handful of waiting images is more work than the bound allows.
  for (let n = 0; n < 200; n++) queue.observe(MAX_QUEUE_WAIT_MS);
  const statuses: number[] = [];
  let refused: Response | undefined;
  for (let n = 0; n < 20 && !refused; n++) {
    const answer = await post(server.baseUrl, liveKey, body("/now.png"));
    statuses.push(answer.status);
    if (answer.status !== 202) refused = answer;
  }
  expect(refused?.status).toBe(503);
  expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused?.json()).toMatchObject({ error: { code: "SERVICE_OVERLOADED" } });
  const accepted = statuses.filter((status) => status === 202).length;
  const reserved = (await ledgerPage(store.read, { accountId: account.id, limit: 100 })).filter(
    ({ kind }) => kind === "reserve",
  );
  expect(reserved).toHaveLength(accepted);
  const { queued, rendering } = await queueDepth(store.read, "live");
  expect(queued + rendering).toBeGreaterThan(0);
  expect((await get(server.baseUrl, liveKey, "/v1/images")).status).toBe(200);
  for (let n = 0; n < 200; n++) queue.observe(TYPICAL_RENDER_MS);
});
