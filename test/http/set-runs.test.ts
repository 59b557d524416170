import { afterAll, beforeAll, expect, test } from "bun:test";
import { unzipSync } from "fflate";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { HOUR_MS } from "../../src/core/time.ts";
import { AcceptedBatchResponse, BatchResponse } from "../../src/http/batch-schemas.ts";
import { AcceptedImageResponse } from "../../src/http/schemas.ts";
import { ChecklistResponse, SetResponse } from "../../src/http/set-schemas.ts";
import { get, imageRequest, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

// Several cards of one player in one batch, such as a run of 50 in gold.

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const sent = (key: string, path: string, body: unknown) =>
  send(api, path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify(body),
  });

/** An account with a set of two players, with parallels without numbers, of 5 and of 700. */
async function owner(): Promise<TestAccount & { set: string }> {
  const own = await testAccount(api, { credits: 2_000 });
  const parallels = [
    { name: "base", size: null },
    { name: "gold", size: 5 },
    { name: "blue", size: 700 },
  ];
  const players = [{ external_id: "p0" }, { external_id: "p1" }];
  const made = await sent(own.liveKey, "/v1/sets", { name: "Rovers", parallels, players });
  return { ...own, set: (await expectSuccess(made, 201, SetResponse)).set_id };
}

const card = (set: object, player: object = {}) => ({
  ...imageRequest({ player: { external_id: "p0", source_image_url: api.photo, ...player } }),
  set: { parallel: "gold", ...set },
});
const accepted = async (own: TestAccount, cards: unknown[]): Promise<Json> =>
  expectSuccess(await sent(own.liveKey, "/v1/batches", { cards }), 202, AcceptedBatchResponse);
const refused = async (own: TestAccount, cards: unknown[], code = "INVALID_REQUEST" as const) =>
  (await expectError(await sent(own.liveKey, "/v1/batches", { cards }), code)).details;
const serials = (batch: Json) => batch.images.map(({ set }: Json) => set?.serial);
const batchOf = async (own: TestAccount, id: string): Promise<Json> =>
  expectSuccess(await get(api.baseUrl, own.liveKey, `/v1/batches/${id}`), 200, BatchResponse);
const creditsOf = async ({ account }: TestAccount) => {
  const { db, t } = api.store.read;
  const row = (await db.select().from(t.accounts)).find(({ id }) => id === account.id);
  return { left: row?.creditsPlan, held: row?.creditsHeld };
};
const breaches = async () => (await audit(api.store, api.clock.now())).findings.filter(({ ok }) => !ok);

async function fetchAll(): Promise<void> {
  const fetcher = photoFetcher(api, { onQueued: () => {}, onEnd: () => {} });
  for (let more = true; more; ) {
    more = false;
    await fetcher.fetchNext(new AbortController().signal, () => {
      more = true;
    });
  }
}

/** Ends all cards that wait, those at these positions by a refusal. */
async function finishAll(count: number, refusedAt: number[] = []): Promise<void> {
  await fetchAll();
  for (let n = 0; n < count; n++) await finishNext(api, refusedAt.includes(n) ? "refused" : "completed");
}

test("one card of a batch stands for a whole run, each with the lowest number free and a credit of its own", async () => {
  const own = await owner();
  const { set: id } = own;
  const first = await accepted(own, [card({ id, serial: 2 })]);
  const cards = [
    card({ id, count: 3 }),
    card({ id, parallel: "base" }),
    card({ id, parallel: "blue", count: 2 }, { external_id: "p1" }),
  ];
  const batch = await accepted(own, cards);
  expect(batch).toMatchObject({ total: 6 });
  expect(serials(batch)).toEqual([1, 3, 4, null, 1, 2]);
  expect(new Set(batch.images.map(({ image_id }: Json) => image_id)).size).toBe(6);
  expect(await creditsOf(own)).toEqual({ left: 1_993, held: 7 });
  // Sent again without a key it is made once all the same; more of it are made only as many as are new.
  expect(serials(await accepted(own, cards))).toEqual([1, 3, 4, null, 1, 2]);
  expect(serials(await accepted(own, [card({ id, count: 4 })]))).toEqual([1, 3, 4, 5]);
  expect(await creditsOf(own)).toEqual({ left: 1_992, held: 8 });
  await finishAll(8);
  expect(serials(await batchOf(own, first.batch_id))).toEqual([2]);
  expect(await breaches()).toEqual([]);
});

test("a run that its parallel has no room for is refused whole, with what is left", async () => {
  const own = await owner();
  const { set: id } = own;
  await accepted(own, [card({ id, count: 2 })]);
  const before = await creditsOf(own);
  const cards = [card({ id, parallel: "base" }), card({ id, count: 4 }, { name: "Maya O." })];
  const error = await expectError(await sent(own.liveKey, "/v1/batches", { cards }), "PARALLEL_FULL");
  expect(error.details).toEqual([
    {
      field: "cards[1].set.parallel",
      message: 'is too small: of the 5 cards of "gold" the player has 3 left, and 4 are asked for.',
    },
  ]);
  expect(await creditsOf(own)).toEqual(before);
  await finishAll(2);
});

test("a count that cannot be is refused by its place, and so is a card that stands there twice", async () => {
  const own = await owner();
  const { set: id } = own;
  const fields = async (...cards: unknown[]) => (await refused(own, cards)).map(({ field }: Json) => field);
  for (const count of [0, 1_001, 1.5, "3", null])
    expect(await fields(card({ id, count }))).toEqual(["cards[0].set.count"]);
  for (const [wrong, field] of [
    [card({ id: "set_none", count: 50 }), "cards[0].set.id"],
    [card({ id, parallel: "none", count: 50 }), "cards[0].set.parallel"],
    [card({ id, count: 50 }, { external_id: "nobody" }), "cards[0].player.external_id"],
  ] as const)
    expect(await fields(wrong)).toEqual([field]);
  expect(await fields(card({ id, count: 2, serial: 1 }))).toEqual(["cards[0].set.serial"]);
  expect(await fields(card({ id, parallel: "base", count: 2 }))).toEqual(["cards[0].set.count"]);
  expect(await fields(card({ id }), card({ id }, { name: "Other" }))).toEqual([
    "cards[1].player.external_id",
  ]);
  const many = card({ id, parallel: "blue", count: 600 });
  const other = card({ id, parallel: "blue", count: 600 }, { external_id: "p1" });
  expect(await refused(own, [many, other])).toEqual([
    { field: "cards", message: "must be at most 1000 with their `set.count`: send several batches." },
  ]);
  const single = await send(api, "/v1/images", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": own.liveKey, "Idempotency-Key": "one" },
    body: JSON.stringify(card({ id, count: 2 })),
  });
  expect((await expectError(single, "INVALID_REQUEST")).details[0].field).toBe("set.count");
  expect(await creditsOf(own)).toEqual({ left: 2_000, held: 0 });
});

test("a second picture of a parallel without numbers is refused where the first is there, too", async () => {
  const own = await owner();
  const base = (count: number) => [card({ id: own.set, parallel: "base", count })];
  await accepted(own, base(1));
  const before = await creditsOf(own);
  expect((await refused(own, base(2)))[0].field).toBe("cards[0].set.count");
  expect(await creditsOf(own)).toEqual(before);
  await finishAll(1);
});

test("a change of a player makes all of its cards again with their numbers; failed ones get their own", async () => {
  const own = await owner();
  const { set: id } = own;
  const { batch_id } = await accepted(own, [card({ id, count: 3 }), card({ id, parallel: "base" })]);
  await finishAll(4, [1]);
  const before = await batchOf(own, batch_id);
  expect(serials(before)).toEqual([1, null, 3, null]);
  const remake = (change: object) => sent(own.liveKey, `/v1/batches/${batch_id}/remake`, change);
  await expectSuccess(await remake({ failed: true }), 202, AcceptedBatchResponse);
  await finishAll(1);
  const whole = await batchOf(own, batch_id);
  expect(serials(whole)).toEqual([1, 2, 3, null]);
  expect(whole.images[0].image_id).toBe(before.images[0].image_id);
  expect(new Set(whole.images.map(({ image_id }: Json) => image_id)).size).toBe(4);
  const change = { cards: [{ external_id: "p0", player: { name: "M. Okafor" } }] };
  await expectSuccess(await remake(change), 202, AcceptedBatchResponse);
  await expectSuccess(await remake(change), 202, AcceptedBatchResponse);
  await finishAll(4);
  const after = await batchOf(own, batch_id);
  expect(serials(after)).toEqual([1, 2, 3, null]);
  expect(after).toMatchObject({ total: 4, completed: 4, failed: 0 });
  const ids = new Set([...whole.images, ...after.images].map(({ image_id }: Json) => image_id));
  expect(ids.size).toBe(8);
  expect(await creditsOf(own)).toEqual({ left: 1_992, held: 0 });
  const twice = { cards: [change.cards[0], change.cards[0]] };
  expect((await expectError(await remake(twice), "INVALID_REQUEST")).details[0].field).toBe(
    "cards[1].external_id",
  );
  expect(await breaches()).toEqual([]);
});

test("a card that was made again is found by the same batch sent again, and nobody pays twice", async () => {
  const own = await owner();
  const cards = [card({ id: own.set, count: 3 })];
  const batch = await accepted(own, cards);
  await finishAll(3, [1]);
  const remade = await sent(own.liveKey, `/v1/batches/${batch.batch_id}/remake`, { failed: true });
  expect(remade.status).toBe(202);
  await finishAll(1);
  const { left } = await creditsOf(own);
  const ids = ({ images }: Json) => images.map(({ image_id }: Json) => image_id).sort();
  const now = await batchOf(own, batch.batch_id);
  expect(now.status).toBe("completed");
  const again = await accepted(own, cards);
  expect(ids(again)).toEqual(ids(now));
  expect(await creditsOf(own)).toEqual({ left, held: 0 });
  expect(await breaches()).toEqual([]);
});

test("the pictures of a run are named by parallel and number, and stand in the table with them", async () => {
  const own = await owner();
  const { set: id } = own;
  const cards = [
    card({ id, parallel: "blue", count: 2 }),
    card({ id, parallel: "base" }),
    card({ id }, { external_id: "p1" }),
  ];
  const { batch_id, images } = await accepted(own, cards);
  await finishAll(4);
  for (const { image_id } of images) await api.blobs.put("picture", `${image_id}-0secret.png`, image_id);
  const zip = await get(api.baseUrl, own.liveKey, `/v1/batches/${batch_id}/pictures.zip`);
  const files = unzipSync(await zip.bytes());
  const text = (name: string) => new TextDecoder().decode(files[name]);
  expect(Object.keys(files)).toEqual([
    "p0_blue_001.png",
    "p0_blue_002.png",
    "p0_base.png",
    "p1.png",
    "cards.csv",
  ]);
  const ids = images.map(({ image_id }: Json) => image_id);
  expect(["p0_blue_001.png", "p0_blue_002.png", "p0_base.png"].map(text)).toEqual(ids.slice(0, 3));
  expect(text("cards.csv").split("\r\n").slice(1)).toEqual([
    `p0,${ids[0]},completed,p0_blue_001.png,,,,blue,1,700,Maya Okafor,9`,
    `p0,${ids[1]},completed,p0_blue_002.png,,,,blue,2,700,Maya Okafor,9`,
    `p0,${ids[2]},completed,p0_base.png,,,,base,,,Maya Okafor,9`,
    `p1,${ids[3]},completed,p1.png,,,,gold,1,5,Maya Okafor,9`,
  ]);
});

test("an open edition numbers its cards until it closes, and then says how many there are", async () => {
  const own = await testAccount(api, { credits: 100 });
  const closesAt = api.clock.now() + HOUR_MS;
  const parallels = [{ name: "match", size: null, closes_at: new Date(closesAt).toISOString() }];
  const made = await sent(own.liveKey, "/v1/sets", {
    ...{ name: "Match day", parallels },
    players: [{ external_id: "p0" }, { external_id: "p1" }],
  });
  const { set_id: id, parallels: recorded } = await expectSuccess(made, 201, SetResponse);
  expect(recorded).toEqual([{ ...parallels[0], print_run: null }]);
  const of = (more: object = {}, player: object = {}) => card({ id, parallel: "match", ...more }, player);
  expect(serials(await accepted(own, [of({ count: 3 }), of({}, { external_id: "p1" })]))).toEqual([
    1, 2, 3, 1,
  ]);
  expect((await refused(own, [of({ serial: 7 })]))?.[0]).toMatchObject({
    field: "cards[0].set.serial",
    message: expect.stringContaining("open edition"),
  });
  await finishAll(4);
  // Asked for in time, and made afterwards; one of them fails.
  const late = await accepted(own, [of({ count: 2 }, { name: "Late" })]);
  expect(serials(late)).toEqual([4, 5]);
  expect(late.images[0].set).toMatchObject({ serial: 4, size: null });
  api.clock.advance(HOUR_MS);
  const refusal = await expectError(
    await sent(own.liveKey, "/v1/batches", { cards: [of({}, { name: "Later" })] }),
    "EDITION_CLOSED",
  );
  expect(refusal.details).toEqual([
    {
      field: "cards[0].set.parallel",
      message: `is closed: no card of "match" can be added since ${new Date(closesAt).toISOString()}.`,
    },
  ]);
  const runs = async () => {
    const list = await get(api.baseUrl, own.liveKey, `/v1/sets/${id}/checklist`);
    const { parallels, players } = await expectSuccess(list, 200, ChecklistResponse);
    return [parallels[0].print_run, ...players.map((player: Json) => player.parallels[0].print_run)];
  };
  expect(await runs()).toEqual([null, null, 1]);
  await finishAll(2, [1]);
  expect(await runs()).toEqual([5, 4, 1]);
  expect(serials(await batchOf(own, late.batch_id))).toEqual([4, null]);
  const manifest = await (await get(api.baseUrl, own.liveKey, `/v1/sets/${id}/manifest`)).text();
  const lines = manifest.trim().split("\r\n");
  expect(lines[0]).toEndWith("url,print_run");
  expect(lines.slice(1).map((line) => [line.split(",")[6], line.split(",").at(-1)])).toEqual([
    ["1", "4"],
    ["2", "4"],
    ["3", "4"],
    ["4", "4"],
    ["1", "1"],
  ]);
  const opened = await send(api, `/v1/sets/${id}`, {
    method: "PATCH",
    headers: { "Content-Type": "application/json", "X-API-Key": own.liveKey },
    body: JSON.stringify({ gallery: true }),
  });
  const { gallery_url } = await expectSuccess(opened, 200, SetResponse);
  const page = await (await send(api, new URL(gallery_url).pathname)).text();
  expect(page).toContain("match No. 1 of 4");
  // A change adds no card: it keeps its number, and the count.
  const change = await send(api, `/v1/images/${late.images[0].image_id}/remake`, {
    method: "POST",
    headers: {
      ...{ "Content-Type": "application/json", "X-API-Key": own.liveKey },
      "Idempotency-Key": "remake-late",
    },
    body: JSON.stringify({ player: { number: 8 } }),
  });
  const remade = await expectSuccess(change, 202, AcceptedImageResponse);
  expect(remade.set?.serial).toBe(4);
  expect(await runs()).toEqual([5, 4, 1]);
  expect(await breaches()).toEqual([]);
});

test("a time at which an edition cannot close is refused by its parallel", async () => {
  const own = await testAccount(api);
  const faults = async (parallel: object) => {
    const body = {
      name: "Match day",
      parallels: [{ name: "match", ...parallel }],
      players: [{ external_id: "p0" }],
    };
    const { details } = await expectError(await sent(own.liveKey, "/v1/sets", body), "INVALID_REQUEST");
    return details?.map(({ field, message }: Json) => `${field} ${message}`);
  };
  const ahead = new Date(api.clock.now() + HOUR_MS).toISOString();
  expect(await faults({ size: 50, closes_at: ahead })).toEqual([
    expect.stringMatching(/^parallels\[0\]\.closes_at must be left out: "match" has a size/),
  ]);
  expect(await faults({ size: null, closes_at: "2026-02-30T10:00:00Z" })).toEqual([
    "parallels[0].closes_at must be a time such as 2026-12-06T18:00:00Z.",
  ]);
  expect(await faults({ size: null, closes_at: new Date(api.clock.now()).toISOString() })).toEqual([
    "parallels[0].closes_at must lie ahead, so that cards can be made before.",
  ]);
});

// The last one: its 605 cards stay in the queue, where other tests would find them.
test("a run finds its numbers between any others, those that its own batch asks for too", async () => {
  const own = await owner();
  const { set: id } = own;
  const blue = (set: object) => card({ id, parallel: "blue", ...set });
  const given = [1, ...Array.from({ length: 598 }, (_, n) => n + 3)];
  await accepted(
    own,
    given.map((serial) => blue({ serial })),
  );
  const batch = await accepted(own, [blue({ count: 3 }), blue({ serial: 601 }), blue({ serial: 603 })]);
  expect(serials(batch)).toEqual([2, 602, 604, 601, 603]);
  const twice = [blue({ serial: 700 }), blue({ serial: "shirt_number" }), blue({ serial: 605 })];
  expect(serials(await accepted(own, twice.slice(2)))).toEqual([605]);
  // Two names of one number.
  const pair = [card({ id, serial: 4 }), card({ id, serial: "shirt_number" }, { number: 4 })];
  const error = await expectError(await sent(own.liveKey, "/v1/batches", { cards: pair }), "SERIAL_TAKEN");
  expect(error.details).toEqual([
    {
      field: "cards[1].set.serial",
      message: "is taken: another card has 4 of 5. Ask for another number, or for none.",
    },
  ]);
  const { db, t } = api.store.read;
  const rows = (await db.select().from(t.setCards)).filter(({ setId }) => setId === id);
  expect(rows).toHaveLength(605);
  expect(await breaches()).toEqual([]);
});
