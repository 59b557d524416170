import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { PLACEHOLDER_CARD } from "../../../scripts/placeholder-card.ts";
import { openCardPage } from "../../../src/render/card/page.ts";
import { placeholder } from "../../../src/render/placeholders/placeholder.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { cardInput, closePages, openBrowser } from "../card/cards.ts";
import { openPixelLab } from "../pixels.ts";

const SIDES = { width: 1024, height: 1024 };

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(closePages);

test("a picture that all test keys share says so where another player's name would stand", async () => {
  expect(PLACEHOLDER_CARD.name).toBe("Placeholder");
  const page = await openCardPage(browser, await loadTemplate("club_card"));
  const drawn = async (name: string) => {
    const card = cardInput({ ...PLACEHOLDER_CARD, ...SIDES, name });
    return (await page.render({ card, cutout: null, badge: null, watermark: "TEST" })).bytes;
  };
  const lab = await openPixelLab(browser);
  const { bytes } = await placeholder(SIDES.width, SIDES.height, "png");
  const differenceTo = async (name: string) => (await lab.compare(bytes, await drawn(name))).changedShare;
  // By what little WebP changes, and the watermark's edges; a name more is a name's letters more.
  expect(await differenceTo(PLACEHOLDER_CARD.name)).toBeLessThan(await differenceTo("Test Player"));
});
