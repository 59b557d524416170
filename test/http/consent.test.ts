import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { acceptBatch } from "../../src/app/batches/accept-batch.ts";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { acceptImage } from "../../src/app/images/accept-image.ts";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { sweep } from "../../src/app/operations/sweep.ts";
import { recallEnded, recordConsent, withdrawConsent } from "../../src/app/people/consent.ts";
import type { CreateImageRequest } from "../../src/core/image-request.ts";
import { AcceptedBatchResponse } from "../../src/http/batch-schemas.ts";
import { ConsentListResponse, ConsentResponse, WithdrawnConsentResponse } from "../../src/http/consent.ts";
import { PlayerRecalledEvent } from "../../src/http/openapi/webhook-schemas.ts";
import { AcceptedImageResponse, ImageResponse } from "../../src/http/schemas.ts";
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

const DAY_MS = 86_400_000;
let api: TestApi;
let own: TestAccount;
beforeAll(async () => {
  api = await testApi();
  own = await testAccount(api, { credits: 50 });
});
afterAll(() => api.close());

const path = (id: string) => `/v1/players/${encodeURIComponent(id)}/consent`;
const record = (id: string, body: unknown, key = own.liveKey) =>
  send(api, path(id), {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": key },
    body: JSON.stringify(body),
  });
const withdraw = (id: string, key = own.liveKey) =>
  send(api, path(id), { method: "DELETE", headers: { "X-API-Key": key } });
const card = (external_id: string, name = "Maya Okafor") =>
  imageRequest({ player: { external_id, name, source_image_url: api.photos.url("yoga.jpg") } });
const create = (external_id: string, name?: string, key = own.liveKey) =>
  post(api.baseUrl, key, card(external_id, name));
const fieldsOf = async (response: Response) =>
  (await expectError(response, "INVALID_REQUEST")).details.map(({ field }: Json) => field);
const codesOf = async (response: Response) =>
  (await expectError(response, "INVALID_REQUEST")).details.map(({ code }: Json) => code);
/** The events about this player, in whatever order. */
const recalls = async (player: string) => {
  const { db, t } = api.store.read;
  const rows = await db.select().from(t.webhookEvents);
  return rows
    .filter(({ type, accountId }) => type === "player.recalled" && accountId === own.account.id)
    .map(({ body }) => JSON.parse(body))
    .filter(({ data }) => data.external_id === player);
};
const creditsLeft = async () => {
  const { db, t } = api.store.read;
  const row = (await db.select().from(t.accounts)).find(({ id }) => id === own.account.id);
  return [row?.creditsPlan, row?.creditsHeld];
};

test("without the full name a card has the first word and an initial, by every way to it, and costs one credit for each name", async () => {
  const consent = await expectSuccess(await record("short", { full_name: false }), 200, ConsentResponse);
  expect(consent).toMatchObject({ status: "given", photo: true, full_name: false, until: null });
  const { image_id } = await expectSuccess(await create("short"), 202, AcceptedImageResponse);
  const view = await expectSuccess(
    await get(api.baseUrl, own.liveKey, `/v1/images/${image_id}`),
    200,
    ImageResponse,
  );
  expect(view.name).toBe("Maya O.");
  await finishNext(api, "completed");
  const batch = (key?: string) =>
    send(api, "/v1/batches", {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-API-Key": own.testKey,
        ...(key && { "Idempotency-Key": key }),
      },
      body: JSON.stringify({ cards: [card("short", "Maya van der Okafor"), card("long")] }),
    });
  const { images } = await expectSuccess(await batch("squad"), 202, AcceptedBatchResponse);
  const names = await Promise.all(
    images.map(
      async ({ image_id: id }: Json) =>
        (await (await get(api.baseUrl, own.testKey, `/v1/images/${id}`)).json()).data.name,
    ),
  );
  expect(names).toEqual(["Maya O.", "Maya Okafor"]);
  // A key stays that of what was sent, also when the player allows the name since.
  await record("short", {});
  expect((await batch("squad")).headers.get("idempotent-replayed")).toBe("true");
  const again = await expectSuccess(await create("short"), 202, AcceptedImageResponse);
  const whole = await (await get(api.baseUrl, own.liveKey, `/v1/images/${again.image_id}`)).json();
  expect(whole.data.name).toBe("Maya Okafor");
  await finishNext(api, "completed");
});

test("no photo, and an end that has come, refuse a create by the field, alone and in a batch, and reserve nothing", async () => {
  const before = await creditsLeft();
  await record("unseen", { photo: false });
  expect(await fieldsOf(await create("unseen"))).toEqual(["player.source_image_url"]);
  const until = new Date(api.clock.now() + DAY_MS).toISOString();
  await record("lent", { until });
  expect((await create("lent", undefined, own.testKey)).status).toBe(202);
  api.clock.advance(2 * DAY_MS);
  expect(await fieldsOf(await create("lent"))).toEqual(["player.external_id"]);
  const squad = await send(api, "/v1/batches", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": own.liveKey },
    body: JSON.stringify({ cards: [card("free"), card("unseen"), card("lent")] }),
  });
  expect(await fieldsOf(squad)).toEqual(["cards[1].player.source_image_url", "cards[2].player.external_id"]);
  expect(await codesOf(await create("unseen"))).toEqual(["no_photo_consent"]);
  expect(await codesOf(await create("lent"))).toEqual(["consent_ended"]);
  expect(await creditsLeft()).toEqual(before);
  const error = await expectError(await record("lent", { until: "2020-01-01" }), "INVALID_REQUEST");
  expect(error.details[0].field).toBe("until");
  expect(error.details[0]).not.toHaveProperty("code");
  for (const bad of [{ until: "tomorrow" }, { until: "2031-02-31" }, { photo: "no" }, { name: true }])
    expect((await record("lent", bad)).status).toBe(400);
  // Agreed to anew.
  await record("lent", { until: "2099-12-31" });
  expect((await create("lent", undefined, own.testKey)).status).toBe(202);
});

test("a batch, and its cards made again, are refused for faults of form and of consent at once", async () => {
  for (const id of ["blurred", "also-blurred"]) await record(id, { photo: false });
  const cards: Json[] = [card("blurred"), card("wrong"), card("also-blurred"), card("\0")];
  cards[1].player.number = 100;
  cards[2].player.number = 0;
  const batch = (body: unknown, path = "/v1/batches") =>
    send(api, path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-API-Key": own.liveKey },
      body: JSON.stringify(body),
    });
  const error = await expectError(await batch({ cards }), "INVALID_REQUEST");
  expect(error.details.map(({ field, code }: Json) => [field, code])).toEqual([
    ["cards[1].player.number", undefined],
    ["cards[2].player.number", undefined],
    ["cards[3].player.external_id", undefined],
    ["cards[0].player.source_image_url", "no_photo_consent"],
    ["cards[2].player.source_image_url", "no_photo_consent"],
  ]);

  const made = await batch({ cards: [card("later-blurred"), card("fine")] });
  const { batch_id } = ((await made.json()) as Json).data;
  await send(api, `/v1/batches/${batch_id}`, { method: "DELETE", headers: { "X-API-Key": own.liveKey } });
  await record("later-blurred", { photo: false });
  const again = await batch(
    { cards: [{ external_id: "later-blurred" }, { external_id: "fine", player: { name: "\u200b" } }] },
    `/v1/batches/${batch_id}/remake`,
  );
  expect(await fieldsOf(again)).toEqual(["cards[1].player.name", "cards[0].player.source_image_url"]);
});

test("a withdrawal deletes every picture of both environments, sends one event, and holds until it is agreed to anew", async () => {
  const made = await expectSuccess(await create("leaver"), 202, AcceptedImageResponse);
  await finishNext(api, "completed");
  expect((await create("leaver", undefined, own.testKey)).status).toBe(202);
  const held = await expectSuccess(await create("leaver"), 202, AcceptedImageResponse);
  const consent = await expectSuccess(await withdraw("leaver"), 200, WithdrawnConsentResponse);
  expect(consent).toMatchObject({ status: "withdrawn", images_deleted: 3 });
  expect(consent.recalled_at).not.toBeNull();
  for (const { image_id } of [made, held])
    await expectError(await get(api.baseUrl, own.liveKey, `/v1/images/${image_id}`), "IMAGE_NOT_FOUND");
  const events = await recalls("leaver");
  for (const event of events) expectShape(PlayerRecalledEvent, event);
  expect(
    Object.fromEntries(
      events.map(({ environment, data }) => [
        environment,
        [data.external_id, data.reason, data.images_deleted],
      ]),
    ),
  ).toEqual({ live: ["leaver", "withdrawn", 2], test: ["leaver", "withdrawn", 1] });
  await expectSuccess(await withdraw("leaver"), 200, WithdrawnConsentResponse);
  expect(await recalls("leaver")).toHaveLength(2);
  expect(await fieldsOf(await create("leaver"))).toEqual(["player.external_id"]);
  expect(await codesOf(await create("leaver"))).toEqual(["consent_withdrawn"]);
  await record("leaver", {});
  expect((await create("leaver", undefined, own.testKey)).status).toBe(202);
  const { findings } = await audit(api.store, api.clock.now());
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
});

test("the end of a consent recalls the player by itself, and a card that was on its way meanwhile is deleted too", async () => {
  await record("until", { until: new Date(api.clock.now() + DAY_MS).toISOString() });
  const { image_id } = await expectSuccess(await create("until"), 202, AcceptedImageResponse);
  await finishNext(api, "completed");
  await sweep(api);
  expect((await get(api.baseUrl, own.liveKey, `/v1/images/${image_id}`)).status).toBe(200);
  api.clock.advance(DAY_MS + 1);
  await sweep(api);
  expect((await get(api.baseUrl, own.liveKey, `/v1/images/${image_id}`)).status).toBe(404);
  expect((await recalls("until")).map(({ data }) => data.reason)).toEqual(["ended", "ended"]);
  // A create that looked before the end and commits after it.
  const late = await expectSuccess(await create("other"), 202, AcceptedImageResponse);
  await api.store.write("test", async ({ db, t }) => {
    await db.update(t.images).set({ externalId: "until" }).where(eq(t.images.id, late.image_id));
  });
  await sweep(api);
  expect((await get(api.baseUrl, own.liveKey, `/v1/images/${late.image_id}`)).status).toBe(404);
  expect(await recalls("until")).toHaveLength(2);
});

test("a consent that ends between a create's first look and its commit refuses it, alone and in a batch, and a name it shortens is short", async () => {
  const before = await creditsLeft();
  const asked = (id: string) => ({
    account: own.account,
    environment: "live" as const,
    idempotencyKey: `hasty-${id}`,
    request: card(id) as CreateImageRequest,
  });
  const fetchingFirst = (change: () => Promise<unknown>) =>
    acceptImage({
      ...api,
      sources: {
        ...api.sources,
        fetchPhoto: async (...args) => change().then(() => api.sources.fetchPhoto(...args)),
      },
      wake: () => {},
    });
  const refused = fetchingFirst(() => record("hasty", { photo: false }))(asked("hasty"));
  await expect(refused).rejects.toThrow("player.source_image_url");
  const squad = acceptBatch(
    { ...api, room: { refuseWhenLow: async () => void (await withdraw("hasty2")) }, wakeBatches: () => {} },
    { ...asked("hasty2"), name: "", requests: [card("hasty2") as CreateImageRequest] },
  );
  await expect(squad).rejects.toThrow("cards[0].player.external_id");
  expect(await creditsLeft()).toEqual(before);
  const shorter = await fetchingFirst(() => record("hasty3", { full_name: false }))(asked("hasty3"));
  const view = await (await get(api.baseUrl, own.liveKey, `/v1/images/${shorter.answer.image_id}`)).json();
  expect(view.data.name).toBe("Maya O.");
  await finishNext(api, "completed");
});

test("a card of a batch that still waits for its photo is not made against what its player says meanwhile", async () => {
  const before = await creditsLeft();
  const answer = await send(api, "/v1/batches", {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-API-Key": own.liveKey },
    body: JSON.stringify({ cards: [card("waits1"), card("waits2")] }),
  });
  const { images, batch_id } = await expectSuccess(answer, 202, AcceptedBatchResponse);
  await record("waits1", { photo: false });
  await record("waits2", { full_name: false });
  let ends = 0;
  const fetcher = photoFetcher(api, { onQueued: () => {}, onEnd: () => (ends += 1) });
  for (const _ of images) await fetcher.fetchNext(new AbortController().signal, () => {});
  const [first, second] = await Promise.all(
    images.map(
      async ({ image_id: id }: Json) =>
        (await (await get(api.baseUrl, own.liveKey, `/v1/images/${id}`)).json()).data,
    ),
  );
  expect(first).toMatchObject({ status: "failed", failure: { reason: "consent" } });
  expect(second).toMatchObject({ status: "processing", name: "Maya O." });
  expect(ends).toBe(1);
  await finishNext(api, "completed");
  const [left, held] = await creditsLeft();
  expect([left, held]).toEqual([(before[0] ?? 0) - 1, 0]);
  const batch = await (await get(api.baseUrl, own.liveKey, `/v1/batches/${batch_id}`)).json();
  expect(batch.data).toMatchObject({ status: "completed", completed: 1, failed: 1 });
});

/** The service with something in the way of files being removed. */
const removing = (first: () => Promise<unknown>) => ({
  ...api,
  blobs: {
    ...api.blobs,
    remove: async (...args: Parameters<typeof api.blobs.remove>) =>
      first().then(() => api.blobs.remove(...args)),
  },
});

test("however many consents end at once, all of their players are recalled, and one that cannot be holds up no other", async () => {
  const until = new Date(api.clock.now() + DAY_MS).toISOString();
  await record("stuck", { until });
  await expectSuccess(await create("stuck"), 202, AcceptedImageResponse);
  await finishNext(api, "completed");
  const many = Array.from({ length: 130 }, (_, n) => `many-${n}`);
  for (const id of many)
    await recordConsent(
      api,
      { accountId: own.account.id, externalId: id },
      { photo: true, fullName: true, endsAt: Date.parse(until) },
      null,
    );
  api.clock.advance(DAY_MS + 1);
  await recallEnded(removing(() => Promise.reject(new Error("the disk is gone"))));
  const { db, t } = api.store.read;
  const consents = await db.select().from(t.playerConsents);
  const recalled = consents
    .filter(({ recalledAt }) => recalledAt !== null)
    .map(({ externalId }) => externalId);
  expect(recalled).toEqual(expect.arrayContaining(many));
  expect(recalled).not.toContain("stuck");
  await recallEnded(api);
  expect(await recalls("stuck")).toHaveLength(2);
});

test("a consent that is given anew while its player is recalled keeps what is made from then on", async () => {
  await create("renewed");
  await finishNext(api, "completed");
  let made = "";
  const deps = removing(async () => {
    if (made !== "") return;
    made = "being made";
    api.clock.advance(1);
    await record("renewed", {});
    const answer = await create("renewed", undefined, own.testKey);
    made = (await expectSuccess(answer, 202, AcceptedImageResponse)).image_id;
  });
  const player = { accountId: own.account.id, externalId: "renewed" };
  expect((await withdrawConsent({ ...api, ...deps }, player, null)).images).toBe(1);
  expect((await get(api.baseUrl, own.testKey, `/v1/images/${made}`)).status).toBe(200);
  expect((await recalls("renewed")).map(({ data }) => data.images_deleted).sort()).toEqual([0, 1]);
});

test("all consents are listed, the last changed first, page by page, whatever the ids are, and to their account alone", async () => {
  const lister = await testAccount(api);
  const ids = ["a", "b.c", "'d\"; --", "ü/ö"];
  for (const id of ids) {
    api.clock.advance(1);
    expect((await record(id, {}, lister.liveKey)).status).toBe(200);
  }
  api.clock.advance(1);
  await record("a", { full_name: false }, lister.liveKey);
  const seen: Json[] = [];
  for (let after: string | null = ""; after !== null; ) {
    const query = `limit=2${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
    const page = await expectSuccess(
      await get(api.baseUrl, lister.testKey, `/v1/consents?${query}`),
      200,
      ConsentListResponse,
    );
    seen.push(...page.consents);
    expect(page.has_more).toBe(page.next_cursor !== null);
    after = page.next_cursor;
  }
  expect(seen.map(({ external_id }) => external_id)).toEqual(["a", "ü/ö", "'d\"; --", "b.c"]);
  expect(seen[0]).toMatchObject({ full_name: false, status: "given" });
  expect(await fieldsOf(await get(api.baseUrl, lister.liveKey, "/v1/consents?after=x"))).toEqual([
    "query after",
  ]);
});

test("a consent is read by its account alone, and none is an answer of its own", async () => {
  await record("a/b c", { photo: false });
  const read = await expectSuccess(await get(api.baseUrl, own.testKey, path("a/b c")), 200, ConsentResponse);
  expect(read).toMatchObject({ external_id: "a/b c", photo: false });
  const other = await testAccount(api);
  await expectError(await get(api.baseUrl, other.liveKey, path("a/b c")), "NOT_FOUND");
  await expectError(await get(api.baseUrl, own.liveKey, path("nobody")), "NOT_FOUND");
  expect((await create("a/b c", undefined, other.testKey)).status).toBe(202);
});

test("a test key neither records nor withdraws what holds for live images too", async () => {
  await record("kept", { full_name: false });
  await expectError(await record("kept", {}, own.testKey), "KEY_NOT_ALLOWED");
  await expectError(await withdraw("kept", own.testKey), "KEY_NOT_ALLOWED");
  const read = await expectSuccess(await get(api.baseUrl, own.liveKey, path("kept")), 200, ConsentResponse);
  expect(read).toMatchObject({ status: "given", full_name: false });
});
