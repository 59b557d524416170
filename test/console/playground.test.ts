import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ElementHandle, Page } from "puppeteer-core";
import { imageRequest, post, type TestServer, testAccount, testServer, untilEnded } from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { client, signIn, submit, testMember, textOf } from "./sessions.ts";

// The service at its default address, http://127.0.0.1, as people find it when they try it out.

let server: TestServer;
let browser: TestBrowser;
let testKey: string;
beforeAll(async () => {
  [server, browser] = await Promise.all([
    testServer({ env: { CARDPRESS_PRESETS: "club_card,action_card" }, knowsPhotos: true }),
    testBrowser(),
  ]);
  const { account, testKey: key } = await testAccount(server.service);
  testKey = key;
  await testMember(server.service, account.id, "dev@play.example", "developer");
});
afterAll(async () => {
  await Promise.all([server?.close(), browser?.close()]);
});

/** Whether what the reader waits for is in the window, and on top. */
const isInSight = (page: Page) =>
  page.$eval("#outcome", (outcome) => {
    const { left, top, bottom } = outcome.getBoundingClientRect();
    const isOnTop = outcome.contains(document.elementFromPoint(left + 40, (top + bottom) / 2));
    return isOnTop && top >= 56 && bottom <= innerHeight;
  });

for (const [width, height] of [
  [1440, 900],
  [820, 1180],
  [390, 844],
] as const)
  test(`what comes of a request is in the window of ${width}x${height}, with all options open`, async () => {
    const { page, complaints } = await browser.open();
    await signIn(page, server.baseUrl, "dev@play.example");
    await page.setViewport({ width, height });
    await page.goto(`${server.baseUrl}/console/playground`);
    await page.click(".more summary");
    for (const number of ["100", "9"]) {
      await page.$eval("#number", (input, value) => Object.assign(input, { value }) && undefined, number);
      await page.click(".send button[type=submit]");
      await page.waitForSelector(number === "100" ? "#outcome .notice" : "#outcome img");
      expect(await isInSight(page)).toBe(true);
    }
    expect(complaints).toEqual([]);
  });

test("without JavaScript a request leads to the whole page, with what comes of it and what was typed", async () => {
  const { page } = await browser.open();
  await page.setJavaScriptEnabled(false);
  await signIn(page, server.baseUrl, "dev@play.example");
  await page.goto(`${server.baseUrl}/console/playground`);
  await page.type("#name", "Dr ");
  await submit(page, ".send button[type=submit]");
  expect(page.url()).toContain("/console/playground?sent=img_");
  expect(await textOf(page, "h1")).toBe("Playground");
  const typed = (id: string) => page.$eval(id, (input) => (input as HTMLInputElement).value);
  expect(await typed("#name")).toBe("Dr Eileen Collins");
  while (await page.$("#outcome noscript a")) await submit(page, "#outcome noscript a");
  expect(await textOf(page, "#outcome")).toContain("Completed");

  await page.type("#number", "99");
  await submit(page, ".send button[type=submit]");
  expect(await textOf(page, "h1")).toBe("Playground");
  expect(await textOf(page, "#outcome")).toContain("The card is not made.\nShirt number must");
  expect(await typed("#number")).toBe("999");
});

test("a photo that is dropped is kept like one of POST /v1/photos, and a live card made of it", async () => {
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "dev@play.example");
  await page.goto(`${server.baseUrl}/console/playground`);
  const choose = async (file: string) =>
    ((await page.$("#file")) as ElementHandle<HTMLInputElement>).uploadFile(file);
  const address = () => page.$eval("#source_image_url", (input) => (input as HTMLInputElement).value);
  const sample = await address();
  await choose("README.md");
  await page.click(".send button[type=submit]");
  await page.waitForSelector("#outcome .notice");
  expect(await textOf(page, "#outcome")).toContain("Photo: It is not a JPEG, PNG or WebP");
  expect(await textOf(page, "#file-problem")).not.toBe("");
  expect(await address()).toBe(sample);

  await choose("test/photos/unsplash_man.jpg");
  await page.click('.send input[value="live"]');
  await page.click(".send button[type=submit]");
  await page.waitForSelector("#outcome img");
  expect(await textOf(page, "#file-problem")).toBe("");
  expect(await address()).toContain("/v1/photos/pho_");
  expect(await textOf(page, "#curl")).toContain(await address());
  // What is typed afterwards is shown in the samples without sending the photo.
  await page.type("#name", "Dr ");
  await page.waitForFunction(() => document.querySelector("#curl")?.textContent?.includes("Dr Eileen"));
  expect(await textOf(page, "#curl")).toContain(await address());
  expect(complaints).toEqual([]);
});

test("the form has the fields that the chosen template declares, and says beside each what is wrong with it", async () => {
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "dev@play.example");
  await page.goto(`${server.baseUrl}/console/playground`);
  expect(await page.$("#fields-club")).toBeNull();
  await page.click("#preset-action_card");
  await page.waitForSelector("#fields-club");
  const fill = (id: string, value: string) =>
    page.$eval(id, (input, text) => Object.assign(input, { value: text }) && undefined, value);
  // An empty row is not sent, so the second of the request is the third of the form.
  for (const id of ["label", "value"]) await fill(`#fields-stats-0-${id}`, "");
  await fill("#fields-stats-2-value", "400");
  await fill("#fields-season", "the longest season");
  await page.click(".send button[type=submit]");
  await page.waitForSelector("#fields-stats-2-value-problem:not(:empty)");
  expect(await textOf(page, "#fields-stats-2-value-problem")).toBe(
    "Must be a whole number from 0 to 99; got 400.",
  );
  expect(await textOf(page, "#fields-season-problem")).toContain("at most 9 characters");
  expect(await page.$$eval(".problem:not(:empty)", (all) => all.length)).toBe(2);
  expect(await page.$eval("#fields-season", (input) => input.getAttribute("aria-describedby"))).toBe(
    "fields-season-problem",
  );
  await fill("#fields-stats-2-value", "40");
  await fill("#fields-season", "2026/27");
  await page.click(".send button[type=submit]");
  await page.waitForSelector("#outcome img");
  expect(await page.$$eval(".problem:not(:empty)", (all) => all.length)).toBe(0);
  const { db, t } = server.service.store.read;
  const sent = (await db.select().from(t.images)).find(({ templateName }) => templateName === "action_card");
  const { fields } = (sent?.request ?? {}) as { fields?: Record<string, unknown> };
  const { club, season, stats } = fields ?? {};
  expect([club, season, (stats as unknown[]).length]).toEqual(["Harbour Rovers", "2026/27", 2]);
  expect(complaints).toEqual([]);

  await page.setJavaScriptEnabled(false);
  await page.goto(`${server.baseUrl}/console/playground?from=${sent?.id}`);
  await page.type("#fields-season", " and on");
  await submit(page, ".send button[type=submit]");
  expect(await textOf(page, "#fields-season-problem")).toContain("at most 9 characters");
});

test("with the back switched on the form has its fields, and both sides are shown", async () => {
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "dev@play.example");
  await page.goto(`${server.baseUrl}/console/playground`);
  expect(await page.$("#fields-biography")).toBeNull();
  expect(await textOf(page, "#curl")).not.toContain('"fields"');
  await page.click("#back");
  await page.waitForSelector("#fields-biography");
  await page.waitForFunction(() => document.querySelector("#samples")?.textContent?.includes('"back": true'));
  await page.click(".send button[type=submit]");
  await page.waitForSelector("#outcome img + img");
  const alts = await page.$$eval("#outcome img", (all) => all.map((one) => one.getAttribute("alt")));
  expect(alts).toEqual(["The card of Eileen Collins", "The back of the card of Eileen Collins"]);
  // A template without a back takes none.
  await page.click("#preset-action_card");
  await page.waitForSelector("#fields-club");
  expect(await page.$("#back")).toBeNull();
  expect(complaints).toEqual([]);
});

test("a failed image says once what to do", async () => {
  const request = imageRequest({ player: { external_id: "test_fail_provider" } });
  const { data } = (await (await post(server.baseUrl, testKey, request)).json()) as {
    data: { image_id: string };
  };
  await untilEnded(server.baseUrl, testKey, data.image_id);
  const { page } = await browser.open();
  await signIn(page, server.baseUrl, "dev@play.example");
  await page.goto(`${server.baseUrl}/console/images/${data.image_id}`);
  const said = await textOf(page, ".notice");
  expect(said.match(/again/g)).toHaveLength(1);
  expect(said.match(/Idempotency-Key/g)).toHaveLength(1);
});

test("at the default address the profile says why there are no passkeys, and where there are", async () => {
  const { page } = await browser.open();
  await signIn(page, server.baseUrl, "dev@play.example");
  await page.goto(`${server.baseUrl}/console/profile`);
  const byName = server.baseUrl.replace("127.0.0.1", "localhost");
  expect(await textOf(page)).toContain(`Browsers make no passkeys for a bare address`);
  expect(await page.$("form[data-passkey]")).toBeNull();
  expect(await page.$eval(`main a[href="${byName}/console/profile"]`, (a) => a.textContent)).toBe(byName);

  await signIn(page, byName, "dev@play.example");
  await page.goto(`${byName}/console/profile`);
  expect(await page.$eval("form[data-passkey]", (form) => (form as HTMLFormElement).hidden)).toBe(false);
  expect(await textOf(page)).not.toContain("bare address");
  const options = await fetch(`${byName}/console/sign-in/passkey/options`, {
    method: "POST",
    headers: { Origin: byName, "Content-Type": "application/x-www-form-urlencoded" },
  });
  expect(await options.json()).toMatchObject({ rpId: "localhost" });
});

test("at an address no browser makes passkeys for, the profile says what the operator can do", async () => {
  const plain = await testServer({
    env: { CARDPRESS_BASE_URL: "http://cards.example.org" },
    knowsPhotos: true,
  });
  try {
    const { account } = await testAccount(plain.service);
    const user = await testMember(plain.service, account.id, "ana@plain.example");
    const at = `http://127.0.0.1:${plain.config.port}`;
    const page = await (await (await client(plain.service, at, user)).get("/console/profile")).text();
    expect(page).toContain("CARDPRESS_BASE_URL");
    expect(page).not.toContain("data-passkey");
  } finally {
    await plain.close();
  }
});

test("a click on the photo says who is meant in it, and the card takes its place in a set", async () => {
  const made = await fetch(`${server.baseUrl}/v1/sets`, {
    method: "POST",
    headers: { "X-API-Key": testKey, "Content-Type": "application/json" },
    body: JSON.stringify({
      name: "Season",
      parallels: [{ name: "gold", size: 3 }],
      players: [{ external_id: "p1" }],
    }),
  });
  const { data: set } = (await made.json()) as { data: { set_id: string } };
  const { page, complaints } = await browser.open();
  await signIn(page, server.baseUrl, "dev@play.example");
  await page.goto(`${server.baseUrl}/console/playground`);
  await page.click("details:has(#focus) summary");
  await page.waitForSelector(".focus-photo canvas", { visible: true });
  const canvas = (await page.$(".focus-photo canvas")) as ElementHandle<HTMLCanvasElement>;
  const { width, height } = (await canvas.boundingBox()) ?? { width: 0, height: 0 };
  await canvas.click({ offset: { x: width / 4, y: height / 2 } });
  const focus = await page.$eval("#focus", (input) => (input as HTMLInputElement).value);
  const [x = 0, y = 0] = focus.split(" ").map(Number);
  expect([Math.round(x * 100), Math.round(y * 100)]).toEqual([25, 50]);
  expect(await page.$eval(".focus-mark", (mark) => (mark as HTMLElement).hidden)).toBe(false);
  await page.waitForFunction(() => document.querySelector("#curl")?.textContent?.includes('"focus"'));

  await page.select("#set", `${set.set_id} gold`);
  await page.waitForFunction(() => document.querySelector("#curl")?.textContent?.includes('"gold"'));
  await page.click(".send button[type=submit]");
  await page.waitForFunction(() => document.querySelector("#external_id-problem")?.textContent);
  expect(await textOf(page, "#external_id-problem")).toContain("not on the checklist");
  await page.$eval("#external_id", (input) => Object.assign(input, { value: "p1" }) && undefined);
  await page.click(".send button[type=submit]");
  const id =
    (await (await page.waitForSelector("#outcome code"))?.evaluate((code) => code.textContent)) ?? "";
  const ended = await untilEnded(server.baseUrl, testKey, id);
  expect(ended.set).toMatchObject({ parallel: "gold", serial: 1, size: 3 });
  const sent = async () => JSON.parse(await page.$eval("#request", (code) => code.textContent ?? ""));
  await page.goto(`${server.baseUrl}/console/images/${id}`);
  expect((await sent()).player.focus).toEqual({ x, y });

  // Made again without a point.
  await page.goto(`${server.baseUrl}/console/images/${id}/again`);
  const value = () => page.$eval("#focus", (input) => (input as HTMLInputElement).value);
  expect(await value()).toBe(`${x} ${y}`);
  await page.$eval("#focus", (input) => Object.assign(input, { value: "" }) && undefined);
  await submit(page, "#again .actions button[type=submit]");
  expect((await sent()).player).not.toHaveProperty("focus");
  expect(complaints).toEqual([]);
});
