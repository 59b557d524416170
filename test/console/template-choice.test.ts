import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { listKits } from "../../src/store/people/brand-kits.ts";
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
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, testMember } from "./sessions.ts";

let folder: TestFolder;
let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;
/** The pages on which a template is chosen. */
let places: Record<string, string>;

beforeAll(async () => {
  folder = testFolder();
  const templatesDir = join(folder.dir, "templates");
  await ownTemplate(templatesDir, "season_card");
  server = await testServer({
    knowsPhotos: true,
    env: {
      CARDPRESS_TEMPLATES_DIR: templatesDir,
      CARDPRESS_PRESETS: "club_card,action_card",
      CARDPRESS_RENDER_WORKERS: "1",
    },
  });
  browser = await testBrowser();
  own = await testAccount(server.service, { credits: 10 });
  const user = await testMember(server.service, own.account.id, "ana@looks.example");
  ana = await client(server.service, server.baseUrl, user);
  const body = imageRequest({ player: { source_image_url: server.photos.url("unsplash_man.jpg") } });
  const { data } = (await (await post(server.baseUrl, own.liveKey, body)).json()) as {
    data: { image_id: string };
  };
  expect(await untilEnded(server.baseUrl, own.liveKey, data.image_id)).toMatchObject({ status: "completed" });
  const list = await ana.upload("/console/lists", new File(["id,name\n1,Bo"], "a.csv"));
  places = {
    "Make a card": "/console/make",
    "a squad list": list.headers.get("location") ?? "",
    "brand kits": "/console/kits",
    "the player of the match": `/console/match?player=${data.image_id}`,
    "a card made again": `/console/images/${data.image_id}/again`,
    "the playground": "/console/playground",
  };
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
  await folder.remove();
});

const text = async (path: string) => (await ana.get(path)).text();

/** What is chosen from on a page: each template's name, title and picture. */
function choiceOf(page: string) {
  const [, fieldset = ""] =
    /<fieldset class="looks"[^>]*>(<legend>Template.*?)<\/fieldset>/s.exec(page) ?? [];
  return fieldset
    .split("<label>")
    .slice(1)
    .map((tile) => ({
      name: /<input type="radio"[^>]* name="preset" value="(\w+)"/.exec(tile)?.[1],
      isChosen: /<input[^>]* checked/.test(tile),
      picture: /<img src="([^"]+)"/.exec(tile)?.[1],
      title: /<span class="look-title"[^>]*>([^<]+)/.exec(tile)?.[1],
      about: /<span class="look-about"[^>]*>([^<]+)/.exec(tile)?.[1],
    }));
}

/** Does something while the service lists other templates. */
async function listing<T>(names: string[], act: () => Promise<T>): Promise<T> {
  const { templates } = server.service;
  const { listed } = templates;
  templates.listed = async () => names;
  try {
    return await act();
  } finally {
    templates.listed = listed;
  }
}

test("wherever a template is chosen, each shows its picture, its title and what it is for", async () => {
  const { templates } = server.service;
  const shown = async (name: string, isChosen: boolean) => {
    const { manifest, digest } = await templates.current(name);
    const picture = `/docs/presets/${name}-${digest.slice(0, 16)}-small.webp`;
    const about = manifest.description?.replaceAll("'", "&#39;");
    return { name, isChosen, picture, title: manifest.title, about };
  };
  const expected = [await shown("club_card", true), await shown("action_card", false)];
  for (const [place, path] of Object.entries(places)) {
    const choice = choiceOf(await text(path)).map((one) => ({
      ...one,
      about: one.about?.replaceAll("'", "&#39;"),
    }));
    expect([place, choice]).toEqual([place, expected]);
  }
});

test("where one template is listed, none is chosen, and a kit is of that one", async () => {
  await listing(["action_card"], async () => {
    for (const path of ["/console/make", "/console/kits", "/console/playground"])
      expect(choiceOf(await text(path))).toEqual([]);
    expect(await text("/console/kits")).toContain('<input type="hidden" name="preset" value="action_card"');
  });
});

test("more than eight templates fold, open where the chosen one is among the others", async () => {
  const built = ["club_card", "action_card", "full_bleed", "holiday_card"];
  const nine = [...built, "match_day", "retro_sticker", "team_sheet", "starter", "season_card"];
  const names = nine.filter((name) => name !== "starter");
  const folded = (page: string) =>
    /<details class="more"( open)?><summary>(\d+) more<\/summary><div class="looks-seen">(.*?)<\/details>/s.exec(
      page,
    );
  expect(folded(await listing(names, () => text("/console/playground")))).toBeNull();
  await ownTemplate(join(folder.dir, "templates"), "ninth_card");
  const all = [...names, "ninth_card"];
  const kits = await listing(all, () => text("/console/kits"));
  expect(folded(kits)?.slice(1, 3)).toEqual([undefined, "1"] as unknown as string[]);
  expect(folded(kits)?.[3]).toContain('value="ninth_card"');
  expect(choiceOf(kits).map(({ name }) => name)).toEqual(all);
  const list = await listing(all, () => text(`${places["a squad list"]}?preset=ninth_card`));
  expect(folded(list)?.[1]).toBe(" open");
  expect(choiceOf(list).filter(({ isChosen }) => isChosen)).toMatchObject([{ name: "ninth_card" }]);
});

test("the picture of a choice is a small one that browsers keep", async () => {
  const [tile] = choiceOf(await text("/console/kits"));
  const small = await fetch(server.baseUrl + tile?.picture);
  expect([small.status, small.headers.get("content-type")]).toEqual([200, "image/webp"]);
  expect(small.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(await new Bun.Image(await small.bytes()).metadata()).toMatchObject({ width: 192, height: 240 });
  const whole = await fetch(server.baseUrl + tile?.picture?.replace("-small", ""));
  expect(await new Bun.Image(await whole.bytes()).metadata()).toMatchObject({ width: 768, height: 960 });
});

test("a template chosen by keyboard sends the form, and has the focus on the page that follows", async () => {
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "ana@looks.example");
  for (const place of ["a squad list", "the player of the match"]) {
    await page.goto(server.baseUrl + places[place]);
    await page.$$eval("details:has(#preset)", (all) => {
      for (const one of all) one.setAttribute("open", "");
    });
    await page.focus("#preset-club_card");
    const next = page.waitForNavigation();
    await page.keyboard.press("ArrowDown");
    await next;
    expect(new URL(page.url()).searchParams.get("preset")).toBe("action_card");
    expect(await page.$eval("#preset input:checked", (input) => input.id)).toBe("preset-action_card");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("preset-action_card");
  }
  expect(complaints).toEqual([]);
});

test("a kit keeps its template where it is not offered any more, and offers the others", async () => {
  const style = { name: "Home", preset: "action_card", composition: "auto", background_theme: "" };
  const colours = { primary_color: "#112233", secondary_color: "#445566" };
  const saved = await ana.upload("/console/kits", new File([], ""), { ...style, ...colours });
  expect(saved.status).toBe(303);
  const [kit] = await listKits(server.service.store.read, own.account.id);
  expect(kit?.preset).toBe("action_card");
  const page = await listing(["club_card"], () => text(`/console/kits/${kit?.id}`));
  expect(choiceOf(page)).toMatchObject([
    { name: "action_card", isChosen: true, picture: undefined, about: "Not offered any more." },
    { name: "club_card", isChosen: false },
  ]);
  expect(page).not.toContain('type="hidden" name="preset"');
});
