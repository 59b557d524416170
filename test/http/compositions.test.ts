import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { imageReceipt, receiptView } from "../../src/app/images/image-receipt.ts";
import { renderNextImage } from "../../src/app/images/render-image.ts";
import { fingerprintOf } from "../../src/core/idempotency.ts";
import { createImageValidator } from "../../src/core/image-request.ts";
import { AcceptedImageResponse, ImageResponse, PresetListResponse } from "../../src/http/schemas.ts";
import { buildDeps } from "../../src/service/deps.ts";
import { picturesAfter, poolOf, RENDERED } from "../fakes.ts";
import {
  declareCompositions,
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

// A service with a template that shows the player in both ways, and one that says nothing of it.

let templates: TestFolder;
let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  templates = testFolder();
  for (const name of ["in_the_photo", "plain"]) await ownTemplate(templates.dir, name);
  await declareCompositions(templates.dir, "in_the_photo", ["photo", "cutout"]);
  await declareCompositions(templates.dir, "plain");
  api = await testApi({
    env: { CARDPRESS_TEMPLATES_DIR: templates.dir, CARDPRESS_PRESETS: "in_the_photo,plain" },
  });
  partner = await testAccount(api, { credits: 50 });
});
afterAll(async () => {
  await api.close();
  await templates.remove();
});

const card = (preset: string, composition?: string): Json => {
  const request: Json = imageRequest({ player: { source_image_url: api.photo }, style: { preset } });
  if (composition !== undefined) request.style.composition = composition;
  return request;
};
const create = (body: Json, key = partner.testKey, headers: Record<string, string> = {}) =>
  post(api.baseUrl, key, body, headers);
const accepted = async (response: Response): Promise<string> =>
  (await expectSuccess(response, 202, AcceptedImageResponse)).image_id;
const image = async (id: string, key = partner.liveKey): Promise<Json> =>
  expectSuccess(await get(api.baseUrl, key, `/v1/images/${id}`), 200, ImageResponse);
const write = (path: string, body: unknown, key = partner.liveKey) =>
  send(api, path, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-API-Key": key,
      "Idempotency-Key": crypto.randomUUID(),
    },
    body: JSON.stringify(body),
  });

const REFUSED = {
  field: "style.composition",
  message:
    'is "photo", which the preset plain does not support; it supports "cutout". Send one of these, or "auto".',
};

test("GET /v1/presets lists the compositions of each preset, a cutout where its template says nothing", async () => {
  const data = await expectSuccess(
    await get(api.baseUrl, partner.testKey, "/v1/presets"),
    200,
    PresetListResponse,
  );
  expect(data.presets.map(({ name, compositions }: Json) => [name, compositions])).toEqual([
    ["in_the_photo", ["photo", "cutout"]],
    ["plain", ["cutout"]],
  ]);
});

test("a composition that the preset supports, auto and none are accepted", async () => {
  for (const [preset, asked] of [
    ["in_the_photo", "photo"],
    ["in_the_photo", "cutout"],
    ["in_the_photo", "auto"],
    ["in_the_photo", undefined],
    ["plain", "cutout"],
    ["plain", "auto"],
    ["plain", undefined],
  ] as const)
    await accepted(await create(card(preset, asked)));
});

test("a composition that the preset does not support is refused, with those it does and the remedy, beside other faults", async () => {
  const { details } = await expectError(await create(card("plain", "photo")), "INVALID_REQUEST");
  expect(details).toEqual([REFUSED]);
  const whole = card("plain", "photo");
  whole.fields = { club: "Rovers" };
  const both = await expectError(await create(whole), "INVALID_REQUEST");
  expect(both.details.map(({ field }: Json) => field)).toEqual(["style.composition", "fields.club"]);
});

test("a word that is no composition is refused with those there are", async () => {
  const { details } = await expectError(await create(card("plain", "Photo")), "INVALID_REQUEST");
  expect(details).toEqual([
    { field: "style.composition", message: 'must be one of "auto", "cutout", "photo"; got "Photo".' },
  ]);
});

test("in a batch the card is named", async () => {
  const cards = [card("plain"), card("plain", "photo"), card("in_the_photo", "photo")];
  for (const [at, one] of cards.entries()) one.player.external_id = `p${at}`;
  const { details } = await expectError(await write("/v1/batches", { cards }), "INVALID_REQUEST");
  expect(details).toEqual([{ ...REFUSED, field: "cards[1].style.composition" }]);
});

test("a remake keeps the composition, may ask for another, and is refused with a preset that lacks it", async () => {
  const id = await accepted(await create(card("in_the_photo", "photo"), partner.testKey));
  const remake = (change: unknown) => write(`/v1/images/${id}/remake`, change, partner.testKey);
  await accepted(await remake({}));
  await accepted(await remake({ style: { composition: "cutout" } }));
  const { details } = await expectError(await remake({ style: { preset: "plain" } }), "INVALID_REQUEST");
  expect(details).toEqual([REFUSED]);
  await accepted(await remake({ style: { preset: "plain", composition: "auto" } }));
  const { db, t } = api.store.read;
  const styles = (await db.select().from(t.images).where(eq(t.images.environment, "test")))
    .slice(-4)
    .map(({ request }) => (request as Json).style.composition);
  expect(styles.sort()).toEqual(["auto", "cutout", "photo", "photo"]);
});

test("a request without the field has the fingerprint it always had, and is replayed; with it it is another payload", async () => {
  const checked = createImageValidator(["club_card"]).check(imageRequest());
  // As computed before there were compositions: keys used then must still be found.
  expect(checked.ok && fingerprintOf(checked.value)).toBe(
    "74adfdbee70c9e8159cd6de91d02ca662a833d0095c2975ecb5ea48e251f6401",
  );
  const headers = { "Idempotency-Key": "composed" };
  const first = await create(card("plain"), partner.testKey, headers);
  const again = await create(card("plain"), partner.testKey, headers);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await again.text()).toBe(await first.text());
  await expectError(
    await create(card("plain", "cutout"), partner.testKey, headers),
    "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
  );
});

test("the result says how the renderer showed the player; an image made before there was a choice has none", async () => {
  const composition = "photo" as const;
  const pool = poolOf(async (job, onStage) => {
    await picturesAfter(async () => {})(job, onStage);
    return { kind: "done", file: { ...RENDERED, width: 512, height: 512, composition } };
  });
  const id = await accepted(await create(card("in_the_photo"), partner.liveKey));
  await renderNextImage(buildDeps(api, { pool }), new AbortController().signal, () => {});
  expect((await image(id)).result).toMatchObject({ composition: "photo" });
  const { db, t } = api.store.read;
  const [event] = await db.select().from(t.webhookEvents).where(eq(t.webhookEvents.subject, id));
  expect(JSON.parse(event?.body ?? "{}").data.result.composition).toBe("photo");
  const shown = receiptView(await imageReceipt(api, id));
  expect(shown.picture?.composition).toBe("photo");
  await api.store.write("test", async ({ db, t }) => {
    await db.update(t.images).set({ outputComposition: null }).where(eq(t.images.id, id));
  });
  expect(Object.keys((await image(id)).result)).not.toContain("composition");
});
