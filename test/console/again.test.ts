import { afterAll, beforeAll, expect, test } from "bun:test";
import { PNG } from "pngjs";
import type { Page } from "puppeteer-core";
import { storedRequest } from "../../src/core/image-request.ts";
import { imagesOfBatch } from "../../src/store/images/batches.ts";
import { imageRequest, type TestAccount, type TestServer, testAccount, testServer } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { type Client, client, signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let ana: Client;

beforeAll(async () => {
  [server, browser] = await Promise.all([testServer({ knowsPhotos: true }), testBrowser()]);
  own = await testAccount(server.service, { credits: 10 });
  ana = await client(
    server.service,
    server.baseUrl,
    await testMember(server.service, own.account.id, "ana@rovers.example"),
  );
  while (server.service.pool.health().ready === 0) await Bun.sleep(25);
});
afterAll(() => Promise.all([server?.close(), browser?.close()]));

/** A batch of one good card and one without a player, once both have ended. */
async function batchOfTwo(good = "p1", bad = "p2"): Promise<string> {
  const card = (external_id: string, photo: string) =>
    imageRequest({
      player: { external_id, name: `Player ${external_id}`, source_image_url: server.photos.url(photo) },
      style: { format: "webp" },
    });
  const { batch } = await server.service.acceptBatch({
    account: own.account,
    environment: "live",
    idempotencyKey: null,
    name: "First team",
    requests: [card(good, "yoga.jpg"), card(bad, "brick.png")],
  });
  await ended(batch.id);
  return batch.id;
}

const imagesOf = (id: string) => imagesOfBatch(server.service.store.read, id);

/** The batch's page once nothing of it is in the making. */
async function ended(id: string): Promise<string> {
  for (;;) {
    const page = await (await ana.get(`/console/batches/${id}`)).text();
    if (!page.includes("hx-trigger")) return page;
    await Bun.sleep(25);
  }
}

/** The same person twice, side by side: nobody stands out. */
async function twins(): Promise<File> {
  const one = PNG.sync.read(Buffer.from(await Bun.file("test/photos/astronaut.png").bytes()));
  const two = new PNG({ width: 2 * one.width, height: one.height });
  for (const left of [0, one.width]) PNG.bitblt(one, two, 0, 0, one.width, one.height, left, 0);
  return new File([new Uint8Array(PNG.sync.write(two))], "two.png");
}

/** Whether all of it is in the window. */
const isInSight = (page: Page, selector: string) =>
  page.$eval(selector, (element) => {
    const { top, bottom, height } = element.getBoundingClientRect();
    return height > 0 && top >= 0 && bottom <= innerHeight;
  });

test("a card made again has its words first and the rest folded; card and button stay in sight, on a desk and on a phone", async () => {
  const [good] = await imagesOf(await batchOfTwo());
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  for (const [width, height] of [
    [1280, 900],
    [390, 844],
  ] as const) {
    await page.setViewport({ width, height });
    await page.goto(`${server.baseUrl}/console/images/${good?.id}/again`);
    expect(await page.$eval("#preview img", (img) => img.getAttribute("alt"))).toBe("The card as it is");
    expect(await isInSight(page, "#name")).toBe(true);
    const named = await page.$$eval(".again :is(input, select)", (all) =>
      all.filter((one) => one.checkVisibility()).map((one) => one.getAttribute("name")),
    );
    expect(named).toEqual(["name", "number", "skill_level", "position", "file", "place", "place"]);
    for (const place of [0, 100_000]) {
      await page.evaluate((top) => scrollTo(0, top), place);
      expect(await isInSight(page, ".again #preview")).toBe(true);
      expect(await isInSight(page, ".again .button-primary")).toBe(true);
    }
    await page.click(".again .more:has(#background_theme) summary");
    await page.evaluate(() => scrollTo(0, 100_000));
    expect(await isInSight(page, ".again .button-primary")).toBe(true);
  }
  await page.$eval("#name", (name) => ((name as HTMLInputElement).value = ""));
  await page.type("#name", "Nils Corrected");
  await page.waitForSelector('#preview img[alt*="Nils Corrected"]');
  expect(await isInSight(page, ".again #preview")).toBe(true);
  expect(complaints).toEqual([]);
});

test("a batch's ZIP says how many cards it has not, each with the way to it, and a photo of two people asks on the spot who it is", async () => {
  const id = await batchOfTwo();
  const [, bad] = await imagesOf(id);
  const before = await (await ana.get(`/console/batches/${id}`)).text();
  expect(before).toMatch(/pictures\.zip"[^>]*>ZIP of 1 of 2 cards</);
  expect(before).toMatch(
    new RegExp(`Not in the ZIP: <a href="/console/images/${bad?.id}\\?batch=${id}">Player p2</a>`),
  );
  await ana.upload(`/console/images/${bad?.id}/again`, await twins(), { place: id });
  await ended(id);
  const [, crowd] = await imagesOf(id);
  expect(crowd?.failureReason).toBe("several_people");
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "ana@rovers.example");
  await page.goto(`${server.baseUrl}/console/images/${crowd?.id}`);
  expect(await textOf(page, ".notice-bad")).not.toContain("player.focus");
  const canvas = await page.waitForSelector(".focus-photo:not([hidden]) canvas");
  const { width = 0, height = 0 } = (await canvas?.boundingBox()) ?? {};
  await canvas?.click({ offset: { x: 0.22 * width, y: 0.23 * height } });
  await submit(page, ".face-choice .button-primary");
  expect(new URL(page.url()).pathname).toBe(`/console/batches/${id}`);
  const whole = await ended(id);
  const [, made] = await imagesOf(id);
  expect(made?.state).toBe("completed");
  expect(storedRequest(made?.request).player.focus?.x).toBeCloseTo(0.22, 1);
  expect(whole).toMatch(/pictures\.zip"[^>]*>Download ZIP</);
  expect(whole).not.toContain("Not in the ZIP");
  expect(complaints).toEqual([]);
});

test("the player of the match is made from the overview and from the card's page, and who has no card comes last", async () => {
  const [good, bad] = await imagesOf(await batchOfTwo("m2", "m1"));
  expect(await (await ana.get("/console")).text()).toMatch(/class="button" href="\/console\/match"/);
  const page = await (await ana.get(`/console/images/${good?.id}`)).text();
  expect(page).toContain(`href="/console/match?player=${good?.id}"`);
  const choice = await (await ana.get("/console/match")).text();
  expect(choice.indexOf(`player=${good?.id}`)).toBeLessThan(choice.indexOf(`player=${bad?.id}`));
  const form = await (await ana.get(`/console/match?player=${bad?.id}`)).text();
  expect(form).toMatch(/The last photo cannot be used: choose another below\..*No player was found/s);
});
