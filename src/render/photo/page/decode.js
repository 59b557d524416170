/** Photos are decoded to at most this many pixels on the longer side: enough for a 2048 px player who fills half of it. */
const MAX_DECODED_PX = 4096;

/** The longer side of the picture on which people are looked for; the networks see 256 px of it at most. */
const MAX_SEARCH_PX = 1024;

/** Rounded corners are no cutout. */
const MIN_TRANSPARENT_PART = 0.05;

/** Stands behind transparent photos while they are looked at: neither a light nor a dark outline vanishes in it. */
export const BACKDROP = "#808080";

/**
 * @typedef {object} Photo
 * @property {ImageBitmap} bitmap the upright photo in sRGB; closed by whoever decoded it
 * @property {OffscreenCanvas} search the same, opaque and small, to look for people in
 * @property {number} scale search pixels for one photo pixel, at most 1
 * @property {number} width
 * @property {number} height
 * @property {boolean} transparent whether the photo has transparent parts: somebody has cut the player out before
 */

/**
 * Decodes a JPEG, PNG or WebP by its content, turned as its EXIF orientation says, in sRGB whatever its colour space.
 * Throws a DOMException when the bytes are broken or end early.
 * @param {Blob} blob
 * @returns {Promise<Photo>}
 */
export async function decodePhoto(blob) {
  return photoOf(await bounded(await createImageBitmap(blob, { imageOrientation: "from-image" })));
}

/**
 * The photo turned in its pixels; the given one is closed.
 * @param {Photo} photo @param {number} quarters clockwise quarter turns
 * @returns {Photo}
 */
export function turnPhoto({ bitmap }, quarters) {
  const { width, height } = bitmap;
  const canvas = quarters % 2 === 0 ? canvasOf(width, height) : canvasOf(height, width);
  const context = contextOf(canvas);
  context.translate(canvas.width / 2, canvas.height / 2);
  context.rotate((quarters * Math.PI) / 2);
  context.drawImage(bitmap, -width / 2, -height / 2);
  bitmap.close();
  return photoOf(canvas.transferToImageBitmap());
}

/** @param {ImageBitmap} bitmap @returns {Photo} */
function photoOf(bitmap) {
  const { width, height } = bitmap;
  const scale = Math.min(1, MAX_SEARCH_PX / Math.max(width, height));
  const search = canvasOf(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  const context = contextOf(search);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, search.width, search.height);
  const transparent = hasTransparency(search);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = BACKDROP;
  context.fillRect(0, 0, search.width, search.height);
  return { bitmap, search, scale, width, height, transparent };
}

/** @param {OffscreenCanvas} canvas */
function hasTransparency(canvas) {
  const { data } = contextOf(canvas).getImageData(0, 0, canvas.width, canvas.height);
  let clear = 0;
  for (let i = 3; i < data.length; i += 4) if (Number(data[i]) < 16) clear++;
  return clear >= (MIN_TRANSPARENT_PART * data.length) / 4;
}

/** @param {ImageBitmap} bitmap */
async function bounded(bitmap) {
  const scale = MAX_DECODED_PX / Math.max(bitmap.width, bitmap.height);
  if (scale >= 1) return bitmap;
  const smaller = await createImageBitmap(bitmap, {
    resizeWidth: Math.max(1, Math.round(bitmap.width * scale)),
    resizeHeight: Math.max(1, Math.round(bitmap.height * scale)),
    resizeQuality: "high",
  });
  bitmap.close();
  return smaller;
}

/**
 * A canvas in main memory, not on a graphics card: its pixels are read back at once.
 * @param {number} width
 * @param {number} height
 */
export function canvasOf(width, height) {
  const canvas = new OffscreenCanvas(width, height);
  contextOf(canvas);
  return canvas;
}

/** @param {OffscreenCanvas} canvas */
export function contextOf(canvas) {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This browser gives no 2D canvas.");
  return context;
}
