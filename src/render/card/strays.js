// Runs inside the page. Type-checked through JSDoc, served as it is. Finds what would float at the card's
// side: a fist whose arm runs off the card and comes back.
import { above, alphaOf, patches } from "../photo/page/pixels.ts";
import { decodedOutline } from "./decode.js";
import { bitmapFile, canvasOf } from "./light.js";

/** @import { Bytes } from "../photo/page/pixels.ts" */

/** From this alpha (0 to 255) on, a pixel of the outline belongs to the player. */
const SOLID_ALPHA = 128;
/** The soft edge around a part, in pixels of the outline. */
const SOFT_PX = 3;

/** @typedef {{ parts: OffscreenCanvas, outline: string, key: string }} Strays */

/**
 * What was found last, by outline and what is seen of it: most photos come again.
 * @type {Map<string, Strays | null>}
 */
const found = new Map();
const MAX_FOUND = 20;

/**
 * The parts of the player that hang together with the rest only beyond the card's sides: a picture of the
 * outline's size, opaque there, the outline without them as a data URL, and what tells them apart. Null when
 * there are none.
 * @param {string} source the player's outline
 * @param {{ from: number, to: number }} seen what the card shows of the player's width, as fractions of it
 */
export async function straysOf(source, seen) {
  const key = `${seen.from} ${seen.to}`;
  const known = found.get(`${key} ${source}`);
  if (known !== undefined) return known;
  const strays = await findStrays(source, seen, key);
  if (found.size >= MAX_FOUND) found.clear();
  found.set(`${key} ${source}`, strays);
  return strays;
}

/**
 * @param {string} source @param {{ from: number, to: number }} seen @param {string} key
 * @returns {Promise<Strays | null>}
 */
async function findStrays(source, seen, key) {
  const outline = await decodedOutline(source);
  const parts = strayParts(outline, seen);
  if (!parts) return null;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [outline.width, outline.height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  erase(context, outline, parts, outline);
  return { parts, outline: canvas.toDataURL(), key };
}

/**
 * A picture of the player without these parts.
 * @param {HTMLImageElement} player decoded
 * @param {OffscreenCanvas} parts
 * @returns {Blob} a BMP file
 */
export function without(player, parts) {
  const { naturalWidth: width, naturalHeight: height } = player;
  const { context } = canvasOf(width, height);
  erase(context, player, parts, { width, height });
  return bitmapFile(context.getImageData(0, 0, width, height));
}

/**
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} context
 * @param {HTMLImageElement | ImageBitmap} picture
 * @param {OffscreenCanvas} parts
 * @param {{ width: number, height: number }} size the picture's
 */
function erase(context, picture, parts, { width, height }) {
  context.drawImage(picture, 0, 0);
  context.globalCompositeOperation = "destination-out";
  context.drawImage(parts, 0, 0, width, height);
}

/**
 * @param {ImageBitmap} outline
 * @param {{ from: number, to: number }} seen
 */
function strayParts(outline, { from, to }) {
  const { width, height } = outline;
  const { context } = canvasOf(width, height);
  context.drawImage(outline, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const solid = above(alphaOf(/** @type {Bytes} */ (data)), SOLID_ALPHA - 1);
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
