import { afterAll, beforeAll, expect, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import {
  imageRequest,
  post,
  type TestAccount,
  type TestServer,
  testAccount,
  testServer,
  untilEnded,
} from "../harness.ts";
import { type TestBrowser, testBrowser } from "./browser.ts";
import { signIn, submit, testMember, textOf } from "./sessions.ts";

let server: TestServer;
let browser: TestBrowser;
let own: TestAccount;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  [server, browser] = await Promise.all([testServer({ knowsPhotos: true }), testBrowser()]);
  own = await testAccount(server.service);
  await testMember(server.service, own.account.id, "ana@rovers.example");
  ({ page, complaints } = await browser.open());
  await signIn(page, server.baseUrl, "ana@rovers.example");
});
afterAll(() => Promise.all([server?.close(), browser?.close()]));

const open = () => page.$eval("#palette", (dialog) => (dialog as HTMLDialogElement).open);
const path = () => new URL(page.url()).pathname + new URL(page.url()).search;
async function withControl(key: "k"): Promise<void> {
  await page.keyboard.down("Control");
  await page.keyboard.press(key);
  await page.keyboard.up("Control");
}
/** Presses keys that lead to another page. */
const follow = (...keys: Parameters<Page["keyboard"]["press"]>[0][]) =>
  Promise.all([
    page.waitForNavigation(),
    (async () => {
      for (const key of keys) await page.keyboard.press(key);
    })(),
  ]);
const faults = async () => {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
};

test("Ctrl-K goes to a page by its name, to an action, and to images by whatever is written; Escape leaves it", async () => {
  await page.goto(`${server.baseUrl}/console`);
  await withControl("k");
  expect(await open()).toBe(true);
  expect(await faults()).toEqual([]);
  await page.keyboard.press("Escape");
  expect(await open()).toBe(false);
  await page.click("[data-palette]");
  await page.keyboard.type("brand");
  expect(
    await page.$$eval("#palette [role=option]:not([hidden])", (all) => all.map((one) => one.textContent)),
  ).toEqual(["Brand kits", "Images of “brand”"]);
  await follow("Enter");
  expect(path()).toBe("/console/kits");
  await withControl("k");
  await page.keyboard.type("squad up");
  await follow("Enter");
  expect(path()).toBe("/console/lists/new");
  await withControl("k");
  await page.keyboard.type("Okafor & co");
  await follow("ArrowUp", "Enter");
  expect(path()).toBe("/console/images?search=Okafor%20%26%20co");
});

test("single keys go to pages and through images, are shown by ?, do nothing where somebody writes, and can be switched off", async () => {
  const ids: string[] = [];
  for (const external_id of ["p1", "p2"]) {
    const accepted = await post(server.baseUrl, own.testKey, imageRequest({ player: { external_id } }));
    const { data } = (await accepted.json()) as { data: { image_id: string } };
    await untilEnded(server.baseUrl, own.testKey, data.image_id);
    ids.push(data.image_id);
  }
  await page.goto(`${server.baseUrl}/console`);
  await follow("g", "b");
  expect(path()).toBe("/console/batches");
  await page.goto(`${server.baseUrl}/console/images/${ids[1]}`);
  await follow("ArrowRight");
  expect(path()).toBe(`/console/images/${ids[0]}`);
  await follow("g", "i");
  await page.keyboard.press("/");
  await page.keyboard.type("g b?");
  expect(await page.$eval("#search", (field) => (field as HTMLInputElement).value)).toBe("g b?");
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  await page.keyboard.type("?");
  expect(await textOf(page, "#shortcuts")).toContain("Previous image");
  expect(await faults()).toEqual([]);
  await page.click("[data-single-keys]");
  await page.keyboard.press("Escape");
  await page.reload();
  await page.keyboard.press("/");
  expect(await page.evaluate(() => document.activeElement?.id)).not.toBe("search");
  await page.keyboard.type("?");
  await page.click("[data-single-keys]");
  await page.keyboard.press("Escape");
  expect(complaints).toEqual([]);
});

test("the log of requests is narrowed by days and environment, and filters fold on a phone into what is chosen", async () => {
  for (const key of [own.testKey, own.liveKey])
    await fetch(`${server.baseUrl}/v1/images/img_none`, { headers: { "X-API-Key": key } });
  await server.service.requests.flush();
  const rows = async (query: string) => {
    await page.goto(`${server.baseUrl}/console/requests?${query}`);
    return page.$$eval(".table tbody tr", (all) => all.length);
  };
  expect(await rows("show=refused")).toBe(2);
  expect(await rows("environment=live")).toBe(1);
  expect(await rows("environment=test&show=refused")).toBe(1);
  expect(await rows("from=2099-01-01")).toBe(0);
  expect(await textOf(page)).toContain("No request of the last 30 days fits.");
  const today = new Date().toISOString().slice(0, 10);
  expect(await rows(`environment=live&from=${today}&to=${today}`)).toBe(1);
  const isSeen = (selector: string) => page.$eval(selector, (element) => element.checkVisibility());
  expect([await isSeen(".filters summary"), await isSeen(".filters .toolbar")]).toEqual([false, true]);
  await page.setViewport({ width: 390, height: 800 });
  await page.reload();
  expect([await isSeen(".filters summary"), await isSeen(".filters .days")]).toEqual([true, false]);
  expect(await textOf(page, ".filters summary")).toContain(`All, Live, from ${today}, to ${today}`);
  await page.click(".filters summary");
  expect(await isSeen(".filters .days")).toBe(true);
  await submit(page, ".filters .days button");
  await page.setViewport({ width: 1280, height: 800 });
  await page.waitForFunction(() => document.querySelector(".filters")?.hasAttribute("open"));
});

test("Ctrl-K finds players, batches, sets and kits by their names, and pages by what people call them", async () => {
  const [one, other] = ["Zlatko Đorđević", "Maya Okafor"].map((name, at) =>
    imageRequest({ player: { external_id: `fd${at}`, name } }),
  );
  const batch = { name: "Đorđe's farewell", cards: [one, other] };
  const send = async (path: string, body: object) => {
    const headers = { "Content-Type": "application/json", "X-API-Key": own.liveKey };
    return (await fetch(server.baseUrl + path, { method: "POST", headers, body: JSON.stringify(body) }))
      .status;
  };
  expect(await send("/v1/batches", batch)).toBe(202);
  const set = {
    name: "Derby days",
    season: "2026/27",
    parallels: [{ name: "gold", size: 3 }],
    players: [{ external_id: "fd0" }],
  };
  expect(await send("/v1/sets", set)).toBe(201);
  const offered = async (text: string, last: string) => {
    await page.goto(`${server.baseUrl}/console`);
    await withControl("k");
    await page.keyboard.type(text);
    await page.waitForFunction(
      (wanted) =>
        [...document.querySelectorAll("#palette [role=option]:not([hidden])")].at(-2)?.textContent === wanted,
      {},
      last,
    );
    return page.$$eval("#palette [role=option]:not([hidden])", (all) => all.map((each) => each.textContent));
  };
  expect(await offered("dord", "Đorđe's farewell Squad")).toEqual([
    "Zlatko Đorđević, fd0 Player",
    "Đorđe's farewell Squad",
    "Images of “dord”",
  ]);
  expect(await faults()).toEqual([]);
  await follow("ArrowDown", "Enter");
  expect(path()).toStartWith("/console/batches/bat_");
  expect(await offered("derby 27", "Derby days, 2026/27 Set")).toContain("Derby days, 2026/27 Set");
  expect(await offered("fd1", "Maya Okafor, fd1 Player")).toEqual([
    "Maya Okafor, fd1 Player",
    "Images of “fd1”",
  ]);
  await follow("Enter");
  expect(path()).toBe("/console/players?id=fd1&environment=live");
  expect(await offered("logo", "Brand kits")).toEqual(["Brand kits", "Images of “logo”"]);
  expect(complaints).toEqual([]);
});
