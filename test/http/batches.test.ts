import { afterAll, beforeAll, expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { cancelBatch } from "../../src/app/batches/cancel-batch.ts";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { claimImage } from "../../src/app/images/render-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { BATCH_FETCH_LEASE_MS } from "../../src/core/batch-fetch-limits.ts";
import { AcceptedBatchResponse, BatchListResponse, BatchResponse } from "../../src/http/batch-schemas.ts";
import { BatchCompletedEvent } from "../../src/http/openapi/webhook-schemas.ts";
import type { SourceFetcher } from "../../src/sources/fetch-source.ts";
import { claimWaiting, imagesOfBatch, nextWaiting } from "../../src/store/images/batches.ts";
import type { Tx } from "../../src/store/store.ts";
import { get, imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import {
  expectError,
  expectShape,
  expectSuccess,
  finishNext,
  type Json,
  send,
  type TestApi,
  testApi,
} from "./api.ts";

const HOUR_MS = 3_600_000;

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const cardsOf = (count: number, photo = "yoga.jpg", from = 0) =>
  Array.from({ length: count }, (_, n) => {
    const [external_id, name] = [`p${from + n}`, `Player ${from + n}`];
    return imageRequest({ player: { external_id, name, source_image_url: api.photos.url(photo) } });
  });

function postBatch(key: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return send(api, "/v1/batches", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key, ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const accepted = async (response: Promise<Response>): Promise<Json> =>
  expectSuccess(await response, 202, AcceptedBatchResponse);
const batchOf = async (key: string, id: string): Promise<Json> =>
  expectSuccess(await get(api.baseUrl, key, `/v1/batches/${id}`), 200, BatchResponse);
const cancel = (key: string, id: string) =>
  send(api, `/v1/batches/${id}`, { method: "DELETE", headers: { "X-API-Key": key } });
const accountOf = async ({ account }: TestAccount) => {
  const { db, t } = api.store.read;
  return (await db.select().from(t.accounts)).find(({ id }) => id === account.id);
};
const breaches = async () => (await audit(api.store, api.clock.now())).findings.filter(({ ok }) => !ok);

/** Fetches until nothing is left that can be fetched now. */
async function fetchAll(): Promise<void> {
  const fetcher = photoFetcher(api, { onQueued: () => {}, onEnd: () => {} });
  for (let more = true; more; ) {
    more = false;
    await fetcher.fetchNext(new AbortController().signal, () => {
      more = true;
    });
  }
}

/** A host that never answers. */
const hangs: SourceFetcher["fetchPhoto"] = (_, { signal } = {}) =>
  new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));

test("a batch is accepted whole, its photos come afterwards, and it ends with one event when its last card does", async () => {
  const own = await testAccount(api, { credits: 10 });
  const body = { name: "First team", cards: [...cardsOf(2), ...cardsOf(1, "missing.jpg", 2)] };
  const { batch_id, images, total, eta_seconds } = await accepted(postBatch(own.liveKey, body));
  const ids = images.map(({ external_id }: Json) => external_id);
  expect({ total, ids }).toEqual({ total: 3, ids: ["p0", "p1", "p2"] });
  expect(eta_seconds).toBeGreaterThanOrEqual(1);
  expect(await accountOf(own)).toMatchObject({ creditsPlan: 7, creditsHeld: 3 });
  // No photo, no render.
  expect(await claimImage(api, "live")).toBeUndefined();
  await fetchAll();
  const fetched = await batchOf(own.liveKey, batch_id);
  expect(fetched).toMatchObject({ status: "processing", failed: 1, processing: 2, progress: 0.333 });
  expect(fetched.images[2]).toMatchObject({
    status: "failed",
    failure: { code: "IMAGE_PROCESSING_FAILED", reason: "photo_unreachable" },
  });
  expect(fetched.images[2].failure.message).toContain("404");
  await finishNext(api, "completed");
  await finishNext(api, "refused");
  const ended = { status: "completed", completed: 1, failed: 2, progress: 1 };
  expect(await batchOf(own.liveKey, batch_id)).toMatchObject(ended);
  expect(await accountOf(own)).toMatchObject({ creditsPlan: 9, creditsHeld: 0 });
  const { db, t } = api.store.read;
  const events = (await db.select().from(t.webhookEvents)).filter(({ type }) => type === "batch.completed");
  expect(events).toHaveLength(1);
  expectShape(BatchCompletedEvent, JSON.parse(events[0]?.body ?? ""));
  expect(await breaches()).toEqual([]);
});

test("several processes fetch each photo once, and what one was fetching that ended is fetched again", async () => {
  const own = await testAccount(api, { credits: 10 });
  const { batch_id } = await accepted(postBatch(own.liveKey, { cards: cardsOf(6) }));
  const never = {
    fetchPhoto: hangs,
    fetchBadge: hangs,
    fetchPicture: (_: string, url: string) => hangs(url),
  };
  const nothing = { onQueued: () => {}, onEnd: () => {} };
  const stopping = new AbortController();
  const stopped = photoFetcher({ ...api, sources: never }, nothing);
  const claimed = Promise.withResolvers<void>();
  const given = stopped.fetchNext(stopping.signal, claimed.resolve);
  await claimed.promise;
  // A killed process: it never says more.
  const now = api.clock.now();
  const next = await nextWaiting(api.store.read, { now, exceptAccounts: [] });
  const until = now + BATCH_FETCH_LEASE_MS;
  const claim = (tx: Tx) => claimWaiting(tx, next?.id ?? "none", { now, until });
  expect(await api.store.write("test", claim)).toBeDefined();

  const before = api.photos.requests.length;
  await Promise.all([fetchAll(), fetchAll(), fetchAll()]);
  expect(api.photos.requests.length - before).toBe(4);
  stopping.abort();
  await given;
  await fetchAll();
  expect(api.photos.requests.length - before).toBe(5);
  api.clock.advance(BATCH_FETCH_LEASE_MS);
  await Promise.all([fetchAll(), fetchAll()]);
  expect(api.photos.requests.length - before).toBe(6);
  const rows = await imagesOfBatch(api.store.read, batch_id);
  expect(rows.map(({ state }) => state)).toEqual(Array(6).fill("queued"));
  expect((await cancel(own.liveKey, batch_id)).status).toBe(200);
});

test("one fault refuses the whole batch, and every fault is listed with its place", async () => {
  const own = await testAccount(api, { credits: 10 });
  const cards: Json[] = cardsOf(4);
  cards[1].player.number = 100;
  cards[2].colour = "red";
  cards[3].player.external_id = "p0";
  const error = await expectError(await postBatch(own.liveKey, { cards, team: "A" }), "INVALID_REQUEST");
  expect(error.details.map(({ field }: Json) => field)).toEqual([
    "team",
    "cards[1].player.number",
    "cards[2].colour",
    "cards[3].player.external_id",
  ]);
  for (const body of [{}, { cards: [] }, { cards: "all" }, [], { cards: [7] }, "{", ""])
    await expectError(await postBatch(own.liveKey, body), "INVALID_REQUEST");
  const tooMany = await postBatch(own.liveKey, { cards: cardsOf(1_001) });
  const { details } = await expectError(tooMany, "INVALID_REQUEST");
  expect(details[0]).toEqual({
    field: "cards",
    message: "must be an array of 1 to 1000 cards. It has 1001: send several batches.",
  });
  const one = { cards: cardsOf(1) };
  for (const key of ["a b", ""]) {
    const refused = await postBatch(own.liveKey, one, { "Idempotency-Key": key });
    const { message } = (await expectError(refused, "INVALID_REQUEST")).details[0];
    expect(message).toEndWith("without spaces, or left out.");
  }
  await expectError(await postBatch(own.liveKey, "x".repeat(4 * 1024 * 1024 + 1)), "PAYLOAD_TOO_LARGE");
  await expectError(
    await postBatch(own.liveKey, one, { "Content-Type": "text/plain" }),
    "UNSUPPORTED_MEDIA_TYPE",
  );
  await expectError(await postBatch("sk_live_x", one), "INVALID_API_KEY");
  expect(await accountOf(own)).toMatchObject({ creditsPlan: 10, creditsHeld: 0 });
});

test("credits are reserved for all cards or for none", async () => {
  const own = await testAccount(api, { credits: 5 });
  const error = await expectError(
    await postBatch(own.liveKey, { cards: cardsOf(6) }),
    "INSUFFICIENT_CREDITS",
  );
  expect(error.message).toContain("needs 6 credits and the account has 5");
  expect(error.credits).toEqual({ needed: 6, remaining: 5, renews_at: "2026-12-01T00:00:00.000Z" });
  expect(await accountOf(own)).toMatchObject({ creditsPlan: 5, creditsHeld: 0 });
  const { batch_id } = await accepted(postBatch(own.liveKey, { cards: cardsOf(5) }));
  expect(await accountOf(own)).toMatchObject({ creditsPlan: 0, creditsHeld: 5 });
  expect(await breaches()).toEqual([]);
  await cancel(own.liveKey, batch_id);
});

test("a thousand cards are taken at once, and neither they nor single cards beside them starve", async () => {
  const [own, other] = [await testAccount(api, { credits: 2_000 }), await testAccount(api)];
  const { batch_id, total } = await accepted(postBatch(own.liveKey, { cards: cardsOf(1_000) }));
  expect(total).toBe(1_000);
  await fetchAll();
  const photo = { player: { source_image_url: api.photo } };
  for (const key of [other.liveKey, own.liveKey])
    expect((await post(api.baseUrl, key, imageRequest(photo))).status).toBe(202);
  const served: (string | undefined)[] = [];
  for (let n = 0; n < 4; n++) {
    const image = await claimImage(api, "live");
    served.push(image?.lane === 1 ? "batch" : image?.accountId);
  }
  expect(served).toContain(other.account.id);
  expect(served).toContain(own.account.id);
  expect(served).toContain("batch");
  const canceled = await expectSuccess(await cancel(own.liveKey, batch_id), 200, BatchResponse);
  expect(canceled).toMatchObject({ status: "canceled" });
  // Renders that had begun continue; their credits and the single card's are all that is held.
  expect(await accountOf(own)).toMatchObject({ creditsHeld: canceled.processing + 1 });
  expect(canceled.failed + canceled.processing).toBe(1_000);
  expect(await breaches()).toEqual([]);
});

test("the same key with the same body is the same batch, with another body a conflict", async () => {
  const own = await testAccount(api, { credits: 10 });
  const headers = { "Idempotency-Key": "squad-1" };
  const first = await accepted(postBatch(own.liveKey, { cards: cardsOf(2) }, headers));
  const response = await postBatch(own.liveKey, { cards: cardsOf(2) }, headers);
  expect(response.headers.get("idempotent-replayed")).toBe("true");
  expect((await expectSuccess(response, 202, AcceptedBatchResponse)).batch_id).toBe(first.batch_id);
  await expectError(
    await postBatch(own.liveKey, { cards: cardsOf(3) }, headers),
    "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
  );
  await cancel(own.liveKey, first.batch_id);
  api.clock.advance(73 * HOUR_MS);
  const late = await accepted(postBatch(own.liveKey, { cards: cardsOf(2) }, headers));
  expect(late.batch_id).not.toBe(first.batch_id);
  expect(await breaches()).toEqual([]);
  await cancel(own.liveKey, late.batch_id);
});

test("without a key a card that was sent in the same words is not made again, unless it failed", async () => {
  const own = await testAccount(api, { credits: 10 });
  const missing = cardsOf(1, "missing.jpg", 2);
  const first = await accepted(postBatch(own.liveKey, { cards: [...cardsOf(2), ...missing] }));
  await fetchAll();
  const changed = [...cardsOf(1), ...cardsOf(1, "skier.jpg", 1), ...missing];
  const second = await accepted(postBatch(own.liveKey, { cards: changed }));
  const ids = (batch: Json) => batch.images.map(({ image_id }: Json) => image_id);
  expect(ids(second)[0]).toBe(ids(first)[0]);
  expect(ids(second)[1]).not.toBe(ids(first)[1]);
  expect(ids(second)[2]).not.toBe(ids(first)[2]);
  expect(await accountOf(own)).toMatchObject({ creditsHeld: 4 });
  await fetchAll();
  for (let more = true; more; )
    more = await finishNext(api, "completed").then(
      () => true,
      () => false,
    );
  for (const { batch_id } of [first, second])
    expect(await batchOf(own.liveKey, batch_id)).toMatchObject({
      status: "completed",
      completed: 2,
      failed: 1,
    });
  expect(await breaches()).toEqual([]);
});

test("a canceled batch gives its credits back, twice is once, and nobody else's can be canceled", async () => {
  const [own, other] = [await testAccount(api, { credits: 5 }), await testAccount(api)];
  const { batch_id } = await accepted(postBatch(own.liveKey, { cards: cardsOf(4) }));
  for (const key of [other.liveKey, own.testKey]) {
    await expectError(await cancel(key, batch_id), "NOT_FOUND");
    await expectError(await get(api.baseUrl, key, `/v1/batches/${batch_id}`), "NOT_FOUND");
    await expectError(await get(api.baseUrl, key, `/v1/batches/${batch_id}/pictures.zip`), "NOT_FOUND");
  }
  const canceled = await expectSuccess(await cancel(own.liveKey, batch_id), 200, BatchResponse);
  expect(canceled).toMatchObject({ status: "canceled", failed: 4, processing: 0 });
  expect(canceled.images[0].failure.message).toContain("canceled");
  expect(await expectSuccess(await cancel(own.liveKey, batch_id), 200, BatchResponse)).toEqual(canceled);
  expect(await accountOf(own)).toMatchObject({ creditsPlan: 5, creditsHeld: 0 });
  expect(await breaches()).toEqual([]);
});

test("canceling sixty cards asks the database no more often than canceling two", async () => {
  const own = await testAccount(api, { credits: 100 });
  const asked: number[] = [];
  for (const cards of [2, 60]) {
    const { batch_id: id } = await accepted(postBatch(own.liveKey, { cards: cardsOf(cards) }));
    let count = 0;
    const write: typeof api.store.write = (name, fn, options) =>
      api.store.write(name, (tx) => fn(counting(tx, () => count++)), options);
    const scope = { accountId: own.account.id, environment: "live", id } as const;
    const canceled = await cancelBatch({ ...api, store: { ...api.store, write } }, scope);
    expect(canceled.failed).toBe(cards);
    asked.push(count);
  }
  expect(asked[1]).toBe(asked[0] as number);
  expect(await accountOf(own)).toMatchObject({ creditsPlan: 100, creditsHeld: 0 });
  expect(await breaches()).toEqual([]);
});

/** The transaction, each of whose queries is counted as it is begun. */
function counting(tx: Tx, note: () => void): Tx {
  const db = new Proxy(tx.db, {
    get: (of, name) => {
      if (["select", "insert", "update", "delete"].includes(String(name))) note();
      return Reflect.get(of, name);
    },
  });
  if (!tx.rawQuery) return { ...tx, db };
  const { rawQuery } = tx;
  return {
    ...tx,
    db,
    rawQuery: (...query) => {
      note();
      return rawQuery(...query);
    },
  };
}

test("a card that another batch comes to want while its own is being canceled is made", async () => {
  const own = await testAccount(api, { credits: 5 });
  const { batch_id: id } = await accepted(postBatch(own.liveKey, { cards: cardsOf(3) }));
  let wanting: Json;
  // The other batch is accepted after the cards to be ended were read, and before the first of them is.
  const write: typeof api.store.write = async (name, fn, options) => {
    if (name === "fail unbegun") wanting ??= await accepted(postBatch(own.liveKey, { cards: cardsOf(2) }));
    return api.store.write(name, fn, options);
  };
  const scope = { accountId: own.account.id, environment: "live", id } as const;
  await cancelBatch({ ...api, store: { ...api.store, write } }, scope);
  expect(await batchOf(own.liveKey, id)).toMatchObject({ status: "canceled", failed: 1, processing: 2 });
  expect(await batchOf(own.liveKey, wanting.batch_id)).toMatchObject({ failed: 0, processing: 2 });
  expect(await accountOf(own)).toMatchObject({ creditsHeld: 2 });
  await cancel(own.liveKey, wanting.batch_id);
  expect(await accountOf(own)).toMatchObject({ creditsHeld: 0 });
  expect(await breaches()).toEqual([]);
});

test("the pictures come as one archive with a table, under names that any computer can write", async () => {
  const own = await testAccount(api, { credits: 5 });
  const cards = cardsOf(3);
  for (const [at, id] of ["../a:b", "..\\a?b"].entries()) {
    const card = cards[at];
    if (card) card.player.external_id = id;
  }
  const { batch_id } = await accepted(postBatch(own.liveKey, { cards }));
  await fetchAll();
  for (const end of ["completed", "completed", "refused"] as const) {
    const id = await finishNext(api, end);
    if (end === "completed") await api.blobs.put("picture", `${id}-0secret.png`, `picture of ${id}`);
  }
  const response = await get(api.baseUrl, own.liveKey, `/v1/batches/${batch_id}/pictures.zip`);
  expect(response.headers.get("content-type")).toBe("application/zip");
  const files = unzipSync(await response.bytes());
  const names = Object.keys(files);
  expect(names).toHaveLength(3);
  for (const name of names) expect(name).not.toMatch(/[\\/:?]|^\.+$/);
  const table = new TextDecoder().decode(files["cards.csv"]).split("\r\n");
  expect(table[0]).toBe(
    "external_id,image_id,status,file,message,reason,hint,parallel,serial,size,name,number",
  );
  expect(table[3]).toMatch(/^p2,img_\d+,failed,,/);
  expect(new TextDecoder().decode(files[names[0] ?? ""])).toStartWith("picture of img_");
});

test("batches are listed newest first, page by page", async () => {
  const own = await testAccount(api);
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) {
    api.clock.advance(1_000);
    ids.unshift((await accepted(postBatch(own.testKey, { cards: cardsOf(1, "yoga.jpg", n) }))).batch_id);
  }
  const seen: string[] = [];
  for (let query = "limit=2"; query; ) {
    const response = await get(api.baseUrl, own.testKey, `/v1/batches?${query}`);
    const page = await expectSuccess(response, 200, BatchListResponse);
    seen.push(...page.batches.map(({ batch_id }: Json) => batch_id));
    query = page.has_more ? `limit=2&after=${page.next_cursor}` : "";
  }
  expect(seen).toEqual(ids);
  for (const query of ["limit=0", "limit=x", "after=nothing", "state=open"])
    await expectError(await get(api.baseUrl, own.testKey, `/v1/batches?${query}`), "INVALID_REQUEST");
  await expectError(await get(api.baseUrl, own.testKey, "/v1/batches/bat_x"), "NOT_FOUND");
});

test("with a test key the magic ids work: some refuse the batch, the others their own card", async () => {
  const own = await testAccount(api);
  const withId = (external_id: string) => ({
    cards: [imageRequest({ player: { external_id } }), ...cardsOf(1)],
  });
  await expectError(
    await postBatch(own.testKey, withId("test_insufficient_credits")),
    "INSUFFICIENT_CREDITS",
  );
  await expectError(await postBatch(own.testKey, withId("test_rate_limited")), "RATE_LIMIT_EXCEEDED");
  const before = api.photos.requests.length;
  await accepted(postBatch(own.testKey, withId("test_unsupported_source")));
  expect(api.photos.requests).toHaveLength(before);
});
