import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import type { CutoutFile } from "../../../src/core/card.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { testFolder } from "../../harness.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { type CardSpec, cardInput, closePages, openBrowser } from "./cards.ts";

let browser: Browser;
let card: CardPage;
let lab: PixelLab;
const folder = testFolder();

beforeAll(async () => {
  browser = await openBrowser();
  card = await openCardPage(browser, await loadTemplate("club_card"));
  lab = await openPixelLab(browser);
});
afterAll(async () => {
  await closePages();
  await folder.remove();
});

const SIZE = { width: 1600, height: 900 };
const PLACE: Omit<CutoutFile, "path" | "outline"> = {
  ...SIZE,
  inPhoto: { x: 0, y: 0, width: 1, height: 1 },
  framing: {
    face: { x: 700, y: 240, width: 200, height: 250 },
    head: { x: 640, y: 200, width: 320, height: 320 },
    body: { x: 60, y: 120, width: 1480, height: 780 },
    cutSides: { top: false, right: false, bottom: true, left: false },
  },
  quarters: 0,
  tones: null,
  signs: { masks: 1, crown: 1, rivals: 0, loose: false },
  inCompany: false,
};
const HEAD_AND_TRUNK = `<circle cx="800" cy="360" r="160"/><path d="M720 480h160v80h160v340H560V560h160z"/>`;
const ARMS = `<path d="M60 120h320v120H160v340h1280V240h-220V120h320v580H60z"/>`;
const FISTS = `<path d="M380 120h160v120H380zM1060 120h160v120h-160z" fill="#f0f"/>`;

/**
 * Somebody who flexes both arms: they leave the card at the shoulders and come back with a magenta fist
 * above.
 */
async function flexing(more = ""): Promise<CutoutFile> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="900" fill="#2040c0">${HEAD_AND_TRUNK}${ARMS}${more}${FISTS}</svg>`;
  const page = await browser.newPage();
  await page.setViewport(SIZE);
  await page.setContent(`<style>body{margin:0}</style>${svg}`);
  const bytes = await page.screenshot({ omitBackground: true });
  await page.close();
  const path = join(folder.dir, `${Bun.hash(svg)}.png`);
  await Bun.write(path, bytes);
  return { ...PLACE, path, outline: `data:image/png;base64,${bytes.toBase64()}` };
}

/** How many of the card's pixels, on a grid, are a fist's. */
async function fistOn(cutout: CutoutFile, spec?: CardSpec): Promise<number> {
  const { bytes } = await card.render({ card: cardInput(spec), cutout, badge: null });
  const grid = Array.from({ length: 64 * 40 }, (_, k): [number, number] => [
    8 * (k % 64),
    8 * Math.floor(k / 64),
  ]);
  const pixels = await lab.pixelsAt(bytes, grid);
  return pixels.filter(([red = 0, green = 0, blue = 0]) => red > 180 && green < 90 && blue > 180).length;
}

test("a fist whose arm runs off the card does not float at its side; one with an arm on the card stays", async () => {
  expect(await fistOn(await flexing())).toBe(0);
  expect(await fistOn(await flexing(`<path d="M480 230h60v400h-60z"/>`))).toBeGreaterThan(10);
});

test("a fist is looked for anew on a card that shows more of the arms, and found again on the same card", async () => {
  const cutout = await flexing(`<path d="M780 180h40v40h-40z"/>`);
  for (const height of [900, 640, 640]) expect(await fistOn(cutout, { width: 512, height })).toBe(0);
});
