import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { audit } from "../../src/app/operations/audit/audit.ts";
import { sweep } from "../../src/app/operations/sweep.ts";
import { AcceptedBatchResponse } from "../../src/http/batch-schemas.ts";
import { ConsentResponse, WithdrawnConsentResponse } from "../../src/http/consent.ts";
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
/** What was told of this player, in whatever order. */
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
  const told = await expectSuccess(await record("short", { full_name: false }), 200, ConsentResponse);
  expect(told).toMatchObject({ status: "given", photo: true, full_name: false, until: null });
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
  expect(await creditsLeft()).toEqual(before);
  const error = await expectError(await record("lent", { until: "2020-01-01" }), "INVALID_REQUEST");
  expect(error.details[0].field).toBe("until");
  for (const bad of [{ until: "tomorrow" }, { until: "2031-02-31" }, { photo: "no" }, { name: true }])
    expect((await record("lent", bad)).status).toBe(400);
  // Agreed to anew.
  await record("lent", { until: "2099-12-31" });
  expect((await create("lent", undefined, own.testKey)).status).toBe(202);
});

test("a withdrawal deletes every picture of both environments, tells so once, and holds until it is agreed to anew", async () => {
  const made = await expectSuccess(await create("leaver"), 202, AcceptedImageResponse);
  await finishNext(api, "completed");
  expect((await create("leaver", undefined, own.testKey)).status).toBe(202);
  const held = await expectSuccess(await create("leaver"), 202, AcceptedImageResponse);
  const told = await expectSuccess(await withdraw("leaver"), 200, WithdrawnConsentResponse);
  expect(told).toMatchObject({ status: "withdrawn", images_deleted: 3 });
  expect(told.recalled_at).not.toBeNull();
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
