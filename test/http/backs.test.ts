import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/test-image.ts";
import { AcceptedImageResponse, ImageResponse, PresetListResponse } from "../../src/http/schemas.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { picturesAfter, poolOf, RENDERED } from "../fakes.ts";
import {
  get,
  imageRequest,
  ownTemplate,
  post,
  type TestAccount,
  type TestFolder,
  testAccount,
  testFolder,
} from "../harness.ts";
import { expectError, expectSuccess, type Json, send, type TestApi, testApi } from "./api.ts";

// A service with a template that has another side, and one that has none.

let templates: TestFolder;
let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  templates = testFolder();
  for (const name of ["two_sides", "one_side"]) await ownTemplate(templates.dir, name);
  const back = (file: string, text: string) => Bun.write(join(templates.dir, "two_sides", file), text);
  await back(
    "back.html",
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Back</title><link rel="stylesheet" href="back.css"></head>
<body><main class="card"><p data-text="player.name">Maya</p></main></body></html>`,
  );
  await back("back.css", ".card { position: absolute; inset: 0; background: var(--primary) }");
  for (const file of ["back.html", "back.css"])
    await Bun.file(join(templates.dir, "one_side", file))
      .delete()
      .catch(() => {});
  api = await testApi({
    env: { CARDPRESS_TEMPLATES_DIR: templates.dir, CARDPRESS_PRESETS: "two_sides,one_side" },
  });
  partner = await testAccount(api, { credits: 50 });
});
afterAll(async () => {
  await api.close();
  await templates.remove();
});

const card = (style: Json): Json => imageRequest({ player: { source_image_url: api.photo }, style });
const image = async (id: string, key: string): Promise<Json> =>
  expectSuccess(await get(api.baseUrl, key, `/v1/images/${id}`), 200, ImageResponse);
const accepted = async (body: Json, key: string): Promise<string> =>
  (await expectSuccess(await post(api.baseUrl, key, body), 202, AcceptedImageResponse)).image_id;
const never = new AbortController().signal;

test("presets say whether they have another side", async () => {
  const { presets } = await expectSuccess(
    await get(api.baseUrl, partner.liveKey, "/v1/presets"),
    200,
    PresetListResponse,
  );
  expect(presets.map(({ name, back }: Json) => [name, back])).toEqual([
    ["two_sides", true],
    ["one_side", false],
  ]);
});

test("a back is refused where the preset has none, and `false` is not", async () => {
  const key = partner.testKey;
  const { details } = await expectError(
    await post(api.baseUrl, key, card({ preset: "one_side", back: true })),
    "INVALID_REQUEST",
  );
  expect(details).toEqual([
    { field: "style.back", message: expect.stringContaining("the preset one_side has no other side") },
  ]);
  await accepted(card({ preset: "one_side", back: false }), key);
});

test("both sides are at addresses of their own, and the request's style says that they were asked for", async () => {
  const id = await accepted(card({ preset: "two_sides", back: true }), partner.liveKey);
  const sides: (string | undefined)[] = [];
  const write = picturesAfter(async ({ side }) => void sides.push(side));
  const pool = poolOf(async (job, onStage) => {
    await write(job, onStage);
    return { kind: "done", file: { ...RENDERED, width: 1024, height: 1280 } };
  });
  await renderNextImage(buildDeps(api, { pool }), never, () => {});
  expect(sides).toEqual([undefined, "back"]);
  const { result, style, usage } = await image(id, partner.liveKey);
  expect(style).toMatchObject({ back: true });
  expect(usage).toEqual({ credits_used: 1 });
  expect(result.back_url).not.toBe(result.image_url);
  for (const url of [result.image_url, result.back_url]) {
    const served = await send(api, `/cdn/${url.split("/").at(-1)}`);
    expect([served.status, await served.text()]).toEqual([200, "picture"]);
  }
  await send(api, `/v1/images/${id}`, { method: "DELETE", headers: { "X-API-Key": partner.liveKey } });
  for (const url of [result.image_url, result.back_url])
    expect((await send(api, `/cdn/${url.split("/").at(-1)}`)).status).toBe(410);
});

test("a test key gets placeholders of both sides", async () => {
  const id = await accepted(card({ preset: "two_sides", back: true }), partner.testKey);
  const other = await accepted(card({ preset: "two_sides" }), partner.testKey);
  const deps = buildDeps(api, { pool: poolOf(picturesAfter(async () => {})) });
  for (const _ of [0, 1, 2]) await renderNextTestImage(deps, never, () => {});
  const { result } = await image(id, partner.testKey);
  expect((await send(api, `/cdn/${result.back_url.split("/").at(-1)}`)).status).toBe(200);
  expect((await image(other, partner.testKey)).result.back_url).toBeNull();
});
