import { type PhotoPart, pixelsAt } from "./decode.ts";
import type { Mask } from "./masks.ts";
import { askNetwork, rgbFrom } from "./networks.ts";

/**
 * The salient network's input keeps the part's proportions and has about this many pixels, with sides that
 * are multiples of STEP_PX. It was trained on 320 x 320, but with fewer pixels it sees hair and held things
 * as wholes, in two thirds of the time. An operator's own network sets its own number.
 */
const PIXELS = Number(document.documentElement.dataset.mattePixels) || 256 * 256;
const STEP_PX = 16;

/** What stands out in a part of the photo, from 0 at the network's lowest output to 1 at its highest. */
export async function findSalient({ canvas, rect }: PhotoPart): Promise<Mask> {
  const scale = Math.sqrt(PIXELS / (canvas.width * canvas.height)) / STEP_PX;
  const side = (px: number) => Math.max(4, Math.round(px * scale)) * STEP_PX;
  const size = { width: side(canvas.width), height: side(canvas.height) };
  const [values] = await askNetwork("salient", rgbFrom(pixelsAt(canvas, size.width, size.height)), size);
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    if (values[i] < least) least = values[i];
    if (values[i] > most) most = values[i];
  }
  const levels = 255 / Math.max(1e-6, most - least);
  for (let i = 0; i < values.length; i++) values[i] = Math.round((values[i] - least) * levels) / 255;
  const [cx, cy] = [rect.x + rect.width / 2, rect.y + rect.height / 2];
  return { values, ...size, crop: { cx, cy, width: rect.width, height: rect.height, rotation: 0 } };
}
