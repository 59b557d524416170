import { reducedJpeg } from "./reduced_jpeg.js";

/** @import { Framing } from "../../../core/card.ts" */
/** @import { Bytes } from "./pixels.js" */
/** @import { Rect } from "./rects.js" */

/**
 * Photos with more pixels are reduced to this many, 67 MB: enough for a 2,048 px player who fills half of it.
 * Those of most cameras have less, and reducing them would take longer than decoding them.
 */
const MAX_DECODED_PIXELS = 4096 * 4096;

/**
 * JPEGs of at least this longer side, in pixels, are decoded at half their size first, in half the time: a
 * player who fills such a photo is still within 5% of the largest size of a cutout.
 */
const MIN_HALVED_PX = 3900;

/**
 * Longer side of the picture in which people are looked for, in pixels; the networks see it at 256 px at
 * most.
 */
const MAX_SEARCH_PX = 1024;

/**
 * A photo with less than this part of its pixels transparent is not a cutout: it may just have rounded
 * corners.
 */
const MIN_TRANSPARENT_PART = 0.05;

/**
 * Put behind transparent photos for the networks: neither a light nor a dark outline disappears against it.
 */
export const BACKDROP = "#808080";

/**
 * @typedef {object} Photo
 * @property {ImageBitmap} bitmap the upright photo in sRGB, or half of it; whoever decoded it has to close it
 * @property {(() => Promise<ImageBitmap>) | null} whole decodes it at full size, if `bitmap` is half of it
 * @property {OffscreenCanvas} search an opaque, reduced copy in which people are looked for
 * @property {number} scale search pixels per pixel of the photo at full size, at most 1
 * @property {number} width at full size
 * @property {number} height at full size
 * @property {0 | 1 | 2 | 3} quarters how often it was turned clockwise to be upright
 * @property {boolean} transparent whether parts of the photo are transparent because the player was already
 *   cut out
 */

/**
 * The part of the photo that holds the player, at the cutout's resolution.
 * @typedef {object} PhotoPart
 * @property {OffscreenCanvas} canvas
 * @property {Rect} rect its place in the photo, in search pixels
 * @property {number} zoom canvas pixels per search pixel
 * @property {Framing["cutSides"]} atPhotoEdge the sides on which the rectangle ends at the photo's edge
 * @property {Bytes | null} ownPixels the pixels with the photo's own transparency, if the player was already
 *   cut out
 * @property {{ width: number, height: number }} photoSize the whole photo's size in search pixels
 */

/**
 * What the file's header says of the photo. The sides may be swapped, if the photo lies on its side in the
 * file.
 * @typedef {{ format: string, width: number, height: number }} Header
 */

/**
 * Decodes a JPEG, PNG or WebP, recognised by its content, applies its EXIF orientation and converts it to
 * sRGB. A large JPEG is decoded at half its size: see `makeSharp`. Throws a DOMException if the bytes are
 * broken or end early.
 * @param {Blob} blob @param {Header} header
 * @returns {Promise<Photo>}
 */
export async function decodePhoto(blob, header) {
  const whole = async () => bounded(await createImageBitmap(blob, { imageOrientation: "from-image" }));
  const half = await halfOf(blob, header);
  const opaque = header.format === "jpeg";
  if (!half) {
    const bitmap = await whole();
    return photoOf(bitmap, { width: bitmap.width, height: bitmap.height, whole: null, opaque });
  }
  const sides = Math.max(header.width, header.height) / Math.max(half.width, half.height);
  const times = sides * Math.min(1, boundOf(header));
  return photoOf(half, { width: half.width * times, height: half.height * times, whole, opaque });
}

/**
 * Decodes the photo at full size if it is at half, unless the longer side of a rectangle has this many pixels
 * as it is.
 * @param {Photo} photo its bitmap is replaced @param {Rect} rect in search pixels @param {number} enoughPx
 */
export async function makeSharp(photo, rect, enoughPx) {
  if (!photo.whole || Math.max(rect.width, rect.height) * pixelsPerSearchPx(photo) >= enoughPx) return;
  const bitmap = await photo.whole();
  photo.bitmap.close();
  photo.bitmap = bitmap;
  photo.whole = null;
}

/** Pixels of the bitmap per search pixel. @param {Photo} photo */
export function pixelsPerSearchPx({ bitmap, width, scale }) {
  return bitmap.width / width / scale;
}

/**
 * Returns the photo with its pixels rotated, and closes the given photo's bitmap.
 * @param {Photo} photo @param {number} quarters clockwise quarter turns
 * @returns {Photo}
 */
export function turnPhoto({ bitmap, whole, width, height, transparent, quarters: before }, quarters) {
  const sides = quarters % 2 === 0 ? { width, height } : { width: height, height: width };
  const turnWhole = whole && (async () => turned(await whole(), quarters));
  const photo = photoOf(turned(bitmap, quarters), { ...sides, whole: turnWhole, opaque: !transparent });
  return { ...photo, quarters: /** @type {0 | 1 | 2 | 3} */ ((before + quarters) % 4) };
}

/** @param {ImageBitmap} bitmap closed @param {number} quarters */
function turned(bitmap, quarters) {
  const { width, height } = bitmap;
  const canvas = quarters % 2 === 0 ? canvasOf(width, height) : canvasOf(height, width);
  const context = contextOf(canvas);
  context.translate(canvas.width / 2, canvas.height / 2);
  context.rotate((quarters * Math.PI) / 2);
  context.drawImage(bitmap, -width / 2, -height / 2);
  bitmap.close();
  return canvas.transferToImageBitmap();
}

/**
 * A large JPEG at half its size; null for other photos.
 * @param {Blob} blob @param {Header} header
 */
async function halfOf(blob, { format, ...size }) {
  const isLarge = format === "jpeg" && Math.max(size.width, size.height) >= MIN_HALVED_PX;
  return isLarge ? reducedJpeg(blob, size, 2) : null;
}

/**
 * @param {ImageBitmap} bitmap
 * @param {Pick<Photo, "width" | "height" | "whole"> & { opaque: boolean }} size of the photo at full size,
 *   and whether it is known to have no transparency
 * @returns {Photo}
 */
function photoOf(bitmap, { width, height, whole, opaque }) {
  const scale = Math.min(1, MAX_SEARCH_PX / Math.max(width, height));
  const search = canvasOf(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  const context = contextOf(search);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, search.width, search.height);
  const transparent = !opaque && hasTransparency(search);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = BACKDROP;
  context.fillRect(0, 0, search.width, search.height);
  return { bitmap, whole, search, scale, width, height, transparent, quarters: 0 };
}

/** @param {OffscreenCanvas} canvas */
function hasTransparency(canvas) {
  const { data } = contextOf(canvas).getImageData(0, 0, canvas.width, canvas.height);
  let clear = 0;
  for (let i = 3; i < data.length; i += 4) if (Number(data[i]) < 16) clear++;
  return clear >= (MIN_TRANSPARENT_PART * data.length) / 4;
}

/**
 * The factor by which a photo's sides are reduced; 1 and more for one that stays as it is.
 * @param {{ width: number, height: number }} size
 */
function boundOf({ width, height }) {
  return Math.sqrt(MAX_DECODED_PIXELS / (width * height));
}

/** @param {ImageBitmap} bitmap */
async function bounded(bitmap) {
  const scale = boundOf(bitmap);
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

/**
 * A picture's pixels at another size.
 * @param {OffscreenCanvas} picture @param {number} width @param {number} height
 * @returns {Bytes}
 */
export function pixelsAt(picture, width, height) {
  const context = contextOf(canvasOf(width, height));
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

/** @param {OffscreenCanvas} canvas */
export function contextOf(canvas) {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This browser gives no 2D canvas.");
  return context;
}
