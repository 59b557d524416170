import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "puppeteer-core";
import { paletteOf } from "../../../src/render/card/colours.ts";
import { sceneOf, THEMES } from "../../../src/render/card/scenes/themes.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { closePages, openBrowser } from "./cards.ts";

let browser: Browser;
let lab: PixelLab;
beforeAll(async () => {
  browser = await openBrowser();
  lab = await openPixelLab(browser);
});
afterAll(closePages);

describe("themes in pixels", () => {
  // Mean difference of all channels between two scenes at 48 x 60; below about 5 two look alike at a glance.
  const FLOOR = 6;
  test("every two themes differ visibly, also when a club's colours make them alike", async () => {
    const palette = paletteOf({ primaryColor: "#0b3d91", secondaryColor: "#ffcc00" }, 80);
    const texts = [undefined, ...THEMES, "bananas", "quokka"];
    const size = { width: 1000, height: 1250, focus: { x: 0.55, y: 0.15 } };
    const scenes = texts.map((text) => new TextEncoder().encode(sceneOf(text, palette, size, true).svg));
    const distances = await lab.distances(scenes);
    const alike = texts
      .flatMap((a, i) => texts.slice(i + 1).map((b, k) => ({ a, b, d: distances[i]?.[i + 1 + k] ?? 0 })))
      .filter(({ d }) => d < FLOOR);
    expect(alike).toEqual([]);
  });
});
