import { BACKDROP, canvasOf, contextOf, pixelsPerSearchPx } from "./decode.js";
import { lumaOf } from "./pixels.js";

/** @import { PlayerRefusal } from "../../../core/photo-refusals.ts" */
/** @import { Photo } from "./decode.js" */
/** @import { Rect } from "./rects.js" */

/** The face is measured at this side in pixels, about its size on the smallest card. */
const FACE_PX = 64;
/** A face with this many pixels looks at FACE_PX as it does with more. */
export const SHARP_FACE_PX = 2 * FACE_PX;

/** Sharp faces measure at least 0.25; at half of that, nose and mouth merge. */
const MIN_SHARPNESS = 0.13;
/** A face whose bright parts (0 to 255) stay below this is black: brightened, it would show noise. */
const MIN_BRIGHT = 14;
/** A face whose median brightness is below this is a silhouette, however bright the sky around it. */
const MIN_FACE_MEDIAN = 8;
/**
 * A face whose bright parts stay below this brightness and whose contrast is below this part of it has no
 * light and shade that could be brightened, as in a dark room by night.
 */
const MIN_FLAT_BRIGHT = 100;
const FLAT_PART = 0.22;
/** A face with a higher median brightness and a lower contrast than these is overexposed. */
const MAX_MEDIAN = 225;
const MIN_BRIGHT_CONTRAST = 12;

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

/** What is wrong with a face for a card. @param {Look} look @returns {PlayerRefusal | null} */
export function faceFault(look) {
  const isFlat = look.bright < MIN_FLAT_BRIGHT && look.contrast < FLAT_PART * look.bright;
  if (look.median < MIN_FACE_MEDIAN || isFlat) return "too_dark";
  return lightFault(look) ?? (look.sharpness < MIN_SHARPNESS ? "too_blurred" : null);
}

/**
 * What is wrong with the light on a face, or in a whole photo in which nobody is found.
 * @param {Look} look
 * @returns {PlayerRefusal | null}
 */
export function lightFault({ contrast, median, bright }) {
  if (bright < MIN_BRIGHT) return "too_dark";
  return median > MAX_MEDIAN && contrast < MIN_BRIGHT_CONTRAST ? "too_bright" : null;
}
