import { afterAll, beforeAll, expect, test } from "bun:test";
import { inflateSync } from "node:zlib";
import { PNG } from "pngjs";
import type { Browser } from "puppeteer-core";
import type { CardInput } from "../../../src/core/card.ts";
import { PRINT_SIZES } from "../../../src/core/print-sizes.ts";
import { foilPlateOf, hasFoilPlate } from "../../../src/render/card/formats/foil-plate.ts";
import { openCardPage } from "../../../src/render/card/page.ts";
import { DEFAULT_TEMPLATE } from "../../../src/templates/built-in.ts";
import { backOf, loadTemplate, templateOf } from "../../../src/templates/load.ts";
import { CSS, HTML, sampleTemplate } from "../../templates/sample-template.ts";
import { cardInput, closePages, cutout, openBrowser } from "./cards.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(closePages);

const PRINT = { width: 815, height: 1110 };
/** A gradient of foil, half of which lies under something, within a plate that is kept from card to card. */
const FOILED = sampleTemplate({
  "card.html": HTML.replace(
    "</main>",
    '<div class="kept" data-plate><i class="gold" data-foil></i></div><b class="over"></b><i class="late" data-foil data-if="fields.code"></i></main>',
  ),
  "card.css": `${CSS}
    .kept { position: absolute; inset: 0; contain: strict }
    .gold { position: absolute; left: 100px; top: 200px; width: 80px; height: 40px; background: linear-gradient(#fff, #000); filter: sepia(1) }
    .over { position: absolute; left: 140px; top: 200px; width: 80px; height: 40px; background: #777 }
    .late { position: absolute; left: 400px; top: 700px; width: 10px; height: 10px; background: red; border-radius: 50% }`,
});

/** A card for print whose foil was asked for. */
function foiled(change: Partial<CardInput> = {}): CardInput {
  const input = cardInput(PRINT);
  return { ...input, ...change, style: { ...input.style, foil: true } };
}

/** Whether there is foil at a place of the card, which lies within its bleed. */
function foilAt(plate: Uint8Array, cardX: number, cardY: number): boolean {
  const { bleed } = PRINT_SIZES["63x88"].px;
  return isFoil(inflateSync(plate), cardX + bleed, cardY + bleed);
}

const isFoil = (rows: Uint8Array, x: number, y: number) =>
  ((rows[y * Math.ceil(PRINT.width / 8) + (x >> 3)] ?? 0) & (0x80 >> (x & 7))) !== 0;

test("a card for print takes its plate of foil along: where foil is seen, and nowhere else", async () => {
  const page = await openCardPage(browser, templateOf(FOILED), { captureMethod: "canvas" });
  const drawn = async (size: { width: number; height: number }, change = {}) => {
    const input = cardInput(size);
    const card = { ...input, style: { ...input.style, foil: true as const, ...change } };
    return (await page.render({ card, cutout: null, badge: null })).bytes;
  };
  const picture = await drawn(PRINT);
  const plate = foilPlateOf(picture);
  if (!plate) throw new Error("no plate");
  expect(hasFoilPlate(picture.subarray(0, 4096))).toBe(true);
  for (const [x, y, isFoil] of [
    [101, 201, true],
    [139, 239, true],
    [99, 220, false],
    // Under what covers it, and where only the cover is.
    [141, 220, false],
    [200, 220, false],
    // Not shown on this card.
    [405, 705, false],
  ] as const)
    expect([x, y, foilAt(plate, x, y)]).toEqual([x, y, isFoil]);
  const set = inflateSync(plate).reduce((sum, byte) => sum + byte.toString(2).replaceAll("0", "").length, 0);
  expect(set).toBe(40 * 40);

  // Any reader of PNG shows the same pixels, and the next card is as it would be without.
  const { data, width } = PNG.sync.read(Buffer.from(picture));
  const gold = ((200 + 35 + 2) * width + 100 + 35 + 2) * 4;
  expect(data[gold] as number).toBeGreaterThan(150);
  expect(Buffer.compare(await drawn(PRINT), picture)).toBe(0);

  expect(foilPlateOf(await drawn(PRINT, { foil: undefined }))).toBeNull();
  await page.close();
});

test("the included card has its frame and its number in the set foiled, and no shadow hides it", async () => {
  const template = await loadTemplate(DEFAULT_TEMPLATE);
  const set = { name: "Rovers", season: "2026/27", parallel: "gold", serial: 12, size: 50 };
  for (const [side, files] of [
    ["front", template],
    ["back", backOf(template)],
  ] as const) {
    const page = await openCardPage(browser, files, { captureMethod: "canvas" });
    const card = foiled({ set });
    const shown = { cutout: side === "front" ? await cutout("astronaut") : null, badge: null };
    const packed = foilPlateOf((await page.render({ card, ...shown })).bytes);
    if (!packed) throw new Error("no plate");
    const plate = inflateSync(packed);
    const inked = (selector: string) =>
      page.page.$eval(selector, (one) => {
        const { left, top, right, bottom } = one.getBoundingClientRect();
        return { left, top, right, bottom };
      });
    const within = ({ left, top, right, bottom }: Awaited<ReturnType<typeof inked>>) => {
      let count = 0;
      for (let y = Math.ceil(top); y < bottom; y++)
        for (let x = Math.ceil(left); x < right; x++) if (isFoil(plate, x, y)) count += 1;
      return count;
    };
    const rim = await inked(".rim");
    // The player's shadow falls on the right side, beside the arm; the middle is the player's.
    const middle = (rim.top + rim.bottom) / 2;
    const beside = { ...rim, left: rim.right - 20, top: middle + 150, bottom: middle + 160 };
    expect(within(beside)).toBeGreaterThan(50);
    expect(within(beside)).toBeLessThan(170);
    expect(within({ left: 300, right: 500, top: middle - 20, bottom: middle + 20 })).toBe(0);
    if (side === "front") expect(within(await inked(".serial"))).toBeGreaterThan(200);
    await page.close();
  }
});

test("a template without foil, and a card that shows none of it, get no plate", async () => {
  const card = foiled();
  for (const files of [
    sampleTemplate(),
    sampleTemplate({ "card.html": HTML.replace("</main>", "<i data-foil hidden></i></main>") }),
  ]) {
    const page = await openCardPage(browser, templateOf(files), { captureMethod: "canvas" });
    expect(foilPlateOf((await page.render({ card, cutout: null, badge: null })).bytes)).toBeNull();
    await page.close();
  }
});
