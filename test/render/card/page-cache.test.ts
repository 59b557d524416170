import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { MAX_WARM_PAGES } from "../../../src/core/limits.ts";
import { type PageCache, pageCache } from "../../../src/render/card/page-cache.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { packTemplate } from "../../../src/templates/pinned.ts";
import { templateRegistry } from "../../../src/templates/registry.ts";
import { ownTemplate, type TestFolder, testFolder } from "../../harness.ts";
import { closePages, openBrowser } from "./cards.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(closePages);

let folder: TestFolder;
let dir: string;
let cache: PageCache;
const problems: string[] = [];
/** What a template would have to hold for it is the browser's secret. */
let breaksPages = false;
beforeEach(async () => {
  folder = testFolder();
  dir = join(folder.dir, "templates");
  await mkdir(dir);
  problems.length = 0;
  const note = (problem: string) => void problems.push(problem);
  const templates = templateRegistry({ templatesDir: dir, presets: ["club_card"], onProblem: note });
  const pages = {
    newPage: () => (breaksPages ? Promise.reject(new Error("no such page")) : browser.newPage()),
  } as Browser;
  cache = pageCache(pages, templates, note);
});
afterEach(() => folder.remove());

/** The cache does not wait for pages to close; a page being closed is gone in a moment. */
async function openPages(wanted: number): Promise<number> {
  while ((await browser.pages()).length > wanted) await Bun.sleep(5);
  return (await browser.pages()).length;
}

test("templates share a browser, each with a page of its own, and the one least lately used gives way", async () => {
  const before = (await browser.pages()).length;
  const names = Array.from({ length: MAX_WARM_PAGES }, (_, n) => `card_${n}`);
  for (const name of names) await ownTemplate(dir, name, (css) => `${css}\n/* ${name} */`);
  const first = await cache.get("club_card");
  const pages = [];
  for (const name of names.slice(1)) pages.push(await cache.get(name));
  expect(new Set([first, ...pages].map(({ template }) => template.digest)).size).toBe(MAX_WARM_PAGES);
  expect((await cache.get("club_card")).page).toBe(first.page);
  const last = await cache.get("card_0");
  expect(await openPages(before + MAX_WARM_PAGES)).toBe(before + MAX_WARM_PAGES);
  expect((await cache.get("club_card")).page).toBe(first.page);
  expect((await cache.get("card_1")).page).not.toBe(pages[0]?.page);
  for (const { template } of [first, last, ...pages]) cache.drop(template.digest);
  expect(await openPages(before)).toBe(before);
});

test("a pinned template is drawn as it was, beside the edited one; damaged or gone it gives way to that of now", async () => {
  await ownTemplate(dir, "season_card");
  const before = await loadTemplate(join(dir, "season_card"));
  const path = join(folder.dir, "season_card.tar");
  await Bun.write(path, await packTemplate(before.files));
  const pinned = { digest: before.digest, path };
  await ownTemplate(dir, "season_card", (css) => `${css}\n/* edited */`);
  const edited = await cache.get("season_card");
  const old = await cache.get("season_card", pinned);
  expect(old.template.digest).toBe(before.digest);
  expect(edited.template.css).toEndWith("/* edited */");
  expect(old.template.css).not.toEndWith("/* edited */");
  expect((await cache.get("season_card", pinned)).page).toBe(old.page);
  expect((await cache.get("season_card")).page).toBe(edited.page);
  const other = { path, digest: "f".repeat(64) };
  expect((await cache.get("season_card", other)).page).toBe(edited.page);
  expect((await cache.get("season_card", { ...other, path: "/gone" })).page).toBe(edited.page);
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain("does not hold what its digest says");
  for (const { template } of [old, edited]) cache.drop(template.digest);
});

test("edited files that make no page keep the last good one, are reported once, and tried again when they change", async () => {
  await ownTemplate(dir, "season_card");
  const good = await cache.get("season_card");
  const css = Bun.file(join(dir, "season_card/card.css"));
  const text = await css.text();
  breaksPages = true;
  await Bun.write(css, `${text}\n/* first */`);
  for (let card = 0; card < 2; card++) {
    const { page, template } = await cache.get("season_card");
    expect(page).toBe(good.page);
    expect(template.digest).toBe(good.template.digest);
  }
  expect(problems).toEqual(["The template season_card as it was edited makes no card: no such page"]);
  breaksPages = false;
  await Bun.write(css, `${text}\n/* second */`);
  const edited = await cache.get("season_card");
  expect(edited.page).not.toBe(good.page);
  expect(edited.template.css).toEndWith("/* second */");
  for (const { template } of [good, edited]) cache.drop(template.digest);
});
