import { afterAll, beforeAll, expect, test } from "bun:test";
import fc from "fast-check";
import { unzipSync } from "fflate";
import { cancelBatch } from "../../src/app/batches/cancel-batch.ts";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { AcceptedBatchResponse, BatchResponse } from "../../src/http/batch-schemas.ts";
import { get, imageRequest, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const cardsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => {
    const [external_id, name] = [`p${n}`, `Player ${n}`];
    return imageRequest({ player: { external_id, name, source_image_url: api.photos.url("yoga.jpg") } });
  });
const sent = (key: string, path: string, body: unknown) =>
  send(api, path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify(body),
  });
const remake = (key: string, id: string, body: unknown) => sent(key, `/v1/batches/${id}/remake`, body);
const accepted = async (response: Promise<Response>): Promise<Json> =>
  expectSuccess(await response, 202, AcceptedBatchResponse);
const batchOf = async (key: string, id: string): Promise<Json> =>
  expectSuccess(await get(api.baseUrl, key, `/v1/batches/${id}`), 200, BatchResponse);
const breaches = async () => (await audit(api.store, api.clock.now())).findings.filter(({ ok }) => !ok);
const creditsOf = async ({ account }: TestAccount) => {
  const { db, t } = api.store.read;
  const row = (await db.select().from(t.accounts)).find(({ id }) => id === account.id);
  return { left: row?.creditsPlan, held: row?.creditsHeld };
};
const endsTold = async (id: string) => {
  const { db, t } = api.store.read;
  const events = await db.select().from(t.webhookEvents);
  return events.filter(({ type, subject }) => type === "batch.completed" && subject.startsWith(id)).length;
};

async function fetchAll(): Promise<void> {
  const fetcher = photoFetcher(api, { onQueued: () => {}, onEnd: () => {} });
  for (let more = true; more; ) {
    more = false;
    await fetcher.fetchNext(new AbortController().signal, () => {
      more = true;
    });
  }
}

/** A batch whose first card is completed and whose others failed. */
async function batchWithFailures(own: TestAccount, count: number): Promise<string> {
  const { batch_id } = await accepted(
    sent(own.liveKey, "/v1/batches", { name: "Team", cards: cardsOf(count) }),
  );
  await fetchAll();
  await finishNext(api, "completed");
  for (let n = 1; n < count; n++) await finishNext(api, "refused");
  return batch_id;
}

test("failed cards made again count in their batch: its totals, its ZIP and its end are those of the new ones", async () => {
  const own = await testAccount(api, { credits: 10 });
  const id = await batchWithFailures(own, 3);
  const before = await batchOf(own.liveKey, id);
  expect(before).toMatchObject({ status: "completed", completed: 1, failed: 2 });
  expect(await creditsOf(own)).toEqual({ left: 9, held: 0 });
  const again = await accepted(remake(own.liveKey, id, { failed: true }));
  expect(again).toMatchObject({ status: "processing", total: 3, completed: 1, failed: 0, processing: 2 });
  expect(again.images.map(({ external_id }: Json) => external_id)).toEqual(["p0", "p1", "p2"]);
  expect(again.images[0]).toEqual(before.images[0]);
  expect(again.images[1].image_id).not.toBe(before.images[1].image_id);
  expect(await creditsOf(own)).toEqual({ left: 7, held: 2 });
  expect(await breaches()).toEqual([]);
  // Pressed a second time nothing is failed any more.
  await accepted(remake(own.liveKey, id, { failed: true }));
  expect(await creditsOf(own)).toEqual({ left: 7, held: 2 });
  await fetchAll();
  const made = [await finishNext(api, "completed"), await finishNext(api, "refused")];
  expect(made).toEqual(again.images.slice(1).map(({ image_id }: Json) => image_id));
  expect(await batchOf(own.liveKey, id)).toMatchObject({ status: "completed", completed: 2, failed: 1 });
  expect(await creditsOf(own)).toEqual({ left: 8, held: 0 });
  expect(await endsTold(id)).toBe(2);
  await api.blobs.put("picture", `${made[0]}-0secret.png`, Buffer.from("picture"));
  const zip = await get(api.baseUrl, own.liveKey, `/v1/batches/${id}/pictures.zip`);
  const files = unzipSync(await zip.bytes());
  expect(Buffer.from(files["p1.png"] ?? []).toString()).toBe("picture");
  expect(Buffer.from(files["cards.csv"] ?? []).toString()).toContain(`p1,${made[0]},completed`);
  expect(await breaches()).toEqual([]);
});

test("a card with other words takes its place and costs a credit; what would be as it is costs nothing, however often it is sent", async () => {
  const own = await testAccount(api, { credits: 10 });
  const id = await batchWithFailures(own, 2);
  const [first] = (await batchOf(own.liveKey, id)).images;
  const change = { cards: [{ external_id: "p0", player: { name: "Other Name", number: 44 } }] };
  const again = await accepted(remake(own.liveKey, id, change));
  expect(again).toMatchObject({ completed: 0, failed: 1, processing: 1 });
  const changed = again.images[0].change.image_id;
  // Sent again while it is being made, and once it is.
  expect((await accepted(remake(own.liveKey, id, change))).images[0].change.image_id).toBe(changed);
  await fetchAll();
  await finishNext(api, "completed");
  const same = await accepted(remake(own.liveKey, id, change));
  expect(same).toMatchObject({ status: "completed", completed: 1, failed: 1, eta_seconds: 1 });
  expect(same.images[0]).toMatchObject({ image_id: changed, change: null });
  expect(await creditsOf(own)).toEqual({ left: 8, held: 0 });
  const view = await (await get(api.baseUrl, own.liveKey, `/v1/images/${changed}`)).json();
  expect(view.data).toMatchObject({ name: "Other Name", batch_id: id });
  // Back to what it was: that card is still there, and not paid for a second time.
  const back = { cards: [{ external_id: "p0", player: { name: "Player 0", number: 9 } }] };
  const restored = await accepted(remake(own.liveKey, id, back));
  expect(restored.images[0].image_id).toBe(first.image_id);
  expect(restored).toMatchObject({ status: "completed", completed: 1, failed: 1 });
  expect(await creditsOf(own)).toEqual({ left: 8, held: 0 });
  expect(await endsTold(id)).toBe(2);
  expect(await breaches()).toEqual([]);
});

test("a finished card keeps its place and its picture until the new one is ready, and for good when that fails", async () => {
  const own = await testAccount(api, { credits: 10 });
  const id = await batchWithFailures(own, 2);
  const [{ image_id: good }] = (await batchOf(own.liveKey, id)).images;
  await api.blobs.put("picture", `${good}-0secret.png`, Buffer.from("the good card"));
  const inZip = async () => {
    const zip = await get(api.baseUrl, own.liveKey, `/v1/batches/${id}/pictures.zip`);
    return Buffer.from(unzipSync(await zip.bytes())["p0.png"] ?? []).toString();
  };
  // An upload that has expired, or an address that is dead.
  const gone = { external_id: "p0", player: { source_image_url: api.photos.url("gone.jpg") } };
  const asked = await accepted(remake(own.liveKey, id, { cards: [gone] }));
  expect(asked).toMatchObject({ status: "processing", completed: 0, failed: 1, processing: 1 });
  expect(asked.images[0]).toMatchObject({ image_id: good, status: "completed", change: { failure: null } });
  expect(await inZip()).toBe("the good card");
  expect(await breaches()).toEqual([]);
  await fetchAll();
  const failed = await batchOf(own.liveKey, id);
  expect(failed).toMatchObject({ status: "completed", completed: 1, failed: 1, processing: 0 });
  const change = { image_id: asked.images[0].change.image_id, status: "failed" };
  expect(failed.images[0]).toMatchObject({ image_id: good, status: "completed", failure: null, change });
  expect(failed.images[0].change.failure.reason).toBe("photo_unreachable");
  expect(await inZip()).toBe("the good card");
  expect(await creditsOf(own)).toEqual({ left: 9, held: 0 });
  expect(await endsTold(id)).toBe(2);
  expect(await breaches()).toEqual([]);

  // Tried again it fails again; asked for as it is, the failure is forgotten and nothing is charged.
  await accepted(remake(own.liveKey, id, { failed: true }));
  await fetchAll();
  await finishNext(api, "refused");
  expect((await batchOf(own.liveKey, id)).images[0]).toMatchObject({
    image_id: good,
    change: { status: "failed" },
  });
  const asItIs = await accepted(remake(own.liveKey, id, { cards: [{ external_id: "p0" }] }));
  expect(asItIs.images[0]).toMatchObject({ image_id: good, change: null });
  expect(await creditsOf(own)).toEqual({ left: 9, held: 0 });
  expect(await breaches()).toEqual([]);

  // Canceled or deleted, the change leaves the card where it is, too.
  const renamed = { cards: [{ external_id: "p0", player: { name: "Another" } }] };
  await accepted(remake(own.liveKey, id, renamed));
  await cancelBatch(api, { accountId: own.account.id, environment: "live", id });
  expect(await batchOf(own.liveKey, id)).toMatchObject({ completed: 1, failed: 1, canceled: 0 });
  const another = await accepted(remake(own.liveKey, id, renamed));
  const made = another.images[0].change.image_id;
  expect(another).toMatchObject({ status: "processing", processing: 1 });
  const deleted = await send(api, `/v1/images/${made}`, {
    method: "DELETE",
    headers: { "X-API-Key": own.liveKey },
  });
  expect(deleted.status).toBe(200);
  const after = await batchOf(own.liveKey, id);
  expect(after).toMatchObject({ status: "completed", completed: 1, failed: 1 });
  expect(after.images[0]).toMatchObject({ image_id: good, change: null });
  expect(await creditsOf(own)).toEqual({ left: 9, held: 0 });
  expect(await breaches()).toEqual([]);
});

test("all are made again or none: without credits enough nothing changes, and every fault names its place", async () => {
  const own = await testAccount(api, { credits: 3 });
  const id = await batchWithFailures(own, 3);
  await accepted(remake(own.liveKey, id, { cards: [{ external_id: "p0", player: { number: 2 } }] }));
  const before = await batchOf(own.liveKey, id);
  await expectError(await remake(own.liveKey, id, { failed: true }), "INSUFFICIENT_CREDITS");
  expect(await batchOf(own.liveKey, id)).toEqual(before);
  const places = async (body: unknown) =>
    (await expectError(await remake(own.liveKey, id, body), "INVALID_REQUEST")).details.map(
      ({ field }: Json) => field,
    );
  expect(await places({})).toEqual(["body"]);
  expect(await places({ cards: [{ external_id: "nobody" }] })).toEqual(["cards[0].external_id"]);
  const bad = { external_id: "p1", player: { name: "\u200b" } };
  expect(await places({ cards: [bad, { external_id: "p1" }] })).toEqual([
    "cards[1].external_id",
    "cards[0].player.name",
  ]);
  // It has not ended.
  expect(await places({ cards: [{ external_id: "p0", player: { number: 3 } }] })).toEqual(["cards[0]"]);
  const early = await remake(own.liveKey, id, { cards: [{ external_id: "p0", player: { number: 3 } }] });
  expect((await expectError(early, "INVALID_REQUEST")).details[0].code).toBe("still_processing");
  const other = await testAccount(api);
  for (const key of [other.liveKey, own.testKey])
    await expectError(await remake(key, id, { failed: true }), "NOT_FOUND");
  await fetchAll();
  await finishNext(api, "completed");
  expect(await breaches()).toEqual([]);
});

test("canceled cards are made again only when asked for, and their batch is canceled no longer", async () => {
  const own = await testAccount(api, { credits: 10 });
  const { batch_id } = await accepted(sent(own.liveKey, "/v1/batches", { name: "Team", cards: cardsOf(2) }));
  await cancelBatch(api, { accountId: own.account.id, environment: "live", id: batch_id });
  expect(await accepted(remake(own.liveKey, batch_id, { failed: true }))).toMatchObject({
    status: "canceled",
    canceled: 2,
    processing: 0,
  });
  expect(await accepted(remake(own.liveKey, batch_id, { canceled: true }))).toMatchObject({
    status: "processing",
    canceled: 0,
    failed: 0,
    processing: 2,
  });
  await fetchAll();
  await finishNext(api, "completed");
  await finishNext(api, "completed");
  expect(await batchOf(own.liveKey, batch_id)).toMatchObject({ status: "completed", completed: 2 });
  expect(await creditsOf(own)).toEqual({ left: 8, held: 0 });
  expect(await breaches()).toEqual([]);
});

const STEPS = [
  "rename",
  "lose",
  "failed",
  "canceled",
  "fetch",
  "complete",
  "refuse",
  "cancel",
  "delete",
] as const;

test("whatever is done to a batch's cards in whatever order, its books are right, and no finished card makes way for a failed one", async () => {
  const step = fc.record({
    does: fc.constantFrom(...STEPS),
    card: fc.integer({ min: 0, max: 2 }),
    word: fc.integer({ min: 0, max: 2 }),
  });
  const finish = async (end: "completed" | "refused") => {
    if (await api.jobs.isWaiting("live", api.clock.now())) await finishNext(api, end);
  };
  const history = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 16 }), async (steps) => {
    const own = await testAccount(api, { credits: 100 });
    const id = await batchWithFailures(own, 3);
    const change = (card: number, player: object) =>
      remake(own.liveKey, id, { cards: [{ external_id: `p${card}`, player }] });
    let before: Json[] = (await batchOf(own.liveKey, id)).images;
    for (const { does, card, word } of steps) {
      if (does === "rename") await change(card, { name: `Name ${word}` });
      if (does === "lose") await change(card, { source_image_url: api.photos.url(`gone${word}.jpg`) });
      if (does === "failed") await remake(own.liveKey, id, { failed: true });
      if (does === "canceled") await remake(own.liveKey, id, { canceled: true });
      if (does === "fetch") await fetchAll();
      if (does === "complete") await finish("completed");
      if (does === "refuse") await finish("refused");
      if (does === "cancel") await cancelBatch(api, { accountId: own.account.id, environment: "live", id });
      if (does === "delete")
        await send(api, `/v1/images/${before[card].change?.image_id ?? before[card].image_id}`, {
          method: "DELETE",
          headers: { "X-API-Key": own.liveKey },
        });
      expect(await breaches()).toEqual([]);
      const { images } = await batchOf(own.liveKey, id);
      for (const [at, { status }] of before.entries())
        if (status === "completed") expect(["completed", "deleted"]).toContain(images[at].status);
      before = images;
    }
    await fetchAll();
    while (await api.jobs.isWaiting("live", api.clock.now())) await finishNext(api, "completed");
    expect((await batchOf(own.liveKey, id)).processing).toBe(0);
    expect((await creditsOf(own)).held).toBe(0);
    expect(await breaches()).toEqual([]);
  });
  await fc.assert(history, { numRuns: 12, endOnFailure: true });
});
