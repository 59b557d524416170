import { afterAll, beforeAll, expect, test } from "bun:test";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { PRINT_SIZES } from "../../src/core/print-sizes.ts";
import { AcceptedBatchResponse, BatchResponse } from "../../src/http/batch-schemas.ts";
import { AcceptedImageResponse, ImageListResponse, ImageResponse } from "../../src/http/schemas.ts";
import {
  ChecklistResponse,
  PacksResponse,
  SetListResponse,
  SetResponse,
} from "../../src/http/set-schemas.ts";
import { get, imageRequest, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const sent = (key: string, path: string, body: unknown, idempotencyKey?: string) =>
  send(api, path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-API-Key": key,
      ...(idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey }),
    },
    body: JSON.stringify(body),
  });
const PARALLELS = [
  { name: "base", size: null },
  { name: "gold", size: 3 },
];
const setOf = (more: object = {}) => ({
  name: "Rovers 2026/27",
  season: "2026/27",
  parallels: PARALLELS,
  players: [{ external_id: "p0", name: "Maya Okafor", number: 2 }, { external_id: "p1" }],
  ...more,
});
const makeSet = async (own: TestAccount, more: object = {}, key = own.liveKey): Promise<string> => {
  const { set_id } = await expectSuccess(await sent(key, "/v1/sets", setOf(more)), 201, SetResponse);
  return set_id;
};
const card = (id: string, more: Json = {}, player: object = {}) => ({
  ...imageRequest({
    player: { external_id: "p0", name: "Maya Okafor", source_image_url: api.photo, ...player },
  }),
  set: { id, parallel: "gold", ...more },
});
const batchOf = (own: TestAccount, cards: unknown[]): RequestInit => ({
  method: "POST",
  headers: {
    "Content-Type": "application/json",
    "X-API-Key": own.liveKey,
    "Idempotency-Key": `batch-${keys++}`,
  },
  body: JSON.stringify({ cards }),
});
let keys = 0;
const create = (own: TestAccount, body: unknown, key = `k${keys++}`) =>
  sent(own.liveKey, "/v1/images", body, key);
const accepted = async (response: Promise<Response>): Promise<Json> =>
  expectSuccess(await response, 202, AcceptedImageResponse);
const serialOf = async (response: Promise<Response>): Promise<number | null> =>
  (await accepted(response)).set.serial;
const imageOf = async (own: TestAccount, id: string): Promise<Json> =>
  expectSuccess(await get(api.baseUrl, own.liveKey, `/v1/images/${id}`), 200, ImageResponse);
const checklistOf = async (own: TestAccount, id: string): Promise<Json> =>
  expectSuccess(await get(api.baseUrl, own.liveKey, `/v1/sets/${id}/checklist`), 200, ChecklistResponse);
const creditsOf = async ({ account }: TestAccount) => {
  const { db, t } = api.store.read;
  const row = (await db.select().from(t.accounts)).find(({ id }) => id === account.id);
  return { left: row?.creditsPlan, held: row?.creditsHeld };
};
const breaches = async () => (await audit(api.store, api.clock.now())).findings.filter(({ ok }) => !ok);
const remove = (key: string, path: string) =>
  send(api, path, { method: "DELETE", headers: { "X-API-Key": key } });

async function fetchAll(): Promise<void> {
  const fetcher = photoFetcher(api, { onQueued: () => {}, onEnd: () => {} });
  for (let more = true; more; ) {
    more = false;
    await fetcher.fetchNext(new AbortController().signal, () => {
      more = true;
    });
  }
}

test("cards of a set get the lowest free number of their player and parallel, and show it in every view", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  const first = await accepted(create(own, card(id)));
  const place = { id, name: "Rovers 2026/27", parallel: "gold", serial: 1, size: 3 };
  expect(first.set).toEqual(place);
  expect(await serialOf(create(own, card(id)))).toBe(2);
  expect(await serialOf(create(own, card(id, {}, { external_id: "p1" })))).toBe(1);
  expect(await serialOf(create(own, card(id, { parallel: "base" })))).toBe(null);
  expect((await imageOf(own, first.image_id)).set).toEqual(place);
  const list = await expectSuccess(await get(api.baseUrl, own.liveKey, "/v1/images"), 200, ImageListResponse);
  expect(list.images.map(({ set }: Json) => set.serial)).toContainEqual(1);
  const filtered = await get(api.baseUrl, own.liveKey, "/v1/images?external_id=p1");
  const { images } = await expectSuccess(filtered, 200, ImageListResponse);
  expect(images[0].set.serial).toBe(1);
  const outside = await accepted(create(own, { ...card(id), set: undefined }));
  expect(outside.set).toBeUndefined();
  for (let n = 0; n < 5; n++) await finishNext(api, "completed");
  const { db, t } = api.store.read;
  const events = await db.select().from(t.webhookEvents);
  const event = events.find(({ subject }) => subject === first.image_id);
  expect(JSON.parse(event?.body ?? "").data.set).toEqual(place);
  const { players } = await checklistOf(own, id);
  expect(players[0].parallels).toEqual([
    { name: "base", size: null, made: 1, processing: 0 },
    { name: "gold", size: 3, made: 2, processing: 0 },
  ]);
  expect(await breaches()).toEqual([]);
});

test("a set that is sent again with its idempotency key is made once, and its key stands for nothing else", async () => {
  const own = await testAccount(api, { credits: 1 });
  const create = (key: string, more: object = {}, of = own.liveKey) => sent(of, "/v1/sets", setOf(more), key);
  const answers = await Promise.all([1, 2, 3].map(() => create("season")));
  const bytes = await Promise.all(answers.map((answer) => answer.text()));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(bytes).size).toBe(1);
  const isReplay = ({ headers }: Response) => headers.get("idempotent-replayed") === "true";
  expect(answers.filter(isReplay)).toHaveLength(2);
  const id = JSON.parse(bytes[0] ?? "").data.set_id;
  expect(answers[0]?.headers.get("location")).toBe(`/v1/sets/${id}`);
  await expectError(
    await create("season", { name: "Rovers 2027/28" }),
    "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
  );
  const spaced = await expectError(await create("two words"), "INVALID_REQUEST");
  expect(spaced.details[0]?.field).toBe("header Idempotency-Key");
  // A refused request does not use its key up, and test keys have keys of their own.
  await expectError(await create("later", { parallels: [] }), "INVALID_REQUEST");
  const others = [create("later"), create("season", {}, own.testKey), sent(own.liveKey, "/v1/sets", setOf())];
  for (const other of await Promise.all(others))
    expect([other.status, isReplay(other)]).toEqual([201, false]);
  api.clock.advance(72 * 3_600_000 - 1);
  expect(await (await create("season")).text()).toBe(bytes[0] ?? "");
  api.clock.advance(1);
  const anew = await create("season", { name: "Rovers 2027/28" });
  expect([anew.status, isReplay(anew)]).toEqual([201, false]);
  // The earlier set, whose key is free, stays.
  const kept = await get(api.baseUrl, own.liveKey, `/v1/sets/${id}`);
  expect((await expectSuccess(kept, 200, SetResponse)).name).toBe("Rovers 2026/27");
  const { set_id } = ((await anew.json()) as Json).data;
  expect((await remove(own.liveKey, `/v1/sets/${set_id}`)).status).toBe(200);
  expect(isReplay(await create("season", { name: "Rovers 2027/28" }))).toBe(false);
});

test("a number is free again when its card fails, and a full parallel is refused before any charge", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  for (const serial of [1, 2, 3]) expect(await serialOf(create(own, card(id)))).toBe(serial);
  const before = await creditsOf(own);
  const full = await expectError(await create(own, card(id)), "PARALLEL_FULL");
  expect(full.details).toEqual([
    { field: "set.parallel", message: 'is full: the player has all 3 cards of "gold".' },
  ]);
  expect(await creditsOf(own)).toEqual(before);
  const failed = await finishNext(api, "refused");
  expect((await imageOf(own, failed)).set).toMatchObject({ parallel: "gold", serial: null });
  expect(await serialOf(create(own, card(id)))).toBe(1);
  for (let n = 0; n < 3; n++) await finishNext(api, "completed");
  await expectError(await create(own, card(id)), "PARALLEL_FULL");
});

test("a number that is asked for is given or refused by name, the shirt's own too", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  expect(await serialOf(create(own, card(id, { serial: 3 })))).toBe(3);
  expect(await serialOf(create(own, card(id, { serial: "shirt_number" }, { number: 2 })))).toBe(2);
  const taken = await expectError(await create(own, card(id, { serial: 3 })), "SERIAL_TAKEN");
  expect(taken.details[0].field).toBe("set.serial");
  await expectError(await create(own, card(id, { serial: "shirt_number" }, { number: 2 })), "SERIAL_TAKEN");
  const large = await create(own, card(id, { serial: "shirt_number" }, { number: 9 }));
  expect((await expectError(large, "INVALID_REQUEST")).details).toEqual([
    { field: "set.serial", message: 'must be at most 3, the size of "gold"; it is 9.' },
  ]);
  expect(await serialOf(create(own, card(id)))).toBe(1);
  const faults: [Json, string, object?][] = [
    [{ id: "set_none" }, "set.id"],
    [{ parallel: "silver" }, "set.parallel"],
    [{ parallel: "base", serial: 1 }, "set.serial"],
    [{ serial: 0 }, "set.serial"],
    [{ serial: "mine" }, "set.serial"],
    [{}, "player.external_id", { external_id: "p9" }],
  ];
  for (const [more, field, player = {}] of faults) {
    const error = await expectError(await create(own, card(id, more, player)), "INVALID_REQUEST");
    expect(error.details.map((detail: Json) => detail.field)).toEqual([field]);
  }
  expect(await creditsOf(own)).toEqual({ left: 17, held: 3 });
  while ((await checklistOf(own, id)).players[0].parallels[1].processing > 0)
    await finishNext(api, "refused");
});

test("a repeated create answers with the same number", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  const first = await accepted(create(own, card(id), "same"));
  expect(await accepted(create(own, card(id), "same"))).toEqual(first);
  expect((await checklistOf(own, id)).players[0].parallels[1].processing).toBe(1);
  await finishNext(api, "completed");
});

test("many creates at once get all numbers, none of them twice", async () => {
  const own = await testAccount(api, { credits: 100 });
  const id = await makeSet(own, { parallels: [{ name: "gold", size: 20 }] });
  const all = await Promise.all(Array.from({ length: 30 }, () => create(own, card(id))));
  const serials: number[] = [];
  for (const response of all)
    if (response.status === 202) serials.push(((await response.json()) as Json).data.set.serial);
    else await expectError(response, "PARALLEL_FULL");
  expect(serials.sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
  expect(await creditsOf(own)).toEqual({ left: 80, held: 20 });
  for (let n = 0; n < 20; n++) await finishNext(api, "refused");
  expect(await serialOf(create(own, card(id)))).toBe(1);
  await finishNext(api, "refused");
});

test("creates, batches and ends of renders at once leave each number with one card, and none between them", async () => {
  const own = await testAccount(api, { credits: 100 });
  const id = await makeSet(own, { parallels: [{ name: "gold", size: 100 }] });
  const cards = [card(id, {}, { external_id: "p1" }), card(id)];
  for (let n = 0; n < 6; n++) await accepted(create(own, card(id)));
  const all = await Promise.all([
    ...Array.from({ length: 8 }, () => create(own, card(id))),
    ...Array.from({ length: 8 }, () => send(api, "/v1/batches", batchOf(own, cards))),
    ...Array.from({ length: 6 }, () =>
      finishNext(api, "refused").then(() => new Response("", { status: 202 })),
    ),
  ]);
  expect(all.map(({ status }) => status)).toEqual(all.map(() => 202));
  const { db, t } = api.store.read;
  const rows = (await db.select().from(t.setCards)).filter((row) => row.setId === id && row.state === "held");
  expect(rows).toHaveLength(24);
  expect(new Set(rows.map(({ player, serial }) => `${player} ${serial}`)).size).toBe(24);
  expect(await creditsOf(own)).toEqual({ left: 76, held: 24 });
  expect(await breaches()).toEqual([]);
  expect((await remove(own.liveKey, "/v1/players/p0")).status).toBe(200);
  expect((await remove(own.liveKey, "/v1/players/p1")).status).toBe(200);
});

test("a card of a batch that is made again keeps its number, and one whose change fails has it again", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  const cards = [card(id), card(id, {}, { external_id: "p1", name: "Ada" })];
  const made = await sent(own.liveKey, "/v1/batches", { cards });
  const { batch_id, images } = await expectSuccess(made, 202, AcceptedBatchResponse);
  expect(images.map(({ set }: Json) => set.serial)).toEqual([1, 1]);
  await fetchAll();
  const [first] = [await finishNext(api, "completed"), await finishNext(api, "completed")];
  const change = { cards: [{ external_id: "p0", player: { name: "Maya O." } }] };
  const remake = () => sent(own.liveKey, `/v1/batches/${batch_id}/remake`, change);
  const batch = async () =>
    expectSuccess(await get(api.baseUrl, own.liveKey, `/v1/batches/${batch_id}`), 200, BatchResponse);
  await expectSuccess(await remake(), 202, AcceptedBatchResponse);
  await fetchAll();
  // While it is made, and after it failed, the number is not free for anybody else.
  expect(await serialOf(create(own, card(id)))).toBe(2);
  const refused = await finishNext(api, "refused");
  expect((await batch()).images[0]).toMatchObject({ image_id: first, set: { serial: 1 } });
  await expectError(await create(own, card(id, { serial: 1 })), "SERIAL_TAKEN");
  await finishNext(api, "completed");
  await expectSuccess(await remake(), 202, AcceptedBatchResponse);
  await fetchAll();
  const again = await finishNext(api, "completed");
  expect(again).not.toBe(refused);
  expect((await batch()).images[0]).toMatchObject({ image_id: again, set: { serial: 1 } });
  await expectError(await create(own, card(id, { serial: 1 })), "SERIAL_TAKEN");
  const counts = (await checklistOf(own, id)).players[0].parallels[1];
  expect(counts).toMatchObject({ made: 2, processing: 0 });
  // The first picture has passed its number on: it cannot be made again with it.
  const remakeOne = (imageId: string) =>
    sent(own.liveKey, `/v1/images/${imageId}/remake`, { player: { name: "M. Okafor" } }, `k${keys++}`);
  await expectError(await remakeOne(first), "SERIAL_TAKEN");
  expect(await serialOf(remakeOne(again))).toBe(1);
  await finishNext(api, "completed");
  // The same words again are a card of its own, with a number of its own.
  const other = await sent(own.liveKey, "/v1/batches", { cards: [card(id)] });
  const fresh = await expectSuccess(other, 202, AcceptedBatchResponse);
  expect(fresh.images[0].set.serial).toBe(3);
  await fetchAll();
  await finishNext(api, "completed");
  expect(await breaches()).toEqual([]);
});

test("a remake in a size for print shows the number of its card and takes no place, however often, and the card stays", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  const made = await expectSuccess(await create(own, card(id)), 202, AcceptedImageResponse);
  const first = made.image_id;
  expect(made.set.serial).toBe(1);
  await finishNext(api, "completed");
  const { short, long } = PRINT_SIZES["63x88"].px;
  const remake = (imageId: string, change: object) =>
    sent(own.liveKey, `/v1/images/${imageId}/remake`, change, `k${keys++}`);
  const print = { style: { width: short, height: long } };
  expect(await serialOf(remake(first, print))).toBe(1);
  await finishNext(api, "completed");
  expect(await serialOf(remake(first, print))).toBe(1);
  // One that fails gives nothing back, since it took nothing.
  await finishNext(api, "refused");
  const counts = (await checklistOf(own, id)).players[0].parallels[1];
  expect(counts).toMatchObject({ made: 1, processing: 0 });
  expect(await serialOf(create(own, card(id)))).toBe(2);
  await finishNext(api, "completed");
  // The card itself has its number still, and passes it on.
  expect(await serialOf(remake(first, { player: { name: "M. Okafor" } }))).toBe(1);
  await finishNext(api, "completed");
  expect(await breaches()).toEqual([]);
});

test("a batch names every card that cannot have a place, and then makes none", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  expect(await serialOf(create(own, card(id, { serial: 2 })))).toBe(2);
  const cards = [
    card(id, { serial: 2 }),
    card(id, { parallel: "none" }, { external_id: "p1" }),
    card("set_none", {}, { external_id: "p2" }),
  ];
  const error = await expectError(await sent(own.liveKey, "/v1/batches", { cards }), "INVALID_REQUEST");
  expect(error.details.map(({ field }: Json) => field)).toEqual(["cards[1].set.parallel", "cards[2].set.id"]);
  const taken = await sent(own.liveKey, "/v1/batches", { cards: cards.slice(0, 1) });
  expect((await expectError(taken, "SERIAL_TAKEN")).details[0].field).toBe("cards[0].set.serial");
  expect(await creditsOf(own)).toEqual({ left: 19, held: 1 });
  await finishNext(api, "refused");
});

test("cards that are there become cards of a set, each with a number and a credit, once for each key", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  const path = `/v1/sets/${id}/cards`;
  const plain = { ...card(id), set: undefined };
  const other = { ...card(id, {}, { external_id: "p1" }), set: undefined };
  const fill = (body: object, key?: string) => sent(own.liveKey, path, body, key);
  const first = await expectSuccess(
    await send(api, "/v1/batches", batchOf(own, [plain, other])),
    202,
    AcceptedBatchResponse,
  );
  const wish = { parallel: "gold", batch_id: first.batch_id, count: 2 };
  const early = await expectError(await fill(wish), "INVALID_REQUEST");
  expect(early.details.map(({ field }: Json) => field)).toEqual(["batch_id"]);
  await fetchAll();
  for (let n = 0; n < 2; n++) await finishNext(api, "completed");
  const before = await creditsOf(own);
  const made = await expectSuccess(await fill(wish, "gold"), 202, AcceptedBatchResponse);
  const serials = (batch: Json) =>
    batch.images.map(({ external_id, set }: Json) => [external_id, set.parallel, set.serial]);
  expect(serials(made)).toEqual([
    ["p0", "gold", 1],
    ["p0", "gold", 2],
    ["p1", "gold", 1],
    ["p1", "gold", 2],
  ]);
  expect(await creditsOf(own)).toEqual({ left: (before.left ?? 0) - 4, held: 4 });
  // Sent again it is answered with what it made, also when an image it names is gone.
  await remove(own.liveKey, `/v1/images/${first.images[0].image_id}`);
  const again = await fill(wish, "gold");
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect((await expectSuccess(again, 202, AcceptedBatchResponse)).batch_id).toBe(made.batch_id);
  const reused = await fill({ ...wish, count: 1 }, "gold");
  await expectError(reused, "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD");
  // More than the parallel has left is refused as a whole, by the image.
  const [, { image_id: second }] = first.images;
  const wrong = await expectError(
    await fill({ parallel: "gold", image_ids: [second], count: 2 }, "more"),
    "PARALLEL_FULL",
  );
  expect(wrong.details.map(({ field }: Json) => field)).toEqual([`${second}.set.parallel`]);
  const faults: [object, string][] = [
    [{ parallel: "silver", image_ids: [second] }, "parallel"],
    [{ parallel: "gold", image_ids: [first.images[0].image_id] }, "image_ids[0]"],
    [{ parallel: "gold", image_ids: ["img_none"] }, "image_ids[0]"],
    [{ parallel: "gold", image_ids: [second, second] }, second],
    [{ parallel: "base", image_ids: [second], count: 2 }, `${second}.set.count`],
    [{ parallel: "gold", batch_id: "bat_none" }, "batch_id"],
    [{ parallel: "gold", batch_id: first.batch_id, image_ids: [second] }, "body"],
    [{ parallel: "gold" }, "body"],
  ];
  for (const [body, field] of faults) {
    const error = await expectError(await fill(body, `k${keys++}`), "INVALID_REQUEST");
    expect(error.details.map((detail: Json) => detail.field)).toEqual([field]);
  }
  const stranger = await makeSet(own, { players: [{ external_id: "p9" }] });
  const absent = await sent(own.liveKey, `/v1/sets/${stranger}/cards`, {
    parallel: "gold",
    image_ids: [second],
  });
  expect((await expectError(absent, "INVALID_REQUEST")).details[0]).toMatchObject({ field: second });
  await expectError(await sent(own.testKey, path, { parallel: "gold", image_ids: [second] }), "NOT_FOUND");
  expect(await creditsOf(own)).toEqual({ left: (before.left ?? 0) - 4, held: 4 });
  await fetchAll();
  for (let n = 0; n < 4; n++) await finishNext(api, "completed");
  expect(await breaches()).toEqual([]);
});

test("a deleted player leaves the checklist, and the numbers stay given", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  const { image_id } = await accepted(create(own, card(id)));
  await finishNext(api, "completed");
  await accepted(create(own, card(id)));
  expect((await remove(own.liveKey, "/v1/players/p0")).status).toBe(200);
  const { players } = await checklistOf(own, id);
  expect(players[0]).toEqual({
    external_id: null,
    name: null,
    number: null,
    parallels: [
      { name: "base", size: null, made: 0, processing: 0 },
      { name: "gold", size: 3, made: 1, processing: 0 },
    ],
  });
  await expectError(await create(own, card(id)), "INVALID_REQUEST");
  const { db, t } = api.store.read;
  const row = (await db.select().from(t.images)).find((image) => image.id === image_id);
  expect(row?.setPlace).toBe(null);
  expect(await breaches()).toEqual([]);
});

test("sets are listed page by page, and deleted only as long as no card of them was made", async () => {
  const own = await testAccount(api, { credits: 20 });
  const [older, newer] = [await makeSet(own), await makeSet(own, { name: "Cup", season: undefined })];
  const ask = (path: string, key = own.liveKey) => get(api.baseUrl, key, path);
  const page = await expectSuccess(await ask("/v1/sets?limit=1"), 200, SetListResponse);
  const next = await ask(`/v1/sets?limit=1&after=${page.next_cursor}`);
  const rest = await expectSuccess(next, 200, SetListResponse);
  expect([page, rest].flatMap(({ sets }: Json) => sets.map(({ set_id }: Json) => set_id)).sort()).toEqual(
    [older, newer].sort(),
  );
  expect(await expectSuccess(await ask(`/v1/sets/${newer}`), 200, SetResponse)).toMatchObject({
    name: "Cup",
    season: null,
    parallels: PARALLELS,
  });
  await accepted(create(own, card(older)));
  await expectError(await remove(own.liveKey, `/v1/sets/${older}`), "SET_IN_USE");
  await finishNext(api, "refused");
  expect((await remove(own.liveKey, `/v1/sets/${older}`)).status).toBe(200);
  await expectError(await ask(`/v1/sets/${older}`), "NOT_FOUND");
  await accepted(create(own, card(newer)));
  await finishNext(api, "completed");
  await expectError(await remove(own.liveKey, `/v1/sets/${newer}`), "SET_IN_USE");
  const other = await testAccount(api, { credits: 20 });
  for (const key of [other.liveKey, own.testKey]) {
    await expectError(await ask(`/v1/sets/${newer}`, key), "NOT_FOUND");
    await expectError(await ask(`/v1/sets/${newer}/checklist`, key), "NOT_FOUND");
    await expectError(await remove(key, `/v1/sets/${newer}`), "NOT_FOUND");
  }
  await expectError(await create(other, card(newer)), "INVALID_REQUEST");
});

test("a set with two players or parallels of one name, or without any, is refused with the places", async () => {
  const own = await testAccount(api, { credits: 0 });
  const refused = async (more: object): Promise<string[]> => {
    const error = await expectError(await sent(own.liveKey, "/v1/sets", setOf(more)), "INVALID_REQUEST");
    return error.details.map(({ field }: Json) => field);
  };
  expect(await refused({ players: [{ external_id: "a" }, { external_id: "a" }] })).toEqual([
    "players[1].external_id",
  ]);
  const twice = [
    { name: "Gold", size: 1 },
    { name: "gold", size: null },
  ];
  expect(await refused({ parallels: twice })).toEqual(["parallels[1].name"]);
  expect(await refused({ parallels: [], players: [] })).toEqual(["parallels", "players"]);
  expect(await refused({ name: "a\nb" })).toEqual(["name"]);
  expect(await refused({ parallels: [{ name: "gold", size: 0 }] })).toEqual(["parallels.0.size"]);
});

test("the manifest has every finished card with its file, by checklist, parallel and number, safe for spreadsheets", async () => {
  const own = await testAccount(api, { credits: 20 });
  const players = [{ external_id: "p1", name: "=1+1", number: 4 }, { external_id: "p0" }];
  const id = await makeSet(own, { players, season: undefined });
  const asked: [string, object][] = [
    ["p0", { serial: 2 }],
    ["p0", { serial: 1 }],
    ["p0", { parallel: "base" }],
    ["p1", {}],
  ];
  for (const [external_id, more] of asked) await accepted(create(own, card(id, more, { external_id })));
  const made: string[] = [];
  for (const _ of asked) made.push(await finishNext(api, "completed"));
  await accepted(create(own, card(id, {}, { external_id: "p1" })));
  const manifest = async () => {
    const response = await get(api.baseUrl, own.liveKey, `/v1/sets/${id}/manifest`);
    expect(response.headers.get("content-type")).toBe("text/csv; charset=utf-8");
    return (await response.text()).replace("\ufeff", "").trimEnd().split("\r\n");
  };
  const line = (at: number, start: string) => {
    const file = `${made[at]}-0secret.png`;
    return `Rovers 2026/27,,${start},${made[at]},${file},https://cards.example.org/cdn/${file},`;
  };
  const [head, ...lines] = await manifest();
  expect(head).toBe("set,season,external_id,name,number,parallel,serial,size,image_id,file,url,print_run");
  expect(lines).toEqual([
    line(3, "p1,'=1+1,4,gold,1,3"),
    line(2, "p0,,,base,,"),
    line(1, "p0,,,gold,1,3"),
    line(0, "p0,,,gold,2,3"),
  ]);
  expect((await remove(own.liveKey, "/v1/players/p0")).status).toBe(200);
  expect(await manifest()).toEqual([head, lines[0]] as string[]);
  await finishNext(api, "refused");
});

test("a manifest of which only the head is asked is not written for it", async () => {
  const own = await testAccount(api);
  const id = await makeSet(own);
  const head = await send(api, `/v1/sets/${id}/manifest`, {
    method: "HEAD",
    headers: { "X-API-Key": own.liveKey },
  });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, null]);
  expect(head.headers.get("transfer-encoding")).toBe("chunked");
});

test("packs are drawn from a seed, and stay as they were when a player is deleted", async () => {
  const own = await testAccount(api, { credits: 20 });
  const id = await makeSet(own);
  for (const external_id of ["p0", "p1"])
    for (const parallel of ["base", "gold", "gold"])
      await accepted(create(own, card(id, { parallel }, { external_id })));
  for (let n = 0; n < 6; n++) await finishNext(api, "completed");
  const ask = (query: string) => get(api.baseUrl, own.liveKey, `/v1/sets/${id}/packs?${query}`);
  const packs = async (query: string) => expectSuccess(await ask(query), 200, PacksResponse);
  const drawn = await packs("seed=final&packs=3&cards=2");
  expect(drawn).toMatchObject({ seed: "final", cards_in_pool: 6 });
  expect(new Set(drawn.packs.flat().map(({ image_id }: Json) => image_id)).size).toBe(6);
  for (const pack of drawn.packs) expect(new Set(pack.map((one: Json) => one.external_id)).size).toBe(2);
  expect(await packs("seed=final&packs=3&cards=2")).toEqual(drawn);
  expect(await packs("seed=final&packs=3&cards=2&copies=4")).toMatchObject({ cards_in_pool: 12 });
  expect((await remove(own.liveKey, "/v1/players/p1")).status).toBe(200);
  const after = await packs("seed=final&packs=3&cards=2");
  const blank = (one: Json) =>
    one.external_id === "p1" ? { ...one, external_id: null, image_id: null, name: null } : one;
  expect(after.packs).toEqual(drawn.packs.map((pack: Json[]) => pack.map(blank)));
  for (const [page, fields] of [
    ["album.pdf?sheet=a5&size=9x9", ["query sheet", "query size"]],
    ["checklist.pdf?size=63x88", ["query size"]],
  ] as const) {
    const answer = await get(api.baseUrl, own.liveKey, `/v1/sets/${id}/${page}`);
    const { details } = await expectError(answer, "INVALID_REQUEST");
    expect(details.map(({ field }: Json) => field)).toEqual([...fields]);
  }
  const faults: [string, string[]][] = [
    ["seed=final&packs=4&cards=2", ["query packs"]],
    ["seed=final&packs=1&cards=3", ["query packs"]],
    ["packs=0&cards=51", ["query seed", "query packs", "query cards"]],
    ["seed=a&packs=20000&cards=2", ["query packs"]],
    ["seed=a&packs=1&cards=1&copies=100000", ["query copies"]],
    ["seed=a&packs=1&cards=1&sort=x", ["query sort"]],
  ];
  for (const [query, fields] of faults) {
    const error = await expectError(await ask(query), "INVALID_REQUEST");
    expect(error.details.map(({ field }: Json) => field)).toEqual(fields);
  }
});
