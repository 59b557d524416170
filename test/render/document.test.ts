import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { printDocument } from "../../src/render/document.ts";
import { type TestFolder, testFolder } from "../harness.ts";
import { closePages, openBrowser } from "./card/cards.ts";

let folder: TestFolder;
let browser: Browser;

beforeAll(async () => {
  folder = testFolder();
  browser = await openBrowser();
});
afterAll(async () => {
  await closePages();
  await folder?.remove();
});

test("a long document has the pool's time, and not the browser driver's own", async () => {
  const impatient = {
    newPage: async () => {
      const page = await browser.newPage();
      page.setDefaultTimeout(1);
      return page;
    },
  };
  const outputPath = join(folder.dir, "long.pdf");
  const html = `<!doctype html><title>Long</title>${"<p>Maya Okafor</p>".repeat(2_000)}`;
  await printDocument(impatient as unknown as Browser, { jobId: "long", html, outputPath });
  expect((await Bun.file(outputPath).text()).slice(0, 5)).toBe("%PDF-");
});
