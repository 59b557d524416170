import { BACKDROP, canvasOf, contextOf, pixelsPerSearchPx } from "./decode.js";
import { headBox } from "./framing.js";
import { sampleMask } from "./masks.js";

/** @import { Photo } from "./decode.js" */
/** @import { Finding } from "./examine.js" */
/** @import { Rect } from "./masks.js" */

/** The face is measured at this side in pixels, about its size on the smallest card. */
const FACE_PX = 64;
/** A face with this many pixels looks at FACE_PX as it does with more. */
export const SHARP_FACE_PX = 2 * FACE_PX;

/**
 * What a face looks like in a photo, measured at FACE_PX. Brightness is from 0 to 255.
 * @typedef {object} Look
 * @property {number} sharpness strength of the finest details relative to the contrast: 0.3 to 1 in sharp photos, below 0.15 in blurred ones
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
  // Rec. 601 luma.
  const grey = Float32Array.from(
    { length: FACE_PX * FACE_PX },
    (_, i) => 0.299 * Number(data[4 * i]) + 0.587 * Number(data[4 * i + 1]) + 0.114 * Number(data[4 * i + 2]),
  );
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

/** Neighbouring pixels that differ by more than this in any channel, of 255, form an outline. */
const OUTLINE_STEP = 40;
/** Smaller bodies are full of hard lines anyway: in a small picture every fold is one. */
const MIN_DRAWN_HEIGHT_PX = 250;
/**
 * The fraction of a body's pixels that are outlines. Of 100 photographed people, 98 had at most 0.16 and one had 0.21;
 * drawn and painted people have a quarter. The stricter limit is for faces scored below CLEAR_FACE_SCORE, which may be
 * drawn: real faces of people with hard lines all over score 0.77 or more.
 */
const DRAWN_PART = 0.2;
const DRAWN_PART_BELOW_CLEAR_FACE = 0.25;
const CLEAR_FACE_SCORE = 0.75;
/**
 * Kit in loud colours and patterned shirts have as many hard lines. Of bodies that do, photographed people score at least this as
 * people when their face is clear; drawn people, and drawn faces on a photographed body, do not.
 */
const SURE_PERSON_SCORE = 0.96;

/**
 * Whether a body is full of hard lines, as in a drawing. False when there is no pose, or no doubt of a photographed person.
 * @param {OffscreenCanvas} picture @param {Finding} finding
 */
export function isDrawn(picture, { detector, pose, body, face }) {
  const isClear = (face?.score ?? 0) >= CLEAR_FACE_SCORE;
  if (!pose || body.height < MIN_DRAWN_HEIGHT_PX || (isClear && detector >= SURE_PERSON_SCORE)) return false;
  const { width, height } = picture;
  const { data } = contextOf(picture).getImageData(0, 0, width, height);
  const step = Math.max(1, Math.round(Math.max(width, height) / 200));
  const grid = { x: 0, y: 0, width: Math.ceil(width / step), height: Math.ceil(height / step), step };
  const posed = sampleMask(pose.mask, grid);
  let pixels = 0;
  let outlines = 0;
  // Every second row is as telling and takes half the time.
  for (let y = 0; y < height - 1; y += 2) {
    const row = Math.floor(y / step) * grid.width;
    for (let x = 0; x < width - 1; x++) {
      if (!(posed[row + Math.floor(x / step)] > 0.9)) continue;
      pixels++;
      const at = 4 * (y * width + x);
      if (isHardLine(data, at, at + 4) || isHardLine(data, at, at + 4 * width)) outlines++;
    }
  }
  return outlines > (isClear ? DRAWN_PART_BELOW_CLEAR_FACE : DRAWN_PART) * pixels;
}

/** @param {Uint8ClampedArray} data @param {number} one @param {number} other */
function isHardLine(data, one, other) {
  for (let k = 0; k < 3; k++)
    if (Math.abs(Number(data[one + k]) - Number(data[other + k])) > OUTLINE_STEP) return true;
  return false;
}

/** The player's face, or the middle of the head when no face was detected. @param {Finding} player @returns {Rect} */
export function faceBox(player) {
  if (player.face) return player.face;
  const head = headBox(player);
  return { ...head, y: head.y + 0.3 * head.height, height: 0.6 * head.height };
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
