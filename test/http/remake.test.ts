import { afterAll, beforeAll, expect, test } from "bun:test";
import { remadeRequest } from "../../src/app/images/remade-request.ts";
import { changedRequest } from "../../src/core/remake-request.ts";
import { AcceptedImageResponse } from "../../src/http/schemas.ts";
import { findImage } from "../../src/store/images/image-reads.ts";
import { loadTemplate } from "../../src/templates/load.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, finishNext, type Json, send, type TestApi, testApi } from "./api.ts";

let api: TestApi;
let own: TestAccount;
beforeAll(async () => {
  api = await testApi();
  own = await testAccount(api, { credits: 30 });
});
afterAll(() => api.close());

const remake = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  send(api, `/v1/images/${id}/remake`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-API-Key": own.liveKey,
      "Idempotency-Key": crypto.randomUUID(),
      ...headers,
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const requestOf = async (id: string) => {
  const scope = { accountId: own.account.id, environment: "live", id } as const;
  return (await findImage(api.store.read, scope))?.request as Json;
};
async function made(end: "completed" | "refused" = "completed"): Promise<{ id: string; request: Json }> {
  const player = { external_id: crypto.randomUUID(), source_image_url: api.photos.url("yoga.jpg") };
  const branding = { primary_color: "#112233", secondary_color: "#445566" };
  const style = { background_theme: "fire", format: "webp" as const };
  const request = imageRequest({ player, style, branding, metadata: { season: "2026" } });
  const answer = await expectSuccess(
    await post(api.baseUrl, own.liveKey, request),
    202,
    AcceptedImageResponse,
  );
  await finishNext(api, end);
  return { id: answer.image_id, request };
}

test("a card that moved and is made again as a still leaves its motion out", async () => {
  const player = { source_image_url: api.photos.url("yoga.jpg") };
  const request = imageRequest({ player, style: { format: "webm", motion: "reveal" } });
  const { image_id } = await expectSuccess(
    await post(api.baseUrl, own.liveKey, request),
    202,
    AcceptedImageResponse,
  );
  await finishNext(api, "completed");
  const styleAfter = async (style: Json) => {
    const again = await expectSuccess(await remake(image_id, { style }), 202, AcceptedImageResponse);
    await finishNext(api, "completed");
    return (await requestOf(again.image_id)).style;
  };
  expect(await styleAfter({ format: "webp-animated" })).toMatchObject({ motion: "reveal" });
  expect(await styleAfter({ format: "png" })).not.toHaveProperty("motion");
});

test("a remake keeps the time of a publication that is to come, moves it, or lifts it", () => {
  const before = { ...imageRequest({}), publish_at: "2999-01-01T00:00:00Z" };
  expect(changedRequest(before, { style: { background_theme: "rain" } })).toHaveProperty(
    "publish_at",
    before.publish_at,
  );
  const moved = "2999-02-01T00:00:00Z";
  expect(changedRequest(before, { publish_at: moved })).toHaveProperty("publish_at", moved);
  expect(changedRequest(before, { publish_at: null })).not.toHaveProperty("publish_at");
});

test("what another preset does not have ends with the one before: foil, layers and the back", async () => {
  const templates = {
    listed: async () => ["club_card", "full_bleed", "retro_sticker"],
    current: loadTemplate,
  };
  const style = { width: 815, height: 1110, foil: true, back: true, layers: true, format: "webp" as const };
  const before = imageRequest({ style: { ...style, preset: "club_card" } });
  const after = async (style: object) => (await remadeRequest(templates, before, { style })).style;
  expect(await after({ preset: "full_bleed", format: "png" })).toMatchObject({ back: true });
  expect(await after({ preset: "full_bleed" })).not.toContainAnyKeys(["foil", "layers"]);
  expect(await after({ preset: "retro_sticker" })).not.toContainAnyKeys(["foil", "layers", "back"]);
  // Said anew it is refused by its name.
  expect(await after({ preset: "retro_sticker", back: true })).toMatchObject({ back: true });
  expect(await after({ background_theme: "rain" })).toMatchObject({ layers: true, back: true });
});

test("a card with a plate of foil keeps it as long as it is a PNG for print", () => {
  const before = imageRequest({ style: { width: 815, height: 1110, foil: true } });
  expect(changedRequest(before, { style: { width: 650, height: 839 } }).style).toMatchObject({ foil: true });
  expect(changedRequest(before, { style: { format: "jpeg" } }).style).not.toHaveProperty("foil");
  expect(changedRequest(before, { style: { width: 1024 } }).style).not.toHaveProperty("foil");
});

test("a card with layers keeps them as long as its format can", () => {
  const before = imageRequest({ style: { format: "webp", layers: true } });
  expect(changedRequest(before, { style: { background_theme: "ice" } }).style).toMatchObject({
    layers: true,
  });
  expect(changedRequest(before, { style: { format: "png" } }).style).not.toHaveProperty("layers");
});

test("an image is made again with what is sent otherwise, and all else as it was", async () => {
  const { id, request } = await made();
  const photo = api.photos.url("unsplash_man.jpg");
  const change = {
    player: { source_image_url: photo },
    style: { background_theme: "ice", width: 1200 },
    branding: { primary_color: "#ABCDEF" },
  };
  const answer = await expectSuccess(await remake(id, change), 202, AcceptedImageResponse);
  expect(answer.image_id).not.toBe(id);
  expect(await requestOf(answer.image_id)).toEqual({
    ...request,
    player: { ...request.player, source_image_url: photo },
    style: { ...request.style, background_theme: "ice", width: 1200 },
    branding: { primary_color: "#ABCDEF" },
  });
  expect(await requestOf(id)).toEqual(request);
  await finishNext(api, "completed");
});

test("a failed image is made again as it was, once for each key, and one credit each", async () => {
  const { id, request } = await made("refused");
  const credits = async () => {
    const { db, t } = api.store.read;
    const row = (await db.select().from(t.accounts)).find(({ id: each }) => each === own.account.id);
    return row?.creditsPlan ?? 0;
  };
  const before = await credits();
  const key = { "Idempotency-Key": "again-1" };
  const first = await remake(id, {}, key);
  const second = await remake(id, {}, key);
  expect(second.headers.get("idempotent-replayed")).toBe("true");
  expect(await second.text().then(JSON.parse)).toEqual(await first.json());
  expect(await credits()).toBe(before - 1);
  const other = { style: { background_theme: "ice" } };
  await expectError(await remake(id, other, key), "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD");
  expect(await requestOf(await finishNext(api, "completed"))).toEqual(request);
});

test("the player stays the same one, and every fault names its field", async () => {
  const { id } = await made();
  const bad = { player: { external_id: "other", number: 100 }, style: { width: 1 }, type: "player_card" };
  const error = await expectError(await remake(id, bad), "INVALID_REQUEST");
  expect(error.details.map(({ field }: Json) => field).sort()).toEqual([
    "player.external_id",
    "player.number",
    "style.width",
    "type",
  ]);
  const far = { player: { source_image_url: "http://photos.example/a.jpg" } };
  expect((await expectError(await remake(id, far), "INVALID_REQUEST")).details[0].field).toBe(
    "player.source_image_url",
  );
  for (const body of ["[]", "7", "null", "{", ""])
    await expectError(await remake(id, body), "INVALID_REQUEST");
  await expectError(await remake(id, {}, { "Idempotency-Key": "" }), "INVALID_REQUEST");
  await expectError(await remake(id, {}, { "Content-Type": "text/plain" }), "UNSUPPORTED_MEDIA_TYPE");
  const gone = { player: { source_image_url: api.photos.url("missing.jpg") } };
  await expectError(await remake(id, gone), "UNSUPPORTED_IMAGE_SOURCE");
});

test("an image of another account or environment, or a deleted one, is not there to be made again", async () => {
  const { id } = await made();
  const other = await testAccount(api);
  for (const key of [own.testKey, other.liveKey])
    await expectError(await remake(id, {}, { "X-API-Key": key }), "IMAGE_NOT_FOUND");
  await send(api, `/v1/images/${id}`, { method: "DELETE", headers: { "X-API-Key": own.liveKey } });
  await expectError(await remake(id, {}), "IMAGE_NOT_FOUND");
});

test("a focus stays with its photo, and is forgotten with another one", async () => {
  const { id } = await made();
  const idOf = async (from: string, player: object) =>
    (await expectSuccess(await remake(from, { player }), 202, AcceptedImageResponse)).image_id;
  const focus = { x: 0.25, y: 0.4 };
  const focused = await idOf(id, { focus });
  expect((await requestOf(focused)).player).toMatchObject({ focus });
  expect((await requestOf(await idOf(focused, { name: "Ada" }))).player).toMatchObject({
    name: "Ada",
    focus,
  });
  const photo = api.photos.url("unsplash_man.jpg");
  const another = await idOf(focused, { source_image_url: photo });
  expect((await requestOf(another)).player).not.toHaveProperty("focus");
  const both = await idOf(focused, { source_image_url: photo, focus: { x: 0.5, y: 0.5 } });
  expect((await requestOf(both)).player).toMatchObject({ focus: { x: 0.5, y: 0.5 } });
});
