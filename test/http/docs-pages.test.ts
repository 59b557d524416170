import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { type TestBrowser, testBrowser } from "../console/browser.ts";
import { isTurn, sayThird } from "../endurance.ts";
import { type TestApi, testApi } from "./api.ts";

// The documentation in a browser, for every kind of reader and device.

// Bounds a browser that hangs: axe looks at every page, which takes a minute, and many on a busy machine.
setDefaultTimeout(15 * 60_000);

let api: TestApi;
let browser: TestBrowser;
let page: Page;
let complaints: string[];
let paths: string[];
beforeAll(async () => {
  api = await testApi();
  browser = await testBrowser();
  ({ page, complaints } = await browser.open());
  await page.goto(`${api.baseUrl}/docs/errors`);
  paths = await page.$$eval('.sidebar a, main a[href^="/docs/errors/"]', (links) => [
    ...new Set(links.map((link) => (link as HTMLAnchorElement).pathname)),
  ]);
  expect(paths.length).toBeGreaterThan(25);
});
afterAll(async () => {
  await Promise.all([api?.close(), browser?.close()]);
});

/** What axe finds on the page that is open, and by how much the page is wider than the window. */
async function findings(options: object = {}): Promise<string[]> {
  const { violations, passes } = (await page.evaluate(
    // biome-ignore lint/suspicious/noExplicitAny: axe is there by its own script.
    (chosen) => (globalThis as any).axe.run(document, { resultTypes: ["violations"], ...chosen }),
    options,
  )) as import("axe-core").AxeResults;
  expect(passes.length).toBeGreaterThan(0);
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`),
    ...(await excess()),
  ];
}

async function excess(): Promise<string[]> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return wide > 0 ? [`${wide} px too wide`] : [];
}

/** The page's own policy forbids injected scripts; the debugger may still evaluate axe's source. */
const giveAxe = () => page.evaluate(axe.source);

const showAs = async (theme: "light" | "dark", width: number) => {
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: theme },
    // Colours would be on their way from one theme to the other.
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
  await page.setViewport({ width, height: 900 });
};

test("axe finds nothing on any page, light or dark, wide or narrow", async () => {
  const found: Record<string, string[]> = {};
  // The pages of single errors are one template with other words: of the others, whether the words fit a
  // phone.
  const one = paths.find((path) => path.includes("/errors/")) ?? "";
  const inDark = (path: string) => path === one || !path.includes("/errors/");
  // What only a wide window or only a phone shows is the same on every page, so here are its colours in the
  // other theme.
  const inEveryWay = new Set(["/docs", "/docs/webhooks", "/docs/errors", one]);
  for (const path of inEveryWay) expect(paths).toContain(path);
  sayThird("pages of the documentation that axe looks at");
  for (const [n, path] of paths.entries()) {
    await showAs("light", 1440);
    await page.goto(api.baseUrl + path);
    // Whether words fit is seen on every page; colours and names are made alike on all of them.
    const isLookedAt = inEveryWay.has(path) || isTurn(n);
    if (isLookedAt) await giveAxe();
    const problems = await (isLookedAt ? findings() : excess());
    await showAs("light", 390);
    problems.push(...(await (inEveryWay.has(path) ? findings() : excess())));
    if (isLookedAt && inDark(path)) {
      await showAs("dark", 390);
      problems.push(...(await findings()));
    }
    if (inEveryWay.has(path)) {
      await showAs("dark", 1440);
      problems.push(...(await findings()));
    }
    if (problems.length > 0) found[path] = problems;
  }
  expect(found).toEqual({});
  expect(complaints).toEqual([]);
});

test("the theme chosen in the console holds in the documentation, before anything is shown", async () => {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await page.goto(`${api.baseUrl}/docs`);
  const light = await ground();
  await page.evaluate(() => localStorage.setItem("cardpress-theme", "dark"));
  await page.reload();
  expect(await ground()).not.toBe(light);
  // Scripts that wait for the page would let it flash in the other theme.
  expect(
    await page.$eval('head script[src*="theme.js"]', (script) => (script as HTMLScriptElement).defer),
  ).toBe(false);
  await page.evaluate(() => localStorage.removeItem("cardpress-theme"));
});

test("a phone has the way to the console, and to every page", async () => {
  await page.setViewport({ width: 390, height: 800, hasTouch: true, isMobile: true });
  await page.goto(`${api.baseUrl}/docs/credits`);
  const isShown = (selector: string) => page.$eval(selector, (link) => link.checkVisibility());
  expect(await isShown(".console-link")).toBe(true);
  expect(await isShown('.menu a[href="/docs/errors"]')).toBe(false);
  await page.tap(".menu summary");
  await Promise.all([page.waitForNavigation(), page.tap('.menu a[href="/docs/errors"]')]);
  expect(page.url()).toBe(`${api.baseUrl}/docs/errors`);
});

test("the search finds the section that words are about, and opens it by the keyboard alone", async () => {
  await page.setViewport({ width: 1280, height: 900 });
  await page.goto(`${api.baseUrl}/docs`);
  await page.keyboard.press("/");
  await page.keyboard.type("verify signature");
  await page.waitForSelector(".search-results a");
  await giveAxe();
  expect(await findings()).toEqual([]);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  expect(page.url()).toBe(`${api.baseUrl}/docs/webhooks#verify-the-signature`);
  expect(complaints).toEqual([]);
});
