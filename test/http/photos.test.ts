import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { sweep } from "../../src/app/operations/sweep.ts";
import { PhotoResponse } from "../../src/http/photo-schemas.ts";
import { AcceptedImageResponse } from "../../src/http/schemas.ts";
import { imageRequest, post, type TestAccount, testAccount } from "../harness.ts";
import { expectError, expectSuccess, type Json, send, type TestApi, testApi } from "./api.ts";

const DAY_MS = 86_400_000;

let api: TestApi;
let own: TestAccount;
beforeAll(async () => {
  api = await testApi();
  own = await testAccount(api);
});
afterAll(() => api.close());

function form(bytes: Uint8Array | string, fields: Record<string, string> = {}): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set("file", new File([bytes as Uint8Array<ArrayBuffer>], "player.jpg"));
  return body;
}

const photo = (name: string) => Bun.file(join(import.meta.dir, "../photos", name)).bytes();
const upload = (key: string, body: FormData) =>
  send(api, "/v1/photos", { method: "POST", headers: { "X-API-Key": key }, body });

async function sent(key: string, name: string, fields = {}): Promise<Json> {
  return expectSuccess(await upload(key, form(await photo(name), fields)), 201, PhotoResponse);
}

const card = (key: string, source_image_url: string, badge?: string) =>
  post(
    api.baseUrl,
    key,
    imageRequest({
      player: { source_image_url },
      ...(badge === undefined ? {} : { branding: { club_badge_url: badge } }),
    }),
  );

test("a photo that was sent makes a card without anything being fetched, and a badge likewise", async () => {
  const { url, width, height, content_type, expires_at } = await sent(own.liveKey, "yoga.jpg");
  expect({ content_type, days: (Date.parse(expires_at) - api.clock.now()) / DAY_MS }).toEqual({
    content_type: "image/jpeg",
    days: 7,
  });
  expect(Math.min(width, height)).toBeGreaterThan(200);
  const badge = await sent(own.liveKey, "logo.png", { use: "badge" });
  const before = api.photos.requests.length;
  await expectSuccess(await card(own.liveKey, url, badge.url), 202, AcceptedImageResponse);
  expect(api.photos.requests).toHaveLength(before);
});

test("an upload is of use only to keys of its account and environment", async () => {
  const other = await testAccount(api);
  const { url } = await sent(own.liveKey, "yoga.jpg");
  for (const [key, address] of [
    [other.liveKey, url],
    [own.liveKey, (await sent(own.testKey, "yoga.jpg")).url],
    [own.liveKey, `${url}x`],
  ] as const) {
    const error = await expectError(await card(key, address), "UNSUPPORTED_IMAGE_SOURCE");
    expect(error.message).toContain("POST /v1/photos");
  }
  expect((await send(api, new URL(url).pathname)).status).toBe(404);
});

test("an upload expires, and its bytes go with it unless a card needs them", async () => {
  const { url } = await sent(own.liveKey, "skier.jpg");
  const [first] = (await api.store.read.db.select().from(api.store.read.t.photos)).slice(-1);
  const sha256 = first?.sha256 ?? "";
  api.clock.advance(6 * DAY_MS);
  await sweep(api);
  expect(await api.blobs.stat("source", sha256)).not.toBeNull();
  api.clock.advance(DAY_MS);
  await expectError(await card(own.liveKey, url), "UNSUPPORTED_IMAGE_SOURCE");
  await sweep(api);
  expect(await api.blobs.stat("source", sha256)).toBeNull();
});

test("what is no photo is refused with the reason, as a fetched one is", async () => {
  const text = await expectError(
    await upload(own.liveKey, form("not a picture")),
    "UNSUPPORTED_IMAGE_SOURCE",
  );
  expect(text.details[0].field).toBe("file");
  const tiny = new Uint8Array(await new Bun.Image(await photo("yoga.jpg")).resize(100, 100).png().bytes());
  await expectError(await upload(own.liveKey, form(tiny)), "UNSUPPORTED_IMAGE_SOURCE");
  await expectSuccess(await upload(own.liveKey, form(tiny, { use: "badge" })), 201, PhotoResponse);
});

test("the refusal of a body that is no form, has no file, two files or unknown fields says what is wrong", async () => {
  const post = (body: BodyInit, headers: Record<string, string> = {}) =>
    send(api, "/v1/photos", { method: "POST", headers: { "X-API-Key": own.liveKey, ...headers }, body });
  const json = await post("{}", { "Content-Type": "application/json" });
  expect((await expectError(json, "UNSUPPORTED_MEDIA_TYPE")).message).toContain('its field "file"');
  await expectError(
    await post("x", { "Content-Type": "multipart/form-data; boundary=y" }),
    "INVALID_REQUEST",
  );
  const none = new FormData();
  none.set("use", "photo");
  await expectError(await post(none), "INVALID_REQUEST");
  const two = form("a");
  two.append("file", new File(["b"], "b"));
  await expectError(await post(two), "INVALID_REQUEST");
  const error = await expectError(
    await upload(own.liveKey, form(await photo("yoga.jpg"), { use: "poster", colour: "red" })),
    "INVALID_REQUEST",
  );
  expect(error.details.map(({ field }: Json) => field)).toEqual(["colour", "use"]);
  await expectError(await post(new Uint8Array(16 * 1024 * 1024)), "UNSUPPORTED_MEDIA_TYPE");
  const large = await upload(own.liveKey, form(new Uint8Array(15 * 1024 * 1024 + 70 * 1024)));
  expect((await expectError(large, "PAYLOAD_TOO_LARGE")).message).toBe(
    "The body must be at most 15 MB. Send a smaller file.",
  );
  const empty = await upload(own.liveKey, form(""));
  expect((await expectError(empty, "UNSUPPORTED_IMAGE_SOURCE")).message).toBe(
    "The photo cannot be used. It is empty. Check that it opens as a picture.",
  );
  await expectError(await send(api, "/v1/photos", { method: "POST", body: form("a") }), "INVALID_API_KEY");
});
