import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cardInput, storedRequest } from "../../src/core/image-request.ts";
import { AcceptedImageResponse, PresetListResponse } from "../../src/http/schemas.ts";
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
import { expectError, expectSuccess, type TestApi, testApi } from "./api.ts";

// A service that lists one template with custom fields and one without.

let templates: TestFolder;
let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  templates = testFolder();
  for (const [name, bytes] of sampleTemplate()) {
    const path = join(templates.dir, "test_card", name);
    await mkdir(dirname(path), { recursive: true });
    await Bun.write(path, bytes);
  }
  const { fields: _, ...plain } = MANIFEST;
  const bare = sampleTemplate({
    "template.json": JSON.stringify({ ...plain, name: "plain_card" }),
    "card.html": '<main class="card"><p data-text="player.name">Maya</p></main>',
    "card.css": ".card { position: absolute; inset: 0 }",
    "assets/paper.svg": null,
  });
  for (const [name, bytes] of bare) {
    await mkdir(join(templates.dir, "plain_card"), { recursive: true });
    await Bun.write(join(templates.dir, "plain_card", name), bytes);
  }
  api = await testApi({
    env: { CARDPRESS_TEMPLATES_DIR: templates.dir, CARDPRESS_PRESETS: "plain_card,test_card" },
  });
  partner = await testAccount(api);
});
afterAll(async () => {
  await api.close();
  await templates.remove();
});

const create = (fields: unknown, preset = "test_card") =>
  post(api.baseUrl, partner.liveKey, {
    ...imageRequest({ player: { source_image_url: api.photo }, style: { preset } }),
    ...(fields === undefined ? {} : { fields }),
  });

const GOOD = {
  club: "Rovers",
  captain: true,
  kit: "away",
  trim: "#00FF00",
  stats: [{ label: "Pace", value: 91 }],
};

test("the presets show their fields as a JSON Schema, or none", async () => {
  const { presets } = await expectSuccess(
    await get(api.baseUrl, partner.testKey, "/v1/presets"),
    200,
    PresetListResponse,
  );
  expect(presets[0].fields).toBeNull();
  expect(presets[1]).toMatchObject({
    title: "Test card",
    sizes: [
      { name: "poster", width: 600, height: 800 },
      { name: "wide", width: 1200, height: 600 },
    ],
    fields: {
      type: "object",
      additionalProperties: false,
      properties: {
        club: { type: "string", maxLength: 40 },
        stats: { type: "array", maxItems: 6, items: { required: ["label"] } },
      },
    },
  });
});

test("fields are stored with the request and reach the card as they were sent", async () => {
  const accepted = await expectSuccess(await create(GOOD), 202, AcceptedImageResponse);
  const { db, t } = api.store.read;
  const row = (await db.select().from(t.images)).find(({ id }) => id === accepted.image_id);
  expect(cardInput(storedRequest(row?.request)).fields).toEqual(GOOD);
  await expectSuccess(await create(undefined), 202, AcceptedImageResponse);
});

const refused: [what: string, fields: unknown, field: string, message: string | RegExp][] = [
  ["an unknown one", { nation: "x" }, "fields.nation", /has club, captain, kit, trim, code, goals, stats\./],
  ["one of another type", { club: 7 }, "fields.club", "must be text of at most 40 characters; got 7."],
  ["a text too long", { club: "x".repeat(41) }, "fields.club", /at most 40 characters/],
  [
    "a number out of bounds",
    { goals: 1000 },
    "fields.goals",
    "must be a whole number from 0 to 999; got 1000.",
  ],
  ["no choice", { kit: "third" }, "fields.kit", 'must be one of "home", "away"; got "third".'],
  ["no colour", { trim: "red" }, "fields.trim", /a colour written #RRGGBB/],
  ["a switch that is none", { captain: "yes" }, "fields.captain", 'must be true or false; got "yes".'],
  [
    "an entry's number",
    { stats: [{ label: "a" }, { label: "b" }, { label: "c", value: 100 }] },
    "fields.stats[2].value",
    /from 0 to 99; got 100/,
  ],
  ["an entry without what it needs", { stats: [{}] }, "fields.stats[0].label", /is required/],
  ["an entry's unknown column", { stats: [{ label: "a", x: 1 }] }, "fields.stats[0].x", /has label, value\./],
  [
    "a list too long",
    { stats: Array(7).fill({ label: "a" }) },
    "fields.stats",
    "must be a list of at most 6 entries; got a list of 7.",
  ],
  ["letters that no font has", { stats: [{ label: "Tom ބބޯ" }] }, "fields.stats[0].label", /they lack "ބ"/],
  ["half a character", { club: "a\ud800" }, "fields.club", /valid Unicode/],
  ["something else than an object", "Rovers", "fields", 'must be an object; got "Rovers".'],
];
for (const [what, fields, field, message] of refused)
  test(`${what} is refused by its place and rule`, async () => {
    const error = await expectError(await create(fields), "INVALID_REQUEST");
    expect(error.details[0]).toEqual({
      field,
      message: typeof message === "string" ? message : expect.stringMatching(message),
    });
  });

test("a preset without fields takes none", async () => {
  const error = await expectError(await create({}, "plain_card"), "INVALID_REQUEST");
  expect(error.details).toEqual([
    { field: "fields", message: "is not for the preset plain_card, which has no fields. Remove it." },
  ]);
});

test("a batch's cards are checked alike, each by its place", async () => {
  const card = (id: string, fields: unknown) => ({
    ...imageRequest({
      player: { external_id: id, source_image_url: api.photo },
      style: { preset: "test_card" },
    }),
    fields,
  });
  const answer = await fetch(`${api.baseUrl}/v1/batches`, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-API-Key": partner.testKey,
      "Idempotency-Key": "fields-1",
    },
    body: JSON.stringify({ cards: [card("a", GOOD), card("b", { stats: [{ label: "x", value: 100 }] })] }),
  });
  const error = await expectError(answer, "INVALID_REQUEST");
  expect(error.details).toEqual([
    { field: "cards[1].fields.stats[0].value", message: "must be a whole number from 0 to 99; got 100." },
  ]);
});
