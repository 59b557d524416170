import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { memoryMbOf } from "../../../scripts/bench/processes.ts";
import {
  launchBrowser,
  openSealedPage,
  PAGE_ORIGIN,
  type PageFile,
} from "../../../src/render/browser/browser.ts";
import { packagedChromium } from "../../../src/render/browser/chromium.ts";
import { TEST_CACHE_DIR, type TestFolder, testFolder } from "../../harness.ts";

let folder: TestFolder;
let browser: Browser;
beforeAll(async () => {
  folder = testFolder();
  const chromium = await packagedChromium(TEST_CACHE_DIR);
  browser = await launchBrowser({ chromium, profilesDir: folder.dir, noSandbox: process.getuid?.() === 0 });
});
afterAll(async () => {
  await browser.close();
  folder.remove();
});

const START: PageFile = { body: "<!doctype html>", contentType: "text/html" };

/** How a page's own fetch of each address ends: the text, or the error's name. */
const fetched = (addresses: string[]) =>
  Promise.all(
    addresses.map((address) =>
      fetch(address).then(
        (response) => response.text(),
        ({ name }) => name,
      ),
    ),
  );

test("a sealed page is offline, gets its own files and nothing else, and what it was refused is reported", async () => {
  const refused: string[] = [];
  const files = (path: string) =>
    path === "/" ? START : path === "/a.txt" ? { ...START, body: "a" } : undefined;
  const page = await openSealedPage(browser, files, "/", (url) => refused.push(url));
  const server = Bun.serve({
    port: 0,
    fetch: () => new Response("outside", { headers: { "Access-Control-Allow-Origin": "*" } }),
  });
  try {
    const outside = `http://127.0.0.1:${server.port}/x`;
    expect(await page.evaluate(fetched, ["/a.txt", "/b.txt", outside])).toEqual([
      "a",
      "TypeError",
      "TypeError",
    ]);
    expect(await page.evaluate(() => navigator.onLine)).toBe(false);
    expect(refused).toContain(`${PAGE_ORIGIN}/b.txt`);
    expect(refused).toContain(outside);
  } finally {
    await server.stop(true);
    await page.close();
  }
});

test("a file that changed is read again, by the same page and by the next at the same address", async () => {
  let body = "old";
  const files = (path: string) => (path === "/" ? START : { ...START, body });
  const first = await openSealedPage(browser, files, "/");
  expect(await first.evaluate(fetched, ["/a.txt"])).toEqual(["old"]);
  body = "new";
  expect(await first.evaluate(fetched, ["/a.txt"])).toEqual(["new"]);
  const second = await openSealedPage(browser, files, "/");
  expect(await second.evaluate(fetched, ["/a.txt"])).toEqual(["new"]);
  await Promise.all([first.close(), second.close()]);
});

test("a page keeps nothing of the pictures that it has shown", async () => {
  const page = await openSealedPage(browser, (path) => (path === "/" ? START : undefined), "/");
  const session = await page.createCDPSession();
  const show = (count: number) =>
    page.evaluate(async (times) => {
      for (let n = 0; n < times; n++) {
        const canvas = new OffscreenCanvas(1000, 1000);
        const context = canvas.getContext("2d");
        if (!context) throw new Error("no canvas");
        // Noise, which no format makes small.
        const noise = context.createImageData(1000, 1000);
        for (let i = 0; i < noise.data.length; i += 4)
          noise.data.set([Math.random() * 255, Math.random() * 255, Math.random() * 255, 255], i);
        context.putImageData(noise, 0, 0);
        const address = URL.createObjectURL(await canvas.convertToBlob());
        const picture = new Image();
        picture.src = address;
        await picture.decode();
        URL.revokeObjectURL(address);
      }
    }, count);
  const held = async () => {
    await session.send("HeapProfiler.collectGarbage");
    await session.send("Memory.simulatePressureNotification", { level: "critical" });
    await session.send("HeapProfiler.collectGarbage");
    return memoryMbOf(browser.process()?.pid ?? 0);
  };
  await show(5);
  const before = await held();
  // 90 MB of PNG, 120 MB as base64.
  await show(30);
  expect((await held()) - before).toBeLessThan(60);
  await page.close();
});
