import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { sideOfPdf } from "../../src/app/print/card-pdf.ts";
import { AcceptedImageResponse, ImageResponse, PresetListResponse } from "../../src/http/schemas.ts";
import { encodePng } from "../../src/render/card/formats/encode.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { writeWhole } from "../../src/system/write-whole.ts";
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

const PRINT = { width: 815, height: 1110 };
const [RED, BLUE] = [
  [200, 30, 30],
  [30, 60, 200],
] as const;

/** A picture of one colour in a size for print. */
function plain(colour: readonly number[]): Uint8Array {
  const rgba = new Uint8Array(PRINT.width * PRINT.height * 4);
  for (let k = 0; k < rgba.length; k += 4) rgba.set([...colour, 255], k);
  return encodePng({ rgba, ...PRINT });
}

/** Draws red fronts and blue backs. */
const painting = poolOf(async ({ side, outputPath }) => {
  await writeWhole(outputPath, plain(side === "back" ? BLUE : RED));
  return { kind: "done", file: { ...RENDERED, ...PRINT } };
});

/** Which of the two a side was drawn in. */
async function colourOf(picture: Uint8Array | undefined): Promise<"red" | "blue"> {
  const png = Buffer.from(await new Bun.Image(picture ?? "").resize(1, 1).png().bytes());
  const at = png.indexOf("IDAT") + 4;
  const [, red = 0, , blue = 0] = inflateSync(png.subarray(at, at + png.readUInt32BE(at - 8)));
  return red > blue ? "red" : "blue";
}

test("a PDF has both sides as its pages, shows its front as a picture, and prints like any other", async () => {
  const style = { preset: "two_sides", back: true, format: "pdf", ...PRINT };
  const id = await accepted(card(style), partner.liveKey);
  await renderNextImage(buildDeps(api, { pool: painting }), never, () => {});
  const { result } = await image(id, partner.liveKey);
  expect(result).toMatchObject({
    ...PRINT,
    content_type: "application/pdf",
    back_url: null,
    share_url: null,
  });
  const address = `/cdn/${result.image_url.split("/").at(-1)}`;
  const served = await send(api, address);
  expect(served.headers.get("content-type")).toBe("application/pdf");
  const file = await served.bytes();
  const text = Buffer.from(file).toString("latin1");
  expect(text).toStartWith("%PDF-");
  expect(text.match(/\/TrimBox \[8.504 8.504 187.087 257.953\]/g)).toHaveLength(2);
  expect(await colourOf(sideOfPdf(file, "front"))).toBe("red");
  expect(await colourOf(sideOfPdf(file, "back"))).toBe("blue");
  const small = await send(api, `${address}?w=256`);
  expect(small.headers.get("content-type")).toBe("image/jpeg");
  const shown = await small.bytes();
  expect((await new Bun.Image(shown).metadata()).width).toBe(256);
  expect(await colourOf(shown)).toBe("red");
  const printed = await send(api, `/v1/images/${id}/print`, {
    method: "POST",
    headers: { "X-API-Key": partner.liveKey, "Content-Type": "application/json" },
    body: JSON.stringify({ order: "back_first" }),
  });
  const deck = await printed.bytes();
  expect(sideOfPdf(deck, "front")).toEqual(sideOfPdf(file, "back"));
  expect(sideOfPdf(deck, "back")).toEqual(sideOfPdf(file, "front"));
});

test("a PDF is refused in a size without bleed, before anything is charged", async () => {
  for (const style of [{}, { width: 815 }, { width: 815, height: 1111 }]) {
    const body = card({ preset: "two_sides", format: "pdf", ...style });
    const { details } = await expectError(await post(api.baseUrl, partner.liveKey, body), "INVALID_REQUEST");
    expect(details).toEqual([
      { field: "style.format", message: expect.stringContaining("815x1110 (63 x 88 mm)") },
    ]);
  }
});

test("a test key gets a PDF of placeholders", async () => {
  const style = { preset: "two_sides", back: true, format: "pdf", ...PRINT };
  const id = await accepted(card(style), partner.testKey);
  await renderNextTestImage(buildDeps(api, { pool: painting }), never, () => {});
  const { result } = await image(id, partner.testKey);
  expect(result).toMatchObject({ content_type: "application/pdf", back_url: null });
  const served = await send(api, `/cdn/${result.image_url.split("/").at(-1)}`);
  expect(await colourOf(sideOfPdf(await served.bytes(), "back"))).toBe("blue");
});
