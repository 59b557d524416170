/**
 * Photos with more pixels are reduced to this many, 67 MB: enough for a 2,048 px player who fills half of it. Those of most
 * cameras have less, and reducing them would take longer than decoding them.
 */
const MAX_DECODED_PIXELS = 4096 * 4096;

/** Longer side of the picture in which people are looked for, in pixels; the networks see it at 256 px at most. */
const MAX_SEARCH_PX = 1024;

/** A photo with less than this part of its pixels transparent is not a cutout: it may just have rounded corners. */
const MIN_TRANSPARENT_PART = 0.05;

/** Put behind transparent photos for the networks: neither a light nor a dark outline disappears against it. */
export const BACKDROP = "#808080";

/**
 * @typedef {object} Photo
 * @property {ImageBitmap} bitmap the upright photo in sRGB; whoever decoded it has to close it
 * @property {OffscreenCanvas} search an opaque, reduced copy in which people are looked for
 * @property {number} scale search pixels per photo pixel, at most 1
 * @property {number} width
 * @property {number} height
 * @property {boolean} transparent whether parts of the photo are transparent because the player was already cut out
 */

/**
 * Decodes a JPEG, PNG or WebP, recognised by its content, applies its EXIF orientation and converts it to sRGB.
 * Throws a DOMException if the bytes are broken or end early.
 * @param {Blob} blob
 * @returns {Promise<Photo>}
 */
export async function decodePhoto(blob) {
  return photoOf(await bounded(await createImageBitmap(blob, { imageOrientation: "from-image" })));
}

/**
 * Returns the photo with its pixels rotated, and closes the given photo's bitmap.
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
  const scale = Math.sqrt(MAX_DECODED_PIXELS / (bitmap.width * bitmap.height));
  if (scale >= 1) return bitmap;
  const smaller = await createImageBitmap(bitmap, {
    resizeWidth: Math.max(1, Math.floor(bitmap.width * scale)),
    resizeHeight: Math.max(1, Math.floor(bitmap.height * scale)),
    resizeQuality: "high",
  });
  bitmap.close();
  return smaller;
}

/**
 * A canvas in main memory rather than on a graphics card, because its pixels are read back right away.
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
