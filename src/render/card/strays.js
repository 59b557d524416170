// Runs inside the page. Type-checked through JSDoc, served as it is. Finds what would float at the card's side: a fist whose
// arm runs off the card and comes back.
import { bitmapFile, canvasOf } from "./light.js";

/** From this alpha (0 to 255) on, a pixel of the outline belongs to the player. */
const SOLID_ALPHA = 128;
/** The soft edge around a part, in pixels of the outline. */
const SOFT_PX = 3;

/**
 * The parts of the player that hang together with the rest only beyond the card's sides: a picture of the outline's size,
 * opaque there, the outline without them as a data URL, and what tells them apart. Null when there are none.
 * @param {string} source the player's outline
 * @param {{ from: number, to: number }} seen what the card shows of the player's width, as fractions of it
 */
export async function straysOf(source, seen) {
  const outline = new Image();
  outline.src = source;
  await outline.decode();
  const parts = strayParts(outline, seen);
  if (!parts) return null;
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [outline.naturalWidth, outline.naturalHeight];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  erase(context, outline, parts);
  return { parts, outline: canvas.toDataURL(), key: `${seen.from} ${seen.to}` };
}

/**
 * A picture of the player without these parts.
 * @param {HTMLImageElement} player decoded
 * @param {OffscreenCanvas} parts
 * @returns {Blob} a BMP file
 */
export function without(player, parts) {
  const { naturalWidth, naturalHeight } = player;
  const { context } = canvasOf(naturalWidth, naturalHeight);
  erase(context, player, parts);
  return bitmapFile(context.getImageData(0, 0, naturalWidth, naturalHeight));
}

/**
 * @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} context
 * @param {HTMLImageElement} picture
 * @param {OffscreenCanvas} parts
 */
function erase(context, picture, parts) {
  context.drawImage(picture, 0, 0);
  context.globalCompositeOperation = "destination-out";
  context.drawImage(parts, 0, 0, picture.naturalWidth, picture.naturalHeight);
}

/**
 * @param {HTMLImageElement} outline decoded
 * @param {{ from: number, to: number }} seen
 */
function strayParts(outline, { from, to }) {
  const { naturalWidth: width, naturalHeight: height } = outline;
  const { context } = canvasOf(width, height);
  context.drawImage(outline, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const isSolid = (/** @type {number} */ pixel) => (data[4 * pixel + 3] ?? 0) >= SOLID_ALPHA;
  const isSeen = (/** @type {number} */ pixel) => {
    const x = ((pixel % width) + 0.5) / width;
    return x >= from && x <= to && isSolid(pixel);
  };
  const seen = patchesOf(width, height, isSeen);
  if (seen.sizes.length <= 2) return null;
  const player = seen.sizes.indexOf(Math.max(...seen.sizes));
  const whole = patchesOf(width, height, isSolid);
  const own = whole.labels[seen.labels.indexOf(player)];
  const strays = new ImageData(width, height);
  let found = false;
  for (let pixel = 0; pixel < width * height; pixel++) {
    const label = seen.labels[pixel] ?? 0;
    if (label === 0 || label === player || whole.labels[pixel] !== own) continue;
    strays.data[4 * pixel + 3] = 255;
    found = true;
  }
  if (!found) return null;
  const { canvas, context: hard } = canvasOf(width, height);
  hard.putImageData(strays, 0, 0);
  const wide = canvasOf(width, height);
  for (let y = -SOFT_PX; y <= SOFT_PX; y++)
    for (let x = -SOFT_PX; x <= SOFT_PX; x++) wide.context.drawImage(canvas, x, y);
  return wide.canvas;
}

/**
 * Numbers the patches of pixels that touch side by side, from 1 on; 0 is none.
 * @param {number} width @param {number} height @param {(pixel: number) => boolean} isInside
 */
function patchesOf(width, height, isInside) {
  const labels = new Int32Array(width * height);
  const sizes = [0];
  for (let start = 0; start < labels.length; start++) {
    if (labels[start] !== 0 || !isInside(start)) continue;
    const label = sizes.length;
    const waiting = [start];
    labels[start] = label;
    let size = 0;
    for (let pixel = waiting.pop(); pixel !== undefined; pixel = waiting.pop()) {
      size++;
      const x = pixel % width;
      const [left, right] = [x > 0 ? pixel - 1 : -1, x < width - 1 ? pixel + 1 : -1];
      for (const next of [left, right, pixel - width, pixel + width]) {
        // Beyond the picture there is no label either.
        if (labels[next] !== 0 || !isInside(next)) continue;
        labels[next] = label;
        waiting.push(next);
      }
    }
    sizes.push(size);
  }
  return { labels, sizes };
}
