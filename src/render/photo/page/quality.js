import { BACKDROP, canvasOf, contextOf, pixelsPerSearchPx } from "./decode.js";
import { lumaOf } from "./pixels.js";

/** @import { Photo } from "./decode.js" */
/** @import { Rect } from "./rects.js" */

/** The face is measured at this side in pixels, about its size on the smallest card. */
const FACE_PX = 64;
/** A face with this many pixels looks at FACE_PX as it does with more. */
export const SHARP_FACE_PX = 2 * FACE_PX;

/**
 * What a face looks like in a photo, measured at FACE_PX. Brightness is from 0 to 255.
 * @typedef {object} Look
 * @property {number} sharpness strength of the finest details relative to the contrast: 0.3 to 1 in sharp
 *   photos, below 0.15 in blurred ones
 * @property {number} contrast standard deviation of the brightness
 * @property {number} median of the brightness
 * @property {number} bright 95th percentile of the brightness
 */

/** @param {Photo} photo @param {Rect} face in search pixels @returns {Look} */
export function lookOf(photo, face) {
  const scale = pixelsPerSearchPx(photo);
  const context = contextOf(canvasOf(FACE_PX, FACE_PX));
  context.imageSmoothingQuality = "high";
  context.fillStyle = BACKDROP;
  context.fillRect(0, 0, FACE_PX, FACE_PX);
  context.drawImage(
    photo.bitmap,
    face.x * scale,
    face.y * scale,
    face.width * scale,
    face.height * scale,
    0,
    0,
    FACE_PX,
    FACE_PX,
  );
  const { data } = context.getImageData(0, 0, FACE_PX, FACE_PX);
  const grey = new Float32Array(FACE_PX * FACE_PX);
  for (let i = 0; i < grey.length; i++) grey[i] = lumaOf(data, i);
  const contrast = deviation(grey);
  const details = laplacian(grey);
  const sorted = grey.toSorted();
  return {
    sharpness: Math.sqrt(meanOf(details.map((value) => value * value))) / Math.max(1, contrast),
    contrast,
    median: Number(sorted[sorted.length >> 1]),
    bright: Number(sorted[Math.floor(0.95 * sorted.length)]),
  };
}

/** @param {Float32Array} values */
function meanOf(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param {Float32Array} values */
function deviation(values) {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
}

/** The Laplacian of all pixels except those on the border. @param {Float32Array} grey */
function laplacian(grey) {
  const inner = FACE_PX - 2;
  return Float32Array.from({ length: inner * inner }, (_, k) => {
    const i = (Math.floor(k / inner) + 1) * FACE_PX + (k % inner) + 1;
    const around =
      Number(grey[i - 1]) + Number(grey[i + 1]) + Number(grey[i - FACE_PX]) + Number(grey[i + FACE_PX]);
    return 4 * Number(grey[i]) - around;
  });
}
