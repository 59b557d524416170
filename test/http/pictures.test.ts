import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { eq } from "drizzle-orm";
import { finishImage } from "../../src/app/images/finish-image.ts";
import { newName } from "../../src/app/images/keep-card.ts";
import { claimImage, leaseOf } from "../../src/app/images/render-image.ts";
import { renderNextTestImage } from "../../src/app/images/render-test-image.ts";
import { sweep } from "../../src/app/operations/sweep.ts";
import { blobPath } from "../../src/blobs/folder-blobs.ts";
import { checkFoil } from "../../src/core/foil.ts";
import { type CreateImageRequest, storedRequest } from "../../src/core/image-request.ts";
import { LAYER_PICTURES, LAYERS, type LayerPicture } from "../../src/core/layers.ts";
import { AcceptedImageResponse, ImageResponse } from "../../src/http/schemas.ts";
import { withStill } from "../../src/render/card/formats/film-still.ts";
import { withLayers } from "../../src/render/card/formats/layer-files.ts";
import { withMetadata } from "../../src/render/card/formats/metadata.ts";
import { encodeWebp } from "../../src/render/card/formats/webp.ts";
import { webpAnimation } from "../../src/render/card/formats/webp-animation.ts";
import { get, imageRequest, post, testAccount } from "../harness.ts";
import {
  expectError,
  expectStandardHeaders,
  expectSuccess,
  type Json,
  send,
  type TestApi,
  testApi,
} from "./api.ts";

const DAY_MS = 86_400_000;

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await testApi();
  key = (await testAccount(api)).testKey;
});
afterAll(() => api.close());

const view = async (id: string): Promise<Json> => {
  const response = await send(api, `/v1/images/${id}`, { headers: { "X-API-Key": key } });
  return expectSuccess(response, 200, ImageResponse);
};

/** A finished test image: its id, and the path and name of its picture. */
async function finished(style: Partial<CreateImageRequest["style"]> = {}) {
  const { image_id } = await expectSuccess(
    await post(api.baseUrl, key, imageRequest({ style })),
    202,
    AcceptedImageResponse,
  );
  await renderNextTestImage(api, new AbortController().signal, () => {});
  const { result } = await view(image_id);
  const name: string = result.image_url.split("/").at(-1);
  return { id: image_id as string, path: `/cdn/${name}`, name };
}

test("a picture may be cached until it expires, and never longer", async () => {
  const { id, path } = await finished();
  const { result } = await view(id);
  api.clock.advance(10 * DAY_MS + 500);
  const response = await send(api, path);
  await response.bytes();
  expectStandardHeaders(response);
  expect(response.headers.get("cache-control")).toBe(`public, max-age=${20 * 86_400 - 1}, immutable`);
  const expires = Date.parse(response.headers.get("expires") ?? "");
  expect(expires).toBe(Math.floor(Date.parse(result.expires_at) / 1000) * 1000);
});

test("a picture opened by itself may do nothing; a video may load itself, and browsers show a PDF", async () => {
  const { id, path } = await finished();
  const policyAs = async (outputContentType: string) => {
    await api.store.write("be another file", ({ db, t }) =>
      db.update(t.images).set({ outputContentType }).where(eq(t.images.id, id)),
    );
    return (await send(api, path)).headers.get("content-security-policy");
  };
  expect(await policyAs("image/png")).toBe("default-src 'none'; sandbox");
  expect(await policyAs("video/webm")).toBe("default-src 'none'; media-src 'self'; sandbox");
  expect(await policyAs("video/mp4")).toBe("default-src 'none'; media-src 'self'; sandbox");
  expect(await policyAs("application/pdf")).toBeNull();
});

test("a moving picture is served as it is, and as a still in the widths of its still alone", async () => {
  const { image_id } = await expectSuccess(
    await post(api.baseUrl, key, imageRequest({ style: { format: "webp-animated" } })),
    202,
    AcceptedImageResponse,
  );
  const image = await claimImage(api, "test");
  if (!image || image.id !== image_id) throw new Error("another image waits");
  const of = (width: number, height: number) =>
    encodeWebp({ rgba: new Uint8Array(width * height * 4).fill(255), width, height });
  const frame = {
    x: 0,
    y: 0,
    width: 642,
    height: 804,
    milliseconds: 40,
    isPatch: false,
    file: await of(642, 804),
  };
  const film = withStill(webpAnimation(642, 804, [frame, frame]), await of(512, 641));
  const name = newName(api, image.id, storedRequest(image.request).style);
  expect(name).toEndWith(".webp");
  await api.blobs.put("picture", name, film);
  const output = { name, contentType: "image/webp", width: 642, height: 804, bytes: film.length };
  await finishImage(api, leaseOf(image), { kind: "completed", output: { ...output, composition: "cutout" } });

  expect((await view(image_id)).result).toMatchObject({
    content_type: "image/webp",
    width: 642,
    height: 804,
  });
  const whole = await send(api, `/cdn/${name}`);
  expect(whole.headers.get("content-type")).toBe("image/webp");
  expect(Buffer.compare(await whole.bytes(), film)).toBe(0);
  for (const [width, height] of [
    [256, 320],
    [512, 641],
  ]) {
    const still = await send(api, `/cdn/${name}?w=${width}`);
    expect(still.headers.get("content-type")).toBe("image/webp");
    const bytes = await still.bytes();
    expect(Buffer.from(bytes).includes("ANIM")).toBe(false);
    expect(await new Bun.Image(bytes).metadata()).toMatchObject({ width, height, format: "webp" });
  }
  const { details } = await expectError(await send(api, `/cdn/${name}?w=1024`), "INVALID_REQUEST");
  expect(details).toEqual([
    { field: "query w", message: expect.stringContaining("must be one of 256, 512") },
  ]);
});

test("a card's layers and foil mask are at its picture's address, and its picture is served without them", async () => {
  const { image_id } = await expectSuccess(
    await post(api.baseUrl, key, imageRequest({ style: { format: "webp", layers: true } })),
    202,
    AcceptedImageResponse,
  );
  const image = await claimImage(api, "test");
  if (!image || image.id !== image_id) throw new Error("another image waits");
  const grey = (shade: number) =>
    encodeWebp({ rgba: new Uint8Array(642 * 804 * 4).fill(shade), width: 642, height: 804 });
  const shades = LAYER_PICTURES.map((name, number) => [name, 40 * number] as const);
  const layers = await Promise.all(shades.map(async ([name, shade]) => [name, await grey(shade)] as const));
  const still = withMetadata(await grey(255), "webp");
  const file = withLayers(still, Object.fromEntries(layers) as Record<LayerPicture, Uint8Array>);
  const name = newName(api, image.id, storedRequest(image.request).style);
  await api.blobs.put("picture", name, file);
  const output = { name, contentType: "image/webp", width: 642, height: 804, bytes: file.length };
  await finishImage(api, leaseOf(image), { kind: "completed", output: { ...output, composition: "cutout" } });

  const { result, usage } = await view(image_id);
  const at = (layer: string) => `${result.image_url}?layer=${layer}`;
  expect(result).toMatchObject({ layers: LAYERS.map(at), foil_mask: at("foil") });
  expect(usage).toEqual({ credits_used: 1 });
  const path = `/cdn/${name}`;
  const alone = await send(api, path);
  expect(Buffer.compare(await alone.bytes(), still)).toBe(0);
  for (const [layer, bytes] of layers) {
    const served = await send(api, `${path}?layer=${layer}`);
    expect(served.headers.get("content-type")).toBe("image/webp");
    expect(served.headers.get("cache-control")).toEndWith("immutable");
    const etag = served.headers.get("etag") ?? "";
    expect(etag).not.toBe(alone.headers.get("etag"));
    expect(Buffer.compare(await served.bytes(), bytes)).toBe(0);
    const again = await send(api, `${path}?layer=${layer}`, { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);
  }
  const small = await (await send(api, `${path}?w=256`)).bytes();
  expect(await new Bun.Image(small).metadata()).toMatchObject({ width: 256, format: "webp" });
  expect(small.length).toBeLessThan(still.length);
  const other = await finished();
  expect((await view(other.id)).result).not.toContainAnyKeys(["layers", "foil_mask"]);
  for (const [address, field, remedy] of [
    [`${path}?layer=sky`, "query layer", "must be one of back, scene, player, frame, text, foil"],
    [`${path}?layer=back&w=256`, "query w", "Leave one of them out"],
    [`${other.path}?layer=back`, "query layer", "make the card with `style.layers`"],
  ] as const) {
    const { details } = await expectError(await send(api, address), "INVALID_REQUEST");
    expect(details).toEqual([{ field, message: expect.stringContaining(remedy) }]);
  }
  await send(api, `/v1/images/${image_id}`, { method: "DELETE", headers: { "X-API-Key": key } });
  expect((await send(api, `${path}?layer=back`)).status).toBe(410);
});

test("a plate of foil is kept for print, as PNG, of a preset that has foil", async () => {
  const details = async (style: Partial<CreateImageRequest["style"]>) => {
    const response = await post(api.baseUrl, key, imageRequest({ style: { foil: true, ...style } }));
    return (await expectError(response, "INVALID_REQUEST")).details;
  };
  const print = { width: 815, height: 1110 };
  const says = (remedy: string) => ({ field: "style.foil", message: expect.stringContaining(remedy) });
  expect(await details({})).toEqual([says("815x1110 (63 x 88 mm)")]);
  expect(await details({ ...print, format: "pdf" })).toEqual([says("Send png as style.format")]);
  expect(checkFoil({ ...print, preset: "plain", foil: true }, false)).toEqual([says("lists with `foil`")]);
  expect((await finished({ ...print, foil: true })).path).toEndWith(".png");
});

test("what goes with stills or with moving pictures alone is refused with the other, with the remedy", async () => {
  const refused = async (style: Partial<CreateImageRequest["style"]>) => {
    const response = await post(api.baseUrl, key, imageRequest({ style }));
    return (await expectError(response, "INVALID_REQUEST")).details;
  };
  const says = (field: string, remedy: string) => [{ field, message: expect.stringContaining(remedy) }];
  expect(await refused({ motion: "foil" })).toEqual(
    says("style.motion", "webp-animated, webm or mp4 as style.format"),
  );
  expect(await refused({ format: "webm", back: true })).toEqual(says("style.back", "Leave it out"));
  expect(await refused({ format: "webm", width: 815, height: 1110 })).toEqual(
    says("style.format", "Send png for print, or another size"),
  );
  expect(await refused({ layers: true })).toEqual(says("style.layers", "Send webp as style.format"));
  expect(await refused({ layers: true, format: "webp", width: 2048, height: 2048 })).toEqual(
    says("style.layers", "such as 1024x1280 or 1080x1920"),
  );
});

test("a card is made as MP4 where the operator named an encoder, and refused elsewhere with the remedy", async () => {
  const create = () => post(api.baseUrl, key, imageRequest({ style: { format: "mp4" } }));
  const formats = async () => (await (await get(api.baseUrl, key, "/v1/presets")).json()).data.formats;
  expect((await expectError(await create(), "INVALID_REQUEST")).details).toEqual([
    { field: "style.format", message: expect.stringContaining("Send webm, or ask the operator") },
  ]);
  expect(await formats()).toEqual(["png", "webp", "jpeg", "webp-animated", "webm", "pdf"]);
  try {
    Object.assign(api.config, { mp4Encoder: "/usr/bin/ffmpeg" });
    await expectSuccess(await create(), 202, AcceptedImageResponse);
    expect(await formats()).toContain("mp4");
  } finally {
    Object.assign(api.config, { mp4Encoder: undefined });
  }
  const image = await claimImage(api, "test");
  if (!image) throw new Error("no image waits");
  const name = newName(api, image.id, storedRequest(image.request).style);
  expect(name).toEndWith(".mp4");
  const still = await encodeWebp({ rgba: new Uint8Array(512 * 640 * 4).fill(255), width: 512, height: 640 });
  const head = Buffer.from("00000008667479700000000066726565", "hex");
  const film = Buffer.concat([head, Buffer.from("cardpress still\n"), still]);
  film.writeUInt32BE(film.length - 8, 8);
  await api.blobs.put("picture", name, film);
  const output = { name, contentType: "video/mp4", width: 1080, height: 1350, bytes: film.length };
  await finishImage(api, leaseOf(image), { kind: "completed", output: { ...output, composition: "cutout" } });
  const whole = await send(api, `/cdn/${name}`);
  expect(whole.headers.get("content-type")).toBe("video/mp4");
  const small = await send(api, `/cdn/${name}?w=256`);
  expect(small.headers.get("content-type")).toBe("image/webp");
  expect(await new Bun.Image(await small.bytes()).metadata()).toMatchObject({ width: 256, height: 320 });
  const { result } = await view(image.id);
  const { pathname } = new URL(result.share_url);
  expect(await (await send(api, pathname)).text()).toContain(`<video class="film" src="/cdn/${name}"`);
});

test("what opens to whoever knows its address is not in the log: pictures, cards and setup links", async () => {
  const { path, name: file } = await finished();
  const name = file.replace(".png", "");
  const token = "T".repeat(43);
  const before = api.lines.length;
  const asked = [
    path,
    `/share/${name}/embed`,
    `/console/operator/cards/${file}`,
    `/console/setup/${token}`,
    `/console/setup/${token}/`,
  ];
  for (const address of [...asked, `/console//setup/${token}`]) await (await send(api, address)).bytes();
  const said = api.lines.slice(before).join("\n");
  for (const shape of ["/cdn/…", "/share/…", "/console/operator/cards/…", "/console/setup/…"])
    expect(said).toContain(`"${shape}"`);
  expect(said).not.toContain(name);
  expect(said).not.toContain(token);
});

test("an expired picture is 404 to the second, before and after the sweep; its image can still be read", async () => {
  const { id, path, name } = await finished();
  const before = await view(id);
  api.clock.advance(30 * DAY_MS - 1_000);
  await (await send(api, path)).bytes();
  api.clock.advance(1_000);
  const onDisk = () => existsSync(blobPath(api.folder, "picture", name));
  expect(onDisk()).toBeTrue();
  expect((await expectError(await send(api, path), "PICTURE_GONE")).message).toContain("expired");
  await sweep(api);
  expect(onDisk()).toBeFalse();
  expect((await expectError(await send(api, path), "PICTURE_GONE")).message).toContain("expired");
  expect(await view(id)).toEqual(before);
});

test("a conditional or partial request gets no more of an expired picture than a plain one", async () => {
  const { path } = await finished();
  const etag = (await send(api, path, { method: "HEAD" })).headers.get("etag") ?? "";
  expect((await send(api, path, { headers: { "If-None-Match": etag } })).status).toBe(304);
  api.clock.advance(30 * DAY_MS);
  for (const headers of [{ "If-None-Match": etag }, { Range: "bytes=0-9" }, { "If-None-Match": "*" }]) {
    await expectError(await send(api, path, { headers }), "PICTURE_GONE");
  }
});

test("a picture's name opens nothing in another spelling, format or folder", async () => {
  const { path, name, id } = await finished();
  for (const other of [
    path.replace(".png", ".jpg"),
    path.replace(".png", ""),
    `${path}.png`,
    path.replace("img_", "IMG_"),
    `/cdn/${id}.png`,
    `/cdn/./../cdn/x${name}`,
    `/cdn/%2e%2f${name}`,
    `${path}/`.replace("/cdn/", "/cdn//"),
  ]) {
    await expectError(await send(api, other), "NOT_FOUND");
  }
  expect((await send(api, `${path}?width=1`)).status).toBe(200);
});

test("a picture that is missing on disk is a fault of ours, reported as such and logged once", async () => {
  const { id, path, name } = await finished();
  await rm(blobPath(api.folder, "picture", name));
  for (let views = 0; views < 3; views++) {
    const error = await expectError(await send(api, path), "NOT_FOUND");
    expect(error.message).toContain("lost on our side");
    expect(JSON.stringify(error)).not.toContain(api.dataDir);
  }
  const logged = api.lines.filter((line) => line.includes(name) && !line.includes('"event":"request"'));
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain(id);
});

test("a picture comes smaller by its width, in its own format, to be cached as long as itself", async () => {
  for (const format of ["png", "webp", "jpeg"] as const) {
    const { path } = await finished({ format });
    const whole = await send(api, path);
    const small = await send(api, `${path}?w=256`);
    expect(small.status).toBe(200);
    expectStandardHeaders(small);
    for (const name of ["cache-control", "expires", "content-type", "x-content-type-options"])
      expect(small.headers.get(name)).toBe(whole.headers.get(name));
    expect(small.headers.get("etag")).not.toBe(whole.headers.get("etag"));
    const bytes = await small.bytes();
    expect(await new Bun.Image(bytes).metadata()).toMatchObject({ width: 256, height: 320, format });
    expect(bytes.length).toBeLessThan((await whole.bytes()).length);
    const etag = small.headers.get("etag") ?? "";
    const known = await send(api, `${path}?w=256`, { headers: { "If-None-Match": etag } });
    expect(known.status).toBe(304);
    expect((await send(api, `${path}?w=512`, { headers: { "If-None-Match": etag } })).status).toBe(200);
  }
});

test("a width that is none of the list, or not below the picture's own, is refused with those that are", async () => {
  const { path } = await finished();
  for (const query of ["w=", "w=0", "w=300", "w=256.0", "w=-256", "w=256&w=256", "w=99999", "w=0x100"]) {
    const error = await expectError(await send(api, `${path}?${query}`), "INVALID_REQUEST");
    expect(error.details).toEqual([{ field: "query w", message: expect.stringContaining("256, 512,") }]);
  }
  const small = await finished({ width: 600, height: 600 });
  const error = await expectError(await send(api, `${small.path}?w=1024`), "INVALID_REQUEST");
  expect(error.message).toContain("256, 512, given once");
  // Its own width is itself, and what else stands in an address means nothing.
  for (const query of ["w=1024", "v=2"])
    expect((await send(api, `${path}?${query}`)).headers.get("etag")).not.toContain("-w");
  await expectError(await send(api, "/cdn/img_unknown-secret.png?w=256"), "NOT_FOUND");
});

test("smaller pictures go with the picture: deleted, expired or lost", async () => {
  const one = await finished();
  expect((await send(api, `${one.path}?w=256`)).status).toBe(200);
  await send(api, `/v1/images/${one.id}`, { method: "DELETE", headers: { "X-API-Key": key } });
  await expectError(await send(api, `${one.path}?w=256`), "PICTURE_GONE");
  // Nothing of it is kept either.
  expect(await api.smaller.give(one.name, "image/png", 256)).toBeNull();
  const lost = await finished();
  await rm(blobPath(api.folder, "picture", lost.name));
  await expectError(await send(api, `${lost.path}?w=256`), "NOT_FOUND");
});
