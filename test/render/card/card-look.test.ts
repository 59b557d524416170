import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "puppeteer-core";
import type { CutoutFile } from "../../../src/core/card.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { saveCutout } from "../../../src/render/card-renderer.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { cardInput, closePages, cutout, openBrowser } from "./cards.ts";

let browser: Browser;
let card: CardPage;
let page: Page;
let lab: PixelLab;

beforeAll(async () => {
  browser = await openBrowser();
  card = await openCardPage(browser, await loadTemplate("club_card"));
  page = (await browser.pages()).at(-1) as Page;
  lab = await openPixelLab(browser);
});
afterAll(closePages);

/** A cutout of one colour that fills its picture, like a close-up cut off by the photo at three sides. */
async function filledCutout(
  width: number,
  height: number,
  colour: string,
  folder: string,
): Promise<CutoutFile> {
  const drawing = await browser.newPage();
  await drawing.setViewport({ width, height });
  await drawing.setContent(`<body style="margin:0;background:${colour}">`);
  const bytes = await drawing.screenshot();
  await drawing.close();
  const face = { x: width * 0.35, y: height * 0.2, width: width * 0.3, height: height * 0.3 };
  return saveCutout(join(folder, "filled"), {
    bytes,
    width,
    height,
    inPhoto: { x: 0, y: 0, width: 1, height: 1 },
    outline: `data:image/png;base64,${Buffer.from(bytes).toString("base64")}`,
    framing: {
      face,
      head: { x: width * 0.3, y: 0, width: width * 0.4, height: height * 0.55 },
      body: { x: 0, y: 0, width, height },
      cutSides: { top: false, right: true, bottom: true, left: true },
    },
    quarters: 0,
    tones: null,
    signs: { masks: 1, crown: 1, rivals: 0, loose: false },
    inCompany: false,
  });
}

describe("the player on the card", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(os.tmpdir(), "cardpress-page-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("is never see-through, also where a small photo ends early: no scene shines through the body", async () => {
    const small = await filledCutout(240, 200, "#808080", folder);
    const job = (theme: string) => ({
      card: cardInput({ theme, skill: 84 }),
      cutout: small,
      badge: null,
    });
    const fire = await card.render(job("fire"));
    const snow = await card.render(job("snow"));
    // From the face down to just above the ribbon's shadow, away from the sides' light.
    const places = Array.from({ length: 60 }, (_, i): [number, number] => [
      200 + (i % 6) * 30,
      330 + Math.floor(i / 6) * 18,
    ]);
    const [before, after] = [await lab.pixelsAt(fire.bytes, places), await lab.pixelsAt(snow.bytes, places)];
    expect(after).toEqual(before);
    for (const [r = 0, , , alpha] of before) {
      expect(alpha).toBe(255);
      expect(Math.abs(r - 128)).toBeLessThan(30);
    }
  });

  test("never hides the rating: every part of the figures is there before a body that fills the card", async () => {
    for (const skill of [45, 68, 82, 95]) {
      const ink = async (photo: CutoutFile | null) => {
        const job = { card: cardInput({ skill, primary: "#c8102e" }), cutout: photo, badge: null };
        const { bytes } = await card.render(job);
        const colour = await page.evaluate(() => {
          const { color } = getComputedStyle(document.querySelector(".skill") as HTMLElement);
          return (color.match(/[\d.]+/g) ?? []).map(Number);
        });
        const box = Array.from({ length: 112 * 118 }, (_, i): [number, number] => [
          20 + (i % 112),
          472 + Math.floor(i / 112),
        ]);
        const pixels = await lab.pixelsAt(bytes, box);
        return pixels.filter((pixel) =>
          pixel.slice(0, 3).every((value, k) => Math.abs(value - (colour[k] ?? 0)) < 24),
        ).length;
      };
      const alone = await ink(null);
      expect(alone).toBeGreaterThan(1500);
      expect(await ink(await filledCutout(600, 900, "#7f5f4f", folder))).toBeGreaterThanOrEqual(alone * 0.97);
    }
  });
});

describe("tiers", () => {
  test("are told apart at 200 pixels, with any club's colours: 12 % of the pixels and more change to the next", async () => {
    for (const [primary, secondary] of [
      ["#c8102e", "#ffffff"],
      ["#0b3d91", "#ffcc00"],
      ["#ffffff", "#111111"],
      ["#111111", "#ffffff"],
      ["#39ff14", "#ff00ff"],
    ] as const) {
      const thumbnails: Uint8Array[] = [];
      for (const skill of [45, 68, 82, 95]) {
        const { bytes } = await card.render({
          card: cardInput({ primary, secondary, skill }),
          cutout: await cutout("astronaut"),
          badge: null,
        });
        thumbnails.push(await new Bun.Image(bytes).resize(200, 250).png().bytes());
      }
      for (let i = 1; i < thumbnails.length; i++) {
        const { changedShare } = await lab.compare(
          thumbnails[i - 1] as Uint8Array,
          thumbnails[i] as Uint8Array,
        );
        expect(changedShare).toBeGreaterThan(0.12);
      }
    }
  });
});

describe("print", () => {
  test("a trading card of 63 x 88 mm with 3 mm of bleed has no hole up to its edge, and nothing but ground in the bleed", async () => {
    for (const [width, height] of [
      [815, 1110],
      [1110, 815],
    ] as const) {
      const { bytes } = await card.render({
        card: cardInput({ width, height, primary: "#c8102e" }),
        cutout: await cutout("skier"),
        badge: null,
      });
      const rim = Array.from({ length: 60 }, (_, i): [number, number][] => {
        const [x, y] = [Math.round((i / 59) * (width - 1)), Math.round((i / 59) * (height - 1))];
        return [
          [x, 0],
          [x, height - 1],
          [0, y],
          [width - 1, y],
          [x, 30],
          [x, height - 31],
          [30, y],
          [width - 31, y],
        ];
      }).flat();
      for (const [r = 0, g = 0, b = 0, alpha] of await lab.pixelsAt(bytes, rim)) {
        expect(alpha).toBe(255);
        expect(Math.max(r, g, b)).toBeLessThan(90);
      }
    }
  });
});
