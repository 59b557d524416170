import { afterAll, beforeAll, expect, test } from "bun:test";
import axe from "axe-core";
import type { Page } from "puppeteer-core";
import { type TestBrowser, testBrowser } from "../console/browser.ts";
import { type TestApi, testApi } from "./api.ts";

// The documentation in a browser, for every kind of reader and device.

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
async function findings(options: object): Promise<string[]> {
  // The page's own policy forbids injected scripts; the debugger may still evaluate axe's source.
  await page.evaluate(axe.source);
  const { violations, passes } = (await page.evaluate(
    // biome-ignore lint/suspicious/noExplicitAny: axe is there by its own script.
    (chosen) => (globalThis as any).axe.run(document, { resultTypes: ["violations"], ...chosen }),
    options,
  )) as import("axe-core").AxeResults;
  expect(passes.length).toBeGreaterThan(0);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  return [
    ...violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 160)}`),
    ...(wide > 0 ? [`${wide} px too wide`] : []),
  ];
}

for (const theme of ["light", "dark"] as const)
  for (const width of [1440, 390])
    test(`axe finds nothing on any page, ${theme}, ${width} px wide`, async () => {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
      await page.setViewport({ width, height: 900 });
      const found: Record<string, string[]> = {};
      // Every rule on every page in two of the four ways; in the others what can differ there: colours, by kinds of page.
      const isWhole = (theme === "light") === width > 390;
      const options = isWhole ? {} : { runOnly: ["color-contrast"] };
      for (const path of paths.filter((each) => isWhole || !each.includes("/errors/"))) {
        await page.goto(api.baseUrl + path);
        const problems = await findings(options);
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
  expect(await findings({})).toEqual([]);
  await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
  expect(page.url()).toBe(`${api.baseUrl}/docs/webhooks#verify-the-signature`);
  expect(complaints).toEqual([]);
});
