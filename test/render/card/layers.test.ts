import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import type { Composition } from "../../../src/core/card.ts";
import { LAYER_PICTURES, LAYERS, type LayerPicture, MAX_LAYERS_BYTES } from "../../../src/core/layers.ts";
import { layerOf, withoutLayers } from "../../../src/render/card/formats/layer-files.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { type CUTOUT_NAMES, cardInput, closePages, cutout, openBrowser } from "./cards.ts";
import { badge } from "./goldens.ts";

let browser: Browser;
let page: CardPage;
let lab: PixelLab;
beforeAll(async () => {
  browser = await openBrowser();
  page = await openCardPage(browser, await loadTemplate("club_card"), { captureMethod: "canvas" });
  lab = await openPixelLab(browser);
});
afterAll(closePages);

interface Spec {
  player: (typeof CUTOUT_NAMES)[number];
  composition?: Composition;
  width?: number;
  height?: number;
  watermark?: string | null;
}

const PHOTOS = join(import.meta.dir, "../../photos");

async function make({ player, composition = "cutout", width, height, watermark = null }: Spec) {
  const size = { ...(width && { width }), ...(height && { height }) };
  const card = cardInput({ ...size, theme: "stadium", skill: 91, composition, format: "webp" });
  card.style.layers = true;
  const photo = composition === "photo" ? join(PHOTOS, `${player}.png`) : null;
  const job = { card, cutout: await cutout(player), photo, badge: await badge(browser), watermark };
  return (await page.render(job)).bytes;
}

const layer = (file: Uint8Array, name: LayerPicture) => layerOf(file, name) ?? new Uint8Array();

// By what each stacked pixel may differ: every layer is a lossy WebP of its own, as the still is.
for (const spec of [
  { player: "man" },
  // A whole figure stands before the name plate, which is in front of everybody else.
  { player: "yoga", width: 512, height: 800 },
  { player: "astronaut", width: 800, height: 512 },
  { player: "astronaut", composition: "photo" },
] as const satisfies Spec[])
  test(`layers laid over each other are the card: ${Object.values(spec).join(" ")}`, async () => {
    const file = await make(spec);
    const stack = await lab.stack(LAYERS.map((name) => layer(file, name)));
    const difference = await lab.compare(stack, withoutLayers(file));
    expect(difference.psnr).toBeGreaterThan(38);
    expect(difference.changedShare).toBeLessThan(0.004);
  });

test("a card without layers is the same picture as the one beside its layers, which are few bytes", async () => {
  const file = await make({ player: "man" });
  const card = cardInput({ theme: "stadium", skill: 91, composition: "cutout", format: "webp" });
  const alone = await page.render({ card, cutout: await cutout("man"), badge: await badge(browser) });
  expect(Buffer.compare(withoutLayers(file), alone.bytes)).toBe(0);
  // Readers that know nothing of layers pass over them.
  expect(await lab.compare(file, alone.bytes)).toMatchObject({ sameSize: true, largest: 0 });
  const bytes = LAYER_PICTURES.reduce((sum, name) => sum + layer(file, name).length, 0);
  expect(bytes).toBeLessThan(MAX_LAYERS_BYTES / 2);
});

test("each layer holds its own alone, the mask the foil, and the foremost what marks a card as a test", async () => {
  const file = await make({ player: "man", watermark: "TEST" });
  const middle: [number, number][] = [[256, 300]];
  const alpha = async (name: LayerPicture) => (await lab.pixelsAt(layer(file, name), middle))[0]?.[3];
  expect([await alpha("scene"), await alpha("player"), await alpha("foil")]).toEqual([255, 255, 0]);
  const { top } = await lab.inkBox(layer(file, "frame"));
  expect(top).toBeGreaterThan(400);
  const plain = await make({ player: "man" });
  for (const name of LAYERS) {
    const { largest } = await lab.compare(layer(file, name), layer(plain, name));
    expect([name, largest > 0]).toEqual([name, name === "text"]);
  }
});
