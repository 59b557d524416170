import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { photo, withOrientation } from "../photo/photo-lab.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { cardInput, closePages, cutout, openBrowser } from "./cards.ts";

let browser: Browser;
let page: CardPage;
let lab: PixelLab;
let folder: string;

beforeAll(async () => {
  browser = await openBrowser();
  page = await openCardPage(browser, await loadTemplate("club_card"));
  lab = await openPixelLab(browser);
  folder = await mkdtemp(join(os.tmpdir(), "large-photos-"));
});
afterAll(async () => {
  await closePages();
  await rm(folder, { recursive: true });
});

/** A card in which the photo of the man lies behind the window, from this file. */
async function cardOf(name: string, bytes: Uint8Array): Promise<Uint8Array> {
  const path = join(folder, name);
  await Bun.write(path, bytes);
  const card = cardInput({ composition: "photo" });
  const man = await cutout("man");
  return (await page.render({ card, cutout: man, badge: null, photo: path })).bytes;
}

for (const [name, width, height] of [
  ["twice", 1400, 2100],
  ["four times", 2600, 3900],
] as const) {
  test(`a JPEG ${name} as large as it is shown looks on the card as all of its pixels do`, async () => {
    const jpeg = await new Bun.Image(photo("unsplash_man.jpg"))
      .resize(width, height)
      .jpeg({ quality: 92 })
      .bytes();
    const whole = await cardOf(`${width}.png`, await new Bun.Image(jpeg).png().bytes());
    const turned = await new Bun.Image(jpeg).rotate(270).jpeg({ quality: 92 }).bytes();
    for (const [file, bytes] of [
      [`${width}.jpg`, jpeg],
      [`${width}-turned.jpg`, withOrientation(turned, 6)],
    ] as const) {
      const { largest, mean } = await lab.compare(await cardOf(file, bytes), whole);
      expect(mean).toBeLessThan(0.5);
      expect(largest).toBeLessThan(24);
      // Nothing at all differs only where all of its pixels were decoded.
      expect(largest).toBeGreaterThan(0);
    }
  });
}

test("a ground with data-canvas is shown without writing a file, and looks as the file does", async () => {
  const template = await loadTemplate("club_card");
  const html = template.html.replace(" data-canvas", "");
  const plain = { ...template, html, digest: "without data-canvas" };
  const man = await cutout("man");
  const path = join(folder, "ground.jpg");
  await Bun.write(path, photo("unsplash_man.jpg"));
  const job = { card: cardInput({ composition: "photo" }), cutout: man, badge: null, photo: path };
  const isCanvas = () =>
    page.page.evaluate(() => document.querySelector("canvas[data-picture=backdrop]") !== null);
  const shown = await page.render(job);
  expect(await isCanvas()).toBe(true);
  await page.remake(plain);
  expect((await page.render(job)).bytes).toEqual(shown.bytes);
  expect(await isCanvas()).toBe(false);
});
