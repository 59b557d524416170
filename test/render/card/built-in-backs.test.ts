import { afterAll, beforeAll, expect, test } from "bun:test";
import jsqr from "jsqr";
import { PNG } from "pngjs";
import type { Browser } from "puppeteer-core";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { DEFAULT_TEMPLATE } from "../../../src/templates/built-in.ts";
import { backOf, loadTemplate } from "../../../src/templates/load.ts";
import { cardInput, openBrowser } from "./cards.ts";

// The back of the included card, from the finished picture and the page that it was taken of.

let browser: Browser;
let page: CardPage;
beforeAll(async () => {
  browser = await openBrowser();
  page = await openCardPage(browser, backOf(await loadTemplate(DEFAULT_TEMPLATE)));
});
afterAll(() => browser.close());

/** As wide as 300 letters of a text get. */
const BIOGRAPHY = "Wolverhampton Wanderers und Mommsen aus Åsgårdstrand ".repeat(6).slice(0, 299).concat("M");
const SEASONS = ["2025/26", "2024/25", "2023/24", "2022/23", "2021/22"].map((season) => ({
  season,
  club: "Wolverhampton Wanderers Mommse",
  matches: 99,
  goals: 99,
}));
const LINK = "https://example.org/players/10442?from=card";
const EVERYTHING = { biography: BIOGRAPHY, seasons: SEASONS, qr: LINK };

async function draw(size: { width: number; height: number }, fields?: Record<string, unknown>) {
  const card = { ...cardInput(size), ...(fields && { fields }) };
  const { bytes } = await page.render({ card, cutout: null, badge: null });
  const { data, width, height } = PNG.sync.read(Buffer.from(bytes));
  return jsqr(new Uint8ClampedArray(data), width, height)?.data;
}

/** What of these is on the card, and the whole text of each. */
const shown = (selectors: string[]) =>
  page.page.evaluate(
    (all) =>
      all.flatMap((selector) => {
        const found = [...document.querySelectorAll(selector)].filter((one) => one.getClientRects().length);
        return found.map((one) => (one.textContent ?? "").trim());
      }),
    selectors,
  );

test.each([
  [815, 1110],
  [650, 839],
  [1024, 1280],
  [1080, 1080],
  [1600, 900],
])(
  "on %dx%d the longest life and clubs are told whole, and a phone reads the code",
  async (width, height) => {
    expect(await draw({ width, height }, EVERYTHING)).toBe(LINK);
    expect(await shown([".bio"])).toEqual([BIOGRAPHY]);
    expect(await shown([".rows .club"])).toEqual(SEASONS.map(({ club }) => club));
  },
);

test("what there is nothing of leaves no trace, and the number takes its place", async () => {
  const blocks = [".bio", ".seasons", ".marks", ".set", ".hero b"];
  await draw({ width: 815, height: 1110 }, EVERYTHING);
  expect(await shown(blocks.slice(0, 4))).toHaveLength(3);
  await draw({ width: 815, height: 1110 });
  expect(await shown(blocks)).toEqual([String(cardInput().player.number)]);
});
