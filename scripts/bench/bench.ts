/**
 * How fast cards are made, as ratios against a baseline measured in the same run.
 *
 *     bun run bench [--seconds 5]
 *
 * Baseline: what most code does, a new page for every card: open, set content, take a screenshot, close. Its
 * content is the finished card as one self-contained document, so it is spared the fitting and the template.
 * Compared with it: the warm page, which does all of that, by screenshot and by canvas; and takumi, which
 * needs no browser and supports a subset of CSS, with a simpler card. All draw the same player, one after the
 * other. Finally one render worker's whole path from photo to file, for new photos and for ones seen before,
 * by stage.
 */

import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "puppeteer-core";
import type { CutoutFile, ImageFormat } from "../../src/core/card.ts";
import { launchBrowser, PAGE_ORIGIN } from "../../src/render/browser/browser.ts";
import { findChromium } from "../../src/render/browser/chromium.ts";
import type { CardJob } from "../../src/render/card/card-fill.ts";
import { openCardPage } from "../../src/render/card/page.ts";
import { saveCutout } from "../../src/render/card-renderer.ts";
import { fontLibraryFile } from "../../src/render/fonts/fonts.ts";
import { openPhotoCutter } from "../../src/render/photo/photo.ts";
import { type LoadedTemplate, loadTemplate } from "../../src/templates/load.ts";
import { offerHelp } from "../help.ts";
import { card, largePhoto, openWorker, PHOTOS, SAMPLES } from "./one-worker.ts";
import { memoryMbOf, processorMsOf } from "./processes.ts";
import { benchReads } from "./reads.ts";

offerHelp(import.meta);

const { values: options } = parseArgs({ options: { seconds: { type: "string", default: "5" } } });
const runMs = Number(options.seconds) * 1000;
const scratch = mkdtempSync(join(tmpdir(), "cardpress-bench-"));
const cacheDir = join(tmpdir(), "cardpress-test-cache");
mkdirSync(cacheDir, { recursive: true });
const noSandbox = process.getuid?.() === 0;
const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });

interface Cost {
  clockMs: number;
  /** CPU time of this process and its descendants. */
  processorMs: number;
  bytes: number;
}

/** The cost of a card, over as many cards as fit into the time after two warm-up cards. */
async function perCard(make: (n: number) => Promise<Uint8Array>): Promise<Cost> {
  for (let n = 0; n < 2; n++) await make(n);
  const start = performance.now();
  const before = processorMsOf(process.pid);
  let [made, bytes] = [0, 0];
  while (performance.now() - start < runMs || made < 3) bytes += (await make(made++)).length;
  return {
    clockMs: (performance.now() - start) / made,
    processorMs: (processorMsOf(process.pid) - before) / made,
    bytes: bytes / made,
  };
}

async function cutoutOf(browser: Browser, photo: string): Promise<CutoutFile> {
  const studio = await openPhotoCutter(browser);
  const result = await studio.cutOut(join(PHOTOS, photo));
  await studio.close();
  if (!result.ok) throw new Error(result.message);
  return saveCutout(join(scratch, photo), result.cutout);
}

/** A card as a single document, including its styles, pictures and the fonts it uses. */
async function selfContained(browser: Browser, template: LoadedTemplate, job: CardJob): Promise<string> {
  const filled = await openCardPage(browser, template, { captureMethod: "screenshot" });
  await filled.render(job);
  const page = (await browser.pages()).findLast((open) => open.url().startsWith(PAGE_ORIGIN));
  if (!page) throw new Error("the filled page is not open");
  const { html, css, fonts } = await page.evaluate(() => {
    const loaded = [...document.fonts].filter((face) => face.status === "loaded");
    const ranges = new Set(loaded.map((face) => face.unicodeRange));
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
    const isUsed = (rule: CSSFontFaceRule) =>
      ranges.has(rule.style.getPropertyValue("unicode-range") || "U+0-10FFFF");
    const kept = rules.filter((rule) => !(rule instanceof CSSFontFaceRule) || isUsed(rule));
    const text = kept.map((rule) => rule.cssText).join("\n");
    const copy = document.documentElement.cloneNode(true) as HTMLElement;
    for (const element of copy.querySelectorAll("link, script")) element.remove();
    const pictures = [...document.querySelectorAll("img")];
    for (const [place, picture] of [...copy.querySelectorAll("img")].entries()) {
      const shown = pictures[place];
      if (!shown?.src) continue;
      const canvas = document.createElement("canvas");
      canvas.width = shown.naturalWidth;
      canvas.height = shown.naturalHeight;
      canvas.getContext("2d")?.drawImage(shown, 0, 0);
      picture.src = canvas.toDataURL("image/webp", 0.9);
    }
    return {
      html: copy.outerHTML,
      css: text,
      fonts: [...text.matchAll(/url\("([^"]+\.woff2)"\)/g)].map((match) => match[1] ?? ""),
    };
  });
  let styles = css;
  for (const font of fonts) {
    const file = fontLibraryFile(new URL(font, PAGE_ORIGIN).pathname);
    if (!file) continue;
    const body = Buffer.from(file.body as Uint8Array).toString("base64");
    styles = styles.replace(font, `data:${file.contentType};base64,${body}`);
  }
  await filled.close();
  return `<!doctype html>${html.replace("</head>", () => `<style>${styles}</style></head>`)}`;
}

async function benchWarmPage(): Promise<void> {
  const browser = await launchBrowser({ chromium, profilesDir: scratch, noSandbox });
  const cutout = await cutoutOf(browser, "unsplash_man.jpg");
  const template = await loadTemplate("club_card");
  const job = (n: number, format: ImageFormat): CardJob => ({ card: card(n, format), cutout, badge: null });
  const takumiCard = await openTakumi();
  console.log(`1024x1280 card, ${await browser.version()}, milliseconds a card (cards a second):`);
  for (const format of ["png", "jpeg", "webp"] as const) {
    const html = await selfContained(browser, template, job(0, format));
    const baseline = await perCard(async () => {
      const page = await browser.newPage();
      await page.setViewport({ width: 1024, height: 1280 });
      await page.setContent(html, { waitUntil: "load" });
      const quality = format === "png" ? {} : { quality: 90 };
      const bytes = await page.screenshot({ type: format, omitBackground: true, ...quality });
      await page.close();
      return bytes;
    });
    printLine(format, "page per card", baseline, baseline);
    for (const captureMethod of ["screenshot", "canvas"] as const) {
      const warm = await openCardPage(browser, template, { captureMethod });
      const cost = await perCard(async (n) => (await warm.render(job(n, format))).bytes);
      await warm.close();
      printLine(format, `warm page, ${captureMethod}`, cost, baseline);
    }
    printLine(format, "takumi, a simpler card", await perCard((n) => takumiCard(job(n, format))), baseline);
  }
  await browser.close();
}

/** takumi is a package of scripts/tools alone, installed when this bench is the first to ask for it. */
async function openTakumi(): Promise<(job: CardJob) => Promise<Uint8Array>> {
  const tools = join(import.meta.dir, "../tools");
  const install = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile", "--silent"], {
    cwd: tools,
  });
  if (!install.success) throw new Error(`takumi could not be installed: ${install.stderr}`);
  const { takumiCard } = await import(join(tools, "takumi.ts"));
  return takumiCard;
}

/** Prints one line: the cost of a card made one way, and how many times more the baseline costs. */
function printLine(format: ImageFormat, what: string, cost: Cost, baseline: Cost): void {
  const [byClock, byWork] = [baseline.clockMs / cost.clockMs, baseline.processorMs / cost.processorMs];
  console.log(
    `  ${format.padEnd(4)}  ${what.padEnd(22)} ${shown(cost.clockMs)} ratio ${byClock.toFixed(1)}   processor ${cost.processorMs.toFixed(0).padStart(4)} ms, ratio ${byWork.toFixed(1)}   ${Math.round(cost.bytes / 1000)} KB`,
  );
}

/** A worker process as in the service: the cost of a card in elapsed and CPU time. */
async function benchWorker(): Promise<void> {
  const worker = await openWorker(chromium, scratch);
  const large = await largePhoto(scratch);
  // As in the service each photo has a file of its own: a page tells pictures drawn from photos apart by it.
  const make = (n: number, photoSha256: string, photos = SAMPLES) => {
    const path = join(scratch, photoSha256);
    if (!existsSync(path)) copyFileSync(photos[n % photos.length] as string, path);
    return worker.render(card(n, "png"), { path, sha256: photoSha256 });
  };
  console.log(`One render worker, photo to finished 1024x1280 PNG file, ${SAMPLES.length} photos in turn:`);
  // A random hash stands for a new photo, a fixed one for a photo seen before: among the last few, or one of
  // many.
  const many = 4 * SAMPLES.length;
  const kinds = {
    "new photo": (n: number) => make(n, String(n).padStart(64, "0")),
    "repeated photo": (n: number) => make(n, String(n % SAMPLES.length).padStart(64, "f")),
    "seen long ago": (n: number) => make(n, String(n % many).padStart(64, "e")),
    "new, 13 MP": (n: number) => make(n, String(n).padStart(64, "d"), [large]),
    "repeated, 13 MP": (n: number) => make(n, String(n % SAMPLES.length).padStart(64, "b"), [large]),
    "long ago, 13 MP": (n: number) => make(n, String(n % many).padStart(64, "c"), [large]),
  };
  for (const [kind, one] of Object.entries(kinds)) {
    for (let n = 0; n < many; n++) await one(n);
    const stages: Record<string, number[]> = {};
    const before = processorMsOf(worker.pid);
    const start = performance.now();
    let made = many;
    while (performance.now() - start < runMs || made % SAMPLES.length > 0) {
      for (const [stage, ms] of Object.entries(await one(made++)))
        stages[stage] = [...(stages[stage] ?? []), ms];
    }
    const cards = made - many;
    const wallMs = (performance.now() - start) / cards;
    const workMs = (processorMsOf(worker.pid) - before) / cards;
    const kept = Math.round((100 * (stages.plates_kept?.length ?? 0)) / cards);
    const parts = Object.entries(stages).map(([stage, list]) => `${stage} ${Math.round(median(list))}`);
    console.log(
      `  ${kind.padEnd(15)} ${shown(wallMs)}   processor ${workMs.toFixed(0)} ms   median ${parts.join(", ")}; plates kept ${kept} %`,
    );
  }
  console.log(`  memory of the worker with its browser: ${memoryMbOf(worker.pid).toFixed(0)} MB`);
  await worker.close();
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

function shown(ms: number): string {
  return `${ms.toFixed(0).padStart(4)} ms (${(1000 / ms).toFixed(1)}/s)`;
}

try {
  await benchWarmPage();
  await benchWorker();
  await benchReads(5_000);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(0);
