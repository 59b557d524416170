/**
 * What a living card costs a page beside its picture: bytes, time to first paint, and the time of a frame
 * while it leans, on a processor four times slower than this one. How often a frame computes styles and
 * layout does not depend on how busy this machine is; the times do.
 *
 *     bun scripts/bench/living.ts [--cards 1,50] [--throttle 4]
 *
 * A phone's window, pictures 512 pixels wide, in the Chromium that sets the cards, without a graphics
 * processor: a phone has one, so that its frames are shorter than these. One card leans at a time, as under a
 * finger.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import puppeteer, { type Page } from "puppeteer-core";
import { findChromium } from "../../src/render/browser/chromium.ts";
import { answerCardElement, CARD_ELEMENT_VERSION } from "../../src/web/card-element.ts";
import { offerHelp } from "../help.ts";

offerHelp(import.meta);

const { values: options } = parseArgs({
  options: { cards: { type: "string", default: "1,50" }, throttle: { type: "string", default: "4" } },
});
/** Frames of one measurement: two seconds of a smooth card. */
const FRAMES = 120;
const picture = Bun.file(join(import.meta.dir, "../../templates/club_card/golden/gold@portrait.webp"));

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    const url = new URL(request.url);
    if (url.pathname.startsWith("/cdn/"))
      return new Response(picture, {
        headers: { "Access-Control-Allow-Origin": "*", "Cache-Control": "max-age=60" },
      });
    const element = answerCardElement(request, url, {});
    return element ?? new Response(pageOf(url), { headers: { "Content-Type": "text/html; charset=utf-8" } });
  },
});

/** A page of so many cards, each with an address of its own, alive or as plain pictures. */
function pageOf({ searchParams }: URL): string {
  const isAlive = searchParams.has("alive");
  const cards = Array.from({ length: Number(searchParams.get("cards")) }, (_, n) => {
    const still = `<img src="/cdn/${n}.webp" alt="A card" width="320" height="400" loading="lazy">`;
    return isAlive ? `<cardpress-card foil="rainbow">${still}</cardpress-card>` : still;
  });
  const script = isAlive ? `<script type="module" src="${CARD_ELEMENT_VERSION}"></script>` : "";
  return `<!doctype html><html lang="en"><title>Cards</title>${script}${cards.join("\n")}`;
}

/** Opens the page anew, and leans its first card where it is alive. */
async function measure(page: Page, cards: number, isAlive: boolean) {
  const devtools = await page.createCDPSession();
  await devtools.send("Network.enable");
  await devtools.send("Network.clearBrowserCache");
  await devtools.send("Emulation.setCPUThrottlingRate", { rate: Number(options.throttle) });
  let bytes = 0;
  devtools.on("Network.loadingFinished", ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  await page.goto(`${server.url}?cards=${cards}${isAlive ? "&alive" : ""}`, { waitUntil: "networkidle0" });
  const paint = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
  );
  const before = await page.metrics();
  const frames = await page.evaluate(async (count) => {
    const card = document.querySelector("cardpress-card") as
      | (HTMLElement & { lean(x: number, y: number): void })
      | null;
    const times: number[] = [];
    for (let n = 0, before = 0; n < count; n++) {
      card?.lean(Math.sin(n / 12), Math.cos(n / 9));
      const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      if (n > 0) times.push(now - before);
      before = now;
    }
    return times.sort((a, b) => a - b);
  }, FRAMES);
  const after = await page.metrics();
  const perFrame = (name: "RecalcStyleCount" | "LayoutCount" | "ScriptDuration" | "TaskDuration") =>
    ((after[name] ?? 0) - (before[name] ?? 0)) / FRAMES;
  await devtools.detach();
  return {
    styles: perFrame("RecalcStyleCount"),
    layouts: perFrame("LayoutCount"),
    script: perFrame("ScriptDuration") * 1_000,
    task: perFrame("TaskDuration") * 1_000,
    bytes,
    paint: paint ?? 0,
    median: frames[FRAMES >> 1] ?? 0,
    late: frames[Math.floor(FRAMES * 0.95)] ?? 0,
  };
}

const scratch = mkdtempSync(join(tmpdir(), "cardpress-living-"));
const chromium = await findChromium({ cacheDir: scratch });
const browser = await puppeteer.launch({
  executablePath: chromium.path,
  headless: "shell",
  pipe: true,
  userDataDir: join(scratch, "profile"),
  env: { ...process.env, ...chromium.env },
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
});
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 390, height: 844, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
  console.log(`Processor slowed ${options.throttle} times. Frames of an idle page are 16.7 ms apart.`);
  // The first page of a browser pays for its start.
  await measure(page, 1, true);
  for (const cards of options.cards.split(",").map(Number))
    for (const isAlive of [false, true]) {
      const { bytes, paint, median, late, styles, layouts, script, task } = await measure(
        page,
        cards,
        isAlive,
      );
      const name = `${cards} ${isAlive ? "living" : "still"}`.padEnd(10);
      console.log(
        `  ${name} ${(bytes / 1024).toFixed(0).padStart(5)} KB   first paint ${paint.toFixed(0).padStart(5)} ms   a frame ${median.toFixed(1)} ms, 95 % within ${late.toFixed(1)} ms`,
      );
      console.log(
        `  ${"".padEnd(10)} in a frame: styles ${styles.toFixed(1)} times, layout ${layouts.toFixed(1)} times, script ${script.toFixed(1)} ms of ${task.toFixed(1)} ms`,
      );
    }
} finally {
  await browser.close();
  await server.stop(true);
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(0);
