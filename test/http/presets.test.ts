import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createImageSchema } from "../../src/core/image-request.ts";
import { createExamples } from "../../src/http/openapi/examples.ts";
import { AcceptedImageResponse, PresetListResponse } from "../../src/http/schemas.ts";
import { layoutsAmong } from "../../src/render/card/placement/template-layout.ts";
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

// A service with a custom template listed before the built-in one, and an unlisted one.

let templates: TestFolder;
let api: TestApi;
let partner: TestAccount;
beforeAll(async () => {
  templates = testFolder();
  for (const name of ["season_card", "draft"]) await ownTemplate(templates.dir, name);
  await edit("draft", '"version": "1.0.0"', '"version": "0.1.0"');
  api = await testApi({
    env: { CARDPRESS_TEMPLATES_DIR: templates.dir, CARDPRESS_PRESETS: "season_card,club_card" },
  });
  partner = await testAccount(api);
});
afterAll(async () => {
  await api.close();
  await templates.remove();
});

async function edit(name: string, from: string, to: string): Promise<void> {
  const file = Bun.file(join(templates.dir, name, "template.json"));
  await Bun.write(file, (await file.text()).replace(from, to));
}

const list = (key: string) => get(api.baseUrl, key, "/v1/presets");
const withPreset = (preset: string) =>
  imageRequest({ player: { source_image_url: api.photo }, style: { preset } });
const document = async (): Promise<Json> => (await send(api, "/docs/openapi.json")).json();

test("the presets are those that are listed, in their order, alike for both kinds of key", async () => {
  const data = await expectSuccess(await list(partner.liveKey), 200, PresetListResponse);
  expect(data.presets.map(({ name, version }: Json) => `${name} ${version}`)).toEqual([
    "season_card 1.0.0",
    "club_card 1.0.0",
  ]);
  const { manifest } = await api.templates.current("club_card");
  const [own, builtIn] = data.presets;
  expect(builtIn).toEqual({ ...own, name: "club_card", sample_url: builtIn.sample_url });
  const { digest } = await api.templates.current("club_card");
  expect(builtIn.sample_url).toBe(
    `https://cards.example.org/docs/presets/club_card-${digest.slice(0, 16)}.webp`,
  );
  expect(builtIn.description).toBe(manifest.description);
  expect(builtIn.sizes[0]).toEqual({ name: "portrait", width: 1024, height: 1280 });
  expect([builtIn.min_aspect_ratio, builtIn.max_aspect_ratio]).toEqual(manifest.shapes);
  expect(builtIn.layouts).toEqual([
    { name: "portrait", min_aspect_ratio: 0.62, max_aspect_ratio: 0.9 },
    { name: "square", min_aspect_ratio: 0.9, max_aspect_ratio: 1.3 },
    { name: "landscape", min_aspect_ratio: 1.3, max_aspect_ratio: 2.1 },
  ]);
  expect(Object.keys(builtIn.fields.properties)).toEqual(Object.keys(manifest.fields ?? {}));
  expect((await (await list(partner.testKey)).json()) as Json).toMatchObject({ success: true, data });
});

test("they need a key, count against its budget, and take no parameters", async () => {
  await expectError(await send(api, "/v1/presets"), "INVALID_API_KEY");
  const left = async () => Number((await list(partner.testKey)).headers.get("x-ratelimit-remaining"));
  expect(await left()).toBe((await left()) + 1);
  const refused = await expectError(
    await get(api.baseUrl, partner.testKey, "/v1/presets?name=club_card"),
    "INVALID_REQUEST",
  );
  expect(refused.details).toEqual([
    { field: "query name", message: "is not a parameter of this address, which takes none. Leave it out." },
  ]);
});

test("a template that says nothing of itself has no description", async () => {
  const { description } = (await api.templates.current("season_card")).manifest;
  await edit("season_card", `"description": ${JSON.stringify(description)},`, "");
  const [own] = (await expectSuccess(await list(partner.testKey), 200, PresetListResponse)).presets;
  expect(own).toMatchObject({ name: "season_card", description: null });
});

for (const preset of ["draft", "poster", "../season_card", ""])
  test(`"${preset}" is not listed, so a create that names it is refused by field with those that are`, async () => {
    const error = await expectError(
      await post(api.baseUrl, partner.liveKey, withPreset(preset)),
      "INVALID_REQUEST",
    );
    expect(error.details).toEqual([
      { field: "style.preset", message: `must be one of "season_card", "club_card"; got "${preset}".` },
    ]);
  });

test("an image is pinned to the template it was accepted with, and ends with the one it was made with", async () => {
  const row = async (id: string) => {
    const { db, t } = api.store.read;
    const images = await db.select().from(t.images);
    const image = images.find((each) => each.id === id);
    return [image?.templateName, image?.templateVersion, image?.templateDigest];
  };
  const create = async (preset: string) => {
    const answer = await post(api.baseUrl, partner.liveKey, withPreset(preset));
    return (await expectSuccess(answer, 202, AcceptedImageResponse)).image_id as string;
  };
  const now = async (name: string) => {
    const { manifest, digest } = await api.templates.current(name);
    return [name, manifest.version, digest];
  };
  const before = await now("season_card");
  const [first, other] = [await create("season_card"), await create("club_card")];
  await edit("season_card", '"version": "1.0.0"', '"version": "1.1.0"');
  const second = await create("season_card");
  expect([await row(first), await row(other), await row(second)]).toEqual([
    before,
    await now("club_card"),
    await now("season_card"),
  ]);
  expect(await now("season_card")).toMatchObject([
    "season_card",
    "1.1.0",
    expect.not.stringMatching(`${before[2]}`),
  ]);

  const made = { templateVersion: "1.2.0", templateDigest: "a".repeat(64) };
  expect(await finishNext(api, "completed", "live", made)).toBe(first);
  expect(await row(first)).toEqual(["season_card", "1.2.0", made.templateDigest]);
  expect(await finishNext(api, "refused")).toBe(other);
  expect(await row(other)).toEqual(await now("club_card"));
});

test("half an edit costs nobody a card: creates and the list go on with the last good files", async () => {
  const { digest, manifest } = await api.templates.current("season_card");
  const broken = JSON.stringify(manifest.version);
  await edit("season_card", broken, "nonsense");
  try {
    expect((await post(api.baseUrl, partner.testKey, withPreset("season_card"))).status).toBe(202);
    const [own] = (await expectSuccess(await list(partner.testKey), 200, PresetListResponse)).presets;
    expect(own.version).toBe(manifest.version);
    expect((await api.templates.current("season_card")).digest).toBe(digest);
  } finally {
    await edit("season_card", "nonsense", broken);
  }
});

test("the OpenAPI document and the guides know the listed ones, and show the first", async () => {
  const served = await document();
  const { preset } = served.components.schemas.CreateImageRequest.properties.style.properties;
  expect(preset.enum).toEqual(["season_card", "club_card"]);
  const { examples } = served.paths["/v1/images"].post.requestBody.content["application/json"];
  for (const { value } of [examples.full, examples.least]) {
    expect(value.style.preset).toBe("season_card");
    expectShape(createImageSchema(api.config.presets), value);
  }
  expect(createExamples(api.config.presets).least).toEqual(examples.least.value);
  const guide = async (name: string) => (await send(api, `/docs/${name}`)).text();
  expect(await guide("card-options")).toMatch(/<code[^>]*>season_card<\/code> <code[^>]*>club_card<\/code>/);
  for (const name of ["quickstart", "testing", "card-options", "reference"]) {
    const text = await guide(name);
    expect(text).toContain("season_card");
    expect(text).not.toContain("{{preset");
  }
});

test("a preset lists the kinds of pictures among its shapes only", () => {
  const names = (shapes: [number, number]) => layoutsAmong(shapes).map(({ name }) => name);
  expect(names([0.62, 0.9])).toEqual(["portrait"]);
  expect(names([0.8, 1])).toEqual(["portrait", "square"]);
  expect(names([0.8, 0.8])).toEqual(["portrait"]);
  expect(names([1.3, 1.3])).toEqual(["square"]);
  expect(names([1.4, 2])).toEqual(["landscape"]);
});
