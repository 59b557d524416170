import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { photoFetcher } from "../../src/app/batches/fetch-photos.ts";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { sweep } from "../../src/app/operations/sweep.ts";
import { AcceptedImageResponse, PresetListResponse } from "../../src/http/schemas.ts";
import type { RenderJob } from "../../src/render/protocol.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { picturesOfImage } from "../../src/store/images/image-pictures.ts";
import { picturesAfter, poolOf } from "../fakes.ts";
import {
  get,
  imageRequest,
  post,
  type TestAccount,
  type TestFolder,
  testAccount,
  testFolder,
} from "../harness.ts";
import { MANIFEST, sampleTemplate } from "../templates/sample-template.ts";
import { expectError, expectSuccess, type Json, send, type TestApi, testApi } from "./api.ts";

// Pictures among a preset's own fields: fetched with the photo, by the rules for badges.

let templates: TestFolder;
let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  templates = testFolder();
  const fields = {
    ...MANIFEST.fields,
    sponsor: { type: "image", title: "Sponsor" },
    stand: { type: "image" },
  };
  const html = new TextDecoder().decode(sampleTemplate().get("card.html"));
  const files = sampleTemplate({
    "template.json": JSON.stringify({ ...MANIFEST, fields }),
    "card.html": html.replace(
      "<h1",
      '<img data-picture="fields.sponsor" alt=""><img data-picture="fields.stand" alt=""><h1',
    ),
  });
  for (const [name, bytes] of files) {
    const path = join(templates.dir, "test_card", name);
    await mkdir(dirname(path), { recursive: true });
    await Bun.write(path, bytes);
  }
  api = await testApi({ env: { CARDPRESS_TEMPLATES_DIR: templates.dir, CARDPRESS_PRESETS: "test_card" } });
  partner = await testAccount(api, { credits: 50 });
});
afterAll(async () => {
  await api.close();
  await templates.remove();
});

const never = new AbortController().signal;
const card = (fields: Json, player: Json = {}): Json => ({
  ...imageRequest({ player: { source_image_url: api.photo, ...player }, style: { preset: "test_card" } }),
  fields,
});
const accepted = async (body: Json, key = partner.liveKey): Promise<string> =>
  (await expectSuccess(await post(api.baseUrl, key, body), 202, AcceptedImageResponse)).image_id;
const bytesOf = (photo: string) => Bun.file(join(import.meta.dir, "../photos", photo)).bytes();
const hashOf = async (photo: string) =>
  new Bun.CryptoHasher("sha256").update(await bytesOf(photo)).digest("hex");
const isKept = async (photo: string) => (await api.blobs.stat("source", await hashOf(photo))) !== null;
const remove = (path: string) =>
  send(api, path, { method: "DELETE", headers: { "X-API-Key": partner.liveKey } });

/** Renders the next image of a kind and gives the job that a worker got for it. */
async function rendered(
  next: typeof renderNextImage | typeof renderNextTestImage,
): Promise<RenderJob | undefined> {
  let seen: RenderJob | undefined;
  const pool = poolOf(
    picturesAfter(async (job) => {
      seen = job;
    }),
  );
  await next(buildDeps(api, { pool }), never, () => {});
  return seen;
}

test("presets say what a picture's field takes", async () => {
  const { presets } = await expectSuccess(
    await get(api.baseUrl, partner.liveKey, "/v1/presets"),
    200,
    PresetListResponse,
  );
  expect(presets[0].fields.properties.sponsor).toEqual({
    type: "string",
    format: "uri",
    maxLength: 2048,
    title: "Sponsor",
    description: "Public HTTPS address of a picture: JPEG, PNG or WebP, at most 5 MB and 4 megapixels.",
  });
});

test("a picture is fetched with the photo, and the worker gets the bytes that were there", async () => {
  const id = await accepted(card({ sponsor: api.photos.url("logo.png") }));
  expect(await picturesOfImage(api.store.read, id)).toEqual({ sponsor: await hashOf("logo.png") });
  const job = await rendered(renderNextImage);
  expect(Object.keys(job?.picturePaths ?? {})).toEqual(["sponsor"]);
  expect(await Bun.file(job?.picturePaths?.sponsor ?? "").bytes()).toEqual(await bytesOf("logo.png"));
});

test("the same holds for cards of a batch", async () => {
  const answer = await send(api, "/v1/batches", {
    method: "POST",
    headers: { "X-API-Key": partner.liveKey, "Content-Type": "application/json" },
    body: JSON.stringify({ cards: [card({ stand: api.photos.url("coffee.png") }, { external_id: "b-1" })] }),
  });
  expect(answer.status).toBe(202);
  await photoFetcher(api, { onQueued: () => {}, onEnd: () => {} }).fetchNext(never, () => {});
  const job = await rendered(renderNextImage);
  expect(await Bun.file(job?.picturePaths?.stand ?? "").bytes()).toEqual(await bytesOf("coffee.png"));
});

test("a test key fetches none", async () => {
  await accepted(card({ sponsor: "https://nowhere.invalid/logo.png" }), partner.testKey);
  const job = await rendered(renderNextTestImage);
  expect(job?.card.fields).toEqual({ sponsor: "https://nowhere.invalid/logo.png" });
  expect(job?.picturePaths).toBeUndefined();
});

test.each([
  ["an address without https", () => "http://images.example.org/logo.png", "https://"],
  ["one with a user name", () => "https://me:x@images.example.org/logo.png", "user name"],
  ["no address", () => "logo.png", "full address"],
  ["a number", () => 7, "got 7"],
])("%s is refused before anything is fetched, by the field's name", async (_, value, message) => {
  const { details } = await expectError(
    await post(api.baseUrl, partner.liveKey, card({ sponsor: value() })),
    "INVALID_REQUEST",
  );
  expect(details).toEqual([
    { field: "fields.sponsor", message: expect.stringMatching(new RegExp(message, "i")) },
  ]);
});

test.each([
  ["inside the network", () => "https://127.0.0.1/logo.png", "not on the public internet"],
  ["which is not there", () => api.photos.url("missing.png"), "404"],
])("an address %s is refused by the field's name, and the photo is not kept", async (_, url, message) => {
  const photo = "skier.jpg";
  const body = card({ stand: url() }, { source_image_url: api.photos.url(photo) });
  const { details } = await expectError(
    await post(api.baseUrl, partner.liveKey, body),
    "UNSUPPORTED_IMAGE_SOURCE",
  );
  expect(details).toEqual([{ field: "fields.stand", message: expect.stringContaining(message) }]);
  expect(await isKept(photo)).toBe(false);
});

test("a picture goes with the last card that has it, with what was uploaded of it", async () => {
  const upload = new FormData();
  upload.set("file", new Blob([await bytesOf("brick.png")]), "brick.png");
  const sent = await send(api, "/v1/photos", {
    method: "POST",
    headers: { "X-API-Key": partner.liveKey },
    body: upload,
  });
  expect(sent.status).toBe(201);
  const { url } = ((await sent.json()) as { data: { url: string } }).data;
  for (const external_id of ["with-1", "with-2"]) {
    await accepted(card({ sponsor: url }, { external_id }));
    await rendered(renderNextImage);
  }
  await remove("/v1/players/with-1");
  await sweep(api);
  expect(await isKept("brick.png")).toBe(true);
  await remove("/v1/players/with-2");
  await sweep(api);
  expect(await isKept("brick.png")).toBe(false);
  const gone = await expectError(
    await post(api.baseUrl, partner.liveKey, card({ sponsor: url })),
    "UNSUPPORTED_IMAGE_SOURCE",
  );
  expect(gone.details[0].field).toBe("fields.sponsor");
});

test("an unfinished card keeps its picture while the sweep looks", async () => {
  const id = await accepted(card({ sponsor: api.photos.url("rocket.jpg") }, { external_id: "waits" }));
  await api.keeper.drop(await hashOf("rocket.jpg"));
  expect(await isKept("rocket.jpg")).toBe(true);
  await remove(`/v1/images/${id}`);
  expect(await isKept("rocket.jpg")).toBe(false);
  expect(await picturesOfImage(api.store.read, id)).toEqual({});
});
