// Finds what would float at the card's side: a fist whose arm runs off the card and comes back.

import { above, alphaOf, type Bytes, patches } from "../../photo/page/pixels.ts";
import { decodedOutline } from "./decode.ts";
import { bitmapFile, canvasOf } from "./light.ts";

/** From this alpha (0 to 255) on, a pixel of the outline belongs to the player. */
const SOLID_ALPHA = 128;
/** The soft edge around a part, in pixels of the outline. */
const SOFT_PX = 3;

export interface Strays {
  /** A picture of the outline's size, opaque where the parts are. */
  parts: OffscreenCanvas;
  /** The outline without them, as a data URL. */
  outline: string;
  /** What tells these parts apart. */
  key: string;
}

/** By outline and what is seen of it: most photos come again. */
const found = new Map<string, Strays | null>();
const MAX_FOUND = 20;

/**
 * The parts of the player that are joined to the rest only beyond the card's sides; null when there are
 * none.
 * @param source the player's outline
 * @param seen what the card shows of the player's width, as fractions of it
 */
export async function straysOf(source: string, seen: { from: number; to: number }) {
  const key = `${seen.from} ${seen.to}`;
  const known = found.get(`${key} ${source}`);
  if (known !== undefined) return known;
  const strays = await findStrays(source, seen, key);
  if (found.size >= MAX_FOUND) found.clear();
  found.set(`${key} ${source}`, strays);
  return strays;
}

async function findStrays(
  source: string,
  seen: { from: number; to: number },
  key: string,
): Promise<Strays | null> {
  const outline = await decodedOutline(source);
  const parts = strayParts(outline, seen);
  if (!parts) return null;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [outline.width, outline.height];
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  erase(context, outline, parts, outline);
  return { parts, outline: canvas.toDataURL(), key };
}

/**
 * A picture of the player without these parts.
 * @param player decoded
 * @returns a BMP file
 */
export function without(player: HTMLImageElement, parts: OffscreenCanvas): Blob {
  const { naturalWidth: width, naturalHeight: height } = player;
  const { context } = canvasOf(width, height);
  erase(context, player, parts, { width, height });
  return bitmapFile(context.getImageData(0, 0, width, height));
}

/** @param size the picture's */
function erase(
  context: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  picture: HTMLImageElement | ImageBitmap,
  parts: OffscreenCanvas,
  { width, height }: { width: number; height: number },
) {
  context.drawImage(picture, 0, 0);
  context.globalCompositeOperation = "destination-out";
  context.drawImage(parts, 0, 0, width, height);
}

function strayParts(outline: ImageBitmap, { from, to }: { from: number; to: number }) {
  const { width, height } = outline;
  const { context } = canvasOf(width, height);
  context.drawImage(outline, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const solid = above(alphaOf(data as Bytes), SOLID_ALPHA - 1);
  const inside = solid.slice();
  for (let pixel = 0; pixel < inside.length; pixel++) {
    const x = ((pixel % width) + 0.5) / width;
    if (!(x >= from && x <= to)) inside[pixel] = 0;
  }
  const seen = patches(inside, width);
  if (seen.sizes.length <= 2) return null;
  const player = seen.sizes.indexOf(Math.max(...seen.sizes));
  const whole = patches(solid, width);
  const own = whole.labels[seen.labels.indexOf(player)];
  const strays = new ImageData(width, height);
  let hasStrays = false;
  for (let pixel = 0; pixel < width * height; pixel++) {
    const label = seen.labels[pixel] ?? 0;
    if (label === 0 || label === player || whole.labels[pixel] !== own) continue;
    strays.data[4 * pixel + 3] = 255;
    hasStrays = true;
  }
  if (!hasStrays) return null;
  const { canvas, context: hard } = canvasOf(width, height);
  hard.putImageData(strays, 0, 0);
  const wide = canvasOf(width, height);
  for (let y = -SOFT_PX; y <= SOFT_PX; y++)
    for (let x = -SOFT_PX; x <= SOFT_PX; x++) wide.context.drawImage(canvas, x, y);
  return wide.canvas;
}
