import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Image } from "../../src/store/images/images.ts";
import {
  imageRequest,
  ownTemplate,
  post,
  type TestAccount,
  type TestFolder,
  type TestServer,
  testAccount,
  testFolder,
  testServer,
  untilEnded,
} from "../harness.ts";
import { type Client, client, testMember, testOperator } from "./sessions.ts";

// A service whose operator lists a template of their own beside the built-in one, and is at work on a third.

let folder: TestFolder;
let templatesDir: string;
let server: TestServer;
let account: TestAccount;
let member: Client;
beforeAll(async () => {
  folder = testFolder();
  templatesDir = join(folder.dir, "templates");
  // All tests of this machine share a cache of samples: one like no other is drawn anew.
  await ownTemplate(templatesDir, "season_card", (css) => `${css}\n/* ${crypto.randomUUID()} */\n`);
  await ownTemplate(templatesDir, "draft");
  await Bun.write(join(templatesDir, "draft/template.json"), "{");
  server = await testServer({
    knowsPhotos: true,
    env: {
      CARDPRESS_TEMPLATES_DIR: templatesDir,
      CARDPRESS_PRESETS: "club_card,season_card",
      CARDPRESS_RENDER_WORKERS: "1",
    },
  });
  account = await testAccount(server.service);
  const user = await testMember(server.service, account.account.id, "dev@play.example", "developer");
  member = await client(server.service, server.baseUrl, user);
});
afterAll(async () => {
  await server?.close();
  await folder.remove();
});

const text = async (path: string, by = member) => (await by.get(path)).text();

/** The options of the playground's templates; the chosen one is marked. */
const choice = (page: string) => {
  const [, fieldset = ""] = /<fieldset class="looks" id="preset"[^>]*>(.*?)<\/fieldset>/s.exec(page) ?? [];
  return [...fieldset.matchAll(/<input type="radio"[^>]* value="(\w+)"( checked)?/g)].map(
    ([, name, chosen]) => (chosen ? `*${name}` : name),
  );
};

async function newest(): Promise<Image> {
  const { db, t } = server.service.store.read;
  const [image] = (await db.select().from(t.images)).sort((a, b) => b.createdAt - a.createdAt);
  return image as Image;
}

test("the playground offers the listed templates and sends the one that was chosen", async () => {
  expect(choice(await text("/console/playground"))).toEqual(["*club_card", "season_card"]);
  const fields = {
    name: "Ana",
    position: "ST",
    number: "9",
    skill_level: "87",
    external_id: "player-1",
    source_image_url: "https://photos.example/player.jpg",
    environment: "test",
  };
  const send = (preset: string) =>
    member.upload("/console/playground/send", new File([], ""), { ...fields, preset });
  expect((await send("season_card")).status).toBe(303);
  const image = await newest();
  expect([image.templateName, image.request]).toMatchObject([
    "season_card",
    { style: { preset: "season_card" } },
  ]);
  expect(choice(await text(`/console/playground?from=${image.id}`))).toEqual(["club_card", "*season_card"]);
  const refused = await send("draft");
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain("style.preset");
  const preview = await member.post("/console/playground/preview", { ...fields, preset: "season_card" });
  expect(await preview.text()).toContain("season_card");
});

test("a request of a template that is not listed any more opens with one that is", async () => {
  const { db, t } = server.service.store.read;
  const image = await newest();
  const request = imageRequest({ player: { name: "Once Upon" }, style: { preset: "gone_card" } });
  await server.service.store.write("test", async (tx) => {
    await tx.db.update(tx.t.images).set({ request });
  });
  expect((await db.select().from(t.images)).length).toBe(1);
  const page = await text(`/console/playground?from=${image.id}`);
  expect(page).toContain('value="Once Upon"');
  expect(choice(page)).toEqual(["*club_card", "season_card"]);
});

test("where one template is listed, the playground has nothing to choose and sends that one", async () => {
  const { templates } = server.service;
  const { listed } = templates;
  templates.listed = async () => ["season_card"];
  try {
    const page = await text("/console/playground");
    expect(page).not.toContain('id="preset"');
    expect(page).toContain("season_card");
    expect(page).not.toContain("club_card");
  } finally {
    templates.listed = listed;
  }
});

test("an image's page says what it was made with: name, version and the beginning of the digest", async () => {
  const body = imageRequest({
    style: { preset: "season_card" },
    player: { source_image_url: server.photos.url("unsplash_man.jpg") },
  });
  const { data } = (await (await post(server.baseUrl, account.liveKey, body)).json()) as {
    data: { image_id: string };
  };
  expect(await untilEnded(server.baseUrl, account.liveKey, data.image_id)).toMatchObject({
    status: "completed",
  });
  const { digest } = await server.service.templates.current("season_card");
  const page = await text(`/console/images/${data.image_id}`);
  expect(page).toMatch(/<dt>Template<\/dt>\s*<dd>season_card 1\.0\.0 <code[^>]*>/);
  expect(page).toContain(`>${digest.slice(0, 12)}<`);
  expect(page).toContain(`SHA-256 of the template&#39;s files: ${digest}`.replace("&#39;", "'"));
});

test("the operator sees every template, whether it is listed, where it is from, and what is wrong with it", async () => {
  const operator = await client(
    server.service,
    server.baseUrl,
    await testOperator(server.service, "op@service.example"),
  );
  const page = await text("/console/operator/templates", operator);
  const cards = page.split('<section class="card').filter((card) => /Listed|Not listed/.test(card));
  const facts = cards.map((card) => [
    /<h2[^>]*>([^<]*)</.exec(card)?.[1],
    /Not listed|Listed/.exec(card)?.[0],
    card.includes("Built in") || /<dt>From<\/dt>\s*<dd><code>([^<]*)/.exec(card)?.[1],
    card.includes("It cannot be used."),
  ]);
  expect(facts).toEqual([
    ["action_card", "Not listed", true, false],
    ["club_card", "Listed", true, false],
    ["draft", "Not listed", undefined, true],
    ["full_bleed", "Not listed", true, false],
    ["holiday_card", "Not listed", true, false],
    ["match_day", "Not listed", true, false],
    ["retro_sticker", "Not listed", true, false],
    ["season_card", "Listed", join(templatesDir, "season_card"), false],
    ["team_sheet", "Not listed", true, false],
  ]);
  expect(page).toContain("draft/template.json:1:2: is not JSON from here on");
  // The page waits for no picture: it asks for each until it is there, and is answered at once.
  expect(page).not.toContain('<img src="/console/operator/templates/');
  const address = "/console/operator/templates/season_card/square";
  expect(page).toContain(`hx-get="${address}/state"`);
  // The only renderer is taken, so that no sample can be drawn before it is asked for.
  const renderer = await server.service.pool.acquire();
  let state = await text(`${address}/state`, operator);
  renderer.release();
  expect(state).toContain("Being drawn");
  while (!state.includes(`<img src="${address}"`)) state = await text(`${address}/state`, operator);
  const sample = await operator.get(address);
  expect([sample.status, sample.headers.get("content-type")]).toEqual([200, "image/webp"]);
  expect((await operator.get("/console/operator/templates/draft/square")).status).toBe(404);
});
