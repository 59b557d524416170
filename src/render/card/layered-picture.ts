import type { Page } from "puppeteer-core";
import { LAYER_PICTURES, LAYERS, type LayerPicture, MAX_LAYERS_BYTES } from "../../core/layers.ts";
import type { Pixels } from "./formats/pixels.ts";
import { encodeWebp, WEBP_QUALITY } from "./formats/webp.ts";
import type { PixelFile } from "./pixel-file.ts";
import { withTimeout } from "./within-time.ts";

/** What layers.ts provides in the page. */
type InPage = { cardpressLayers: typeof import("./page/layers.ts") };

/** Nine drawings of the card, and two of its foil. */
const DRAW_TIMEOUT_MS = 30_000;
const GIVE_TIMEOUT_MS = 12_000;
/** Each is tried until all layers are within MAX_LAYERS_BYTES. */
const QUALITIES = [WEBP_QUALITY, 75, 50, 20];

/** The layers and the foil mask of the card that the page shows, each a WebP of the card's size. */
export async function shootLayers(
  page: Page,
  file: PixelFile,
  { width, height }: Pick<Pixels, "width" | "height">,
): Promise<Record<LayerPicture, Uint8Array>> {
  const opening = page.evaluate(
    (...given) => (globalThis as unknown as InPage).cardpressLayers.open(...given),
    ...([width, height, LAYERS, "foil"] as const),
  );
  try {
    await withTimeout(opening, DRAW_TIMEOUT_MS, "drawing the card's layers");
    const drawn = new Map<LayerPicture, Pixels>();
    for (const name of LAYER_PICTURES) {
      const giving = page.evaluate(
        (layer) => (globalThis as unknown as InPage).cardpressLayers.give(layer),
        name,
      );
      await withTimeout(giving, GIVE_TIMEOUT_MS, "reading the card's layers");
      // The file holds the next layer soon.
      drawn.set(name, { rgba: file.read(width * height * 4).slice(), width, height });
    }
    return await encoded(drawn);
  } finally {
    await page.evaluate(() => (globalThis as unknown as InPage).cardpressLayers.close());
  }
}

async function encoded(drawn: ReadonlyMap<LayerPicture, Pixels>): Promise<Record<LayerPicture, Uint8Array>> {
  for (const quality of QUALITIES) {
    const layers: [LayerPicture, Uint8Array][] = [];
    for (const [name, pixels] of drawn) layers.push([name, await encodeWebp(pixels, quality)]);
    if (layers.reduce((sum, [, { length }]) => sum + length, 0) <= MAX_LAYERS_BYTES)
      return Object.fromEntries(layers) as Record<LayerPicture, Uint8Array>;
  }
  throw new Error(`the card's layers take more than ${MAX_LAYERS_BYTES} bytes at the lowest quality`);
}
