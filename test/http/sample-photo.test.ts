import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { blobPath } from "../../src/blobs/folder-blobs.ts";
import { SAMPLE_PHOTO_PATH, SAMPLE_PHOTO_PATHS } from "../../src/core/sample-photo.ts";
import { imageRequest, post, testAccount } from "../harness.ts";
import { expectError, type Json, send, type TestApi, testApi } from "./api.ts";

// The base address of this service, cards.example.org, does not exist: a request to it could only fail.

let api: TestApi;
let liveKey: string;
beforeAll(async () => {
  api = await testApi();
  ({ liveKey } = await testAccount(api));
});
afterAll(() => api.close());

const create = (source_image_url: string) =>
  post(api.baseUrl, liveKey, imageRequest({ player: { source_image_url } }));

test("the service serves a photo of its own at an address that stays", async () => {
  const photo = await send(api, SAMPLE_PHOTO_PATH);
  expect([photo.status, photo.headers.get("content-type")]).toEqual([200, "image/png"]);
  expect(photo.headers.get("cache-control")).toBe("no-cache");
  const { width, height } = await new Bun.Image(await photo.bytes()).metadata();
  expect(Math.min(width, height)).toBeGreaterThanOrEqual(512);
  const etag = photo.headers.get("etag") ?? "";
  const again = await send(api, SAMPLE_PHOTO_PATH, { headers: { "If-None-Match": etag } });
  expect(again.status).toBe(304);
});

test("a live request with the sample photo is accepted without a request to the service itself", async () => {
  const { port } = api.config;
  const places = [api.config.baseUrl, `http://127.0.0.1:${port}`, `http://localhost:${port}`];
  for (const place of places) {
    const accepted = await create(place + SAMPLE_PHOTO_PATH);
    expect({ place, status: accepted.status }).toEqual({ place, status: 202 });
  }
  const served = await (await send(api, SAMPLE_PHOTO_PATH)).bytes();
  const sha256 = new Bun.CryptoHasher("sha256").update(served).digest("hex");
  expect(await Bun.file(blobPath(api.folder, "source", sha256)).bytes()).toEqual(served);
});

test("every sample photo is served as what it is, and is a source", async () => {
  for (const path of SAMPLE_PHOTO_PATHS) {
    const photo = await send(api, path);
    const { width, height, format } = await new Bun.Image(await photo.bytes()).metadata();
    expect(photo.headers.get("content-type")).toBe(`image/${format}`);
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(400);
    expect((await create(api.config.baseUrl + path)).status).toBe(202);
  }
});

test("nothing else of the service, and no other host with that path, becomes a source by it", async () => {
  const { baseUrl, port } = api.config;
  const refused = [
    `http://127.0.0.1:${port}/metrics`,
    `http://127.0.0.1:${port}${SAMPLE_PHOTO_PATH}?x=1`,
    `http://127.0.0.1:${port}/docs/samples/../../metrics`,
    `http://127.0.0.1:${port + 1}${SAMPLE_PHOTO_PATH}`,
    `http://10.0.0.1${SAMPLE_PHOTO_PATH}`,
    `https://127.0.0.1:${port}${SAMPLE_PHOTO_PATH}`,
    `${baseUrl}/docs/samples/other.png`,
    `${baseUrl}/docs/samples/player-4.jpg`,
  ];
  for (const address of refused) {
    const { status } = await create(address);
    expect({ address, refused: status === 400 || status === 422 }).toEqual({ address, refused: true });
  }
});

test("an address of a sample that there is not is answered with the names of those there are", async () => {
  for (const name of ["player.jpg", "player-4.jpg"]) {
    const refused = await create(`${api.config.baseUrl}/docs/samples/${name}`);
    const { details } = await expectError(refused, "INVALID_REQUEST");
    expect(details).toEqual([
      {
        field: "player.source_image_url",
        message: "is not a sample of this service; there are player.png, player-2.jpg, player-3.jpg.",
      },
    ]);
  }
});

test("the quickstart's request, word for word, is accepted with a live key", async () => {
  const guide = await Bun.file(
    join(import.meta.dir, "../../src/http/docs/samples/quickstart/card.sh"),
  ).text();
  const [, body = ""] = /-d '(\{.*?\n {2}\})'/s.exec(guide) ?? [];
  const accepted = await post(
    api.baseUrl,
    liveKey,
    body.replaceAll("{{base_url}}", api.config.baseUrl).replaceAll("{{preset}}", "club_card"),
  );
  const { data } = (await accepted.json()) as Json;
  expect([accepted.status, data?.status]).toEqual([202, "processing"]);
});
