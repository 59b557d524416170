// Runs inside the page. Type-checked through JSDoc, served as it is. What is around a player goes out of
// focus, as behind a fast lens.
import { canvasOf } from "./light.js";

/** @typedef {import("./photo-window.js").Box} Box */

/** How far out of focus the surroundings are, in heights of the face; ... */
const BLUR = 0.14;
/** ... at most by this part of the window's shorter side. */
const MAX_BLUR = 0.045;
/** So far around the foreground nothing flows into its surroundings, in the same. */
const MARGIN = 0.05;
/** The picture is reduced until its blur is so many pixels. */
const BLUR_PX = 3;
/**
 * What is near is sharp too: the foreground's mask blurred by so many heights of the face, drawn small so
 * that this is so many pixels, and laid over itself so often.
 */
const NEAR = { faces: 0.22, px: 3, times: 4 };

/**
 * Blurs all but the foreground. It is left out of the mean around each pixel, so that no colour of the player
 * flows out (normalized convolution: Knutsson and Westin, 1993).
 * @param {OffscreenCanvasRenderingContext2D} context what the window shows; changed in place
 * @param {HTMLImageElement} mask opaque where the foreground is
 * @param {Box} place the mask's in the window
 * @param {number} face its height in the window
 */
export function blurSurroundings(context, mask, place, face) {
  const { canvas } = context;
  const { width, height } = canvas;
  const blur = Math.min(BLUR * face, MAX_BLUR * Math.min(width, height));
  const soft = surroundings(canvas, mask, place, {
    scale: Math.min(1, BLUR_PX / blur),
    margin: MARGIN * face,
  });
  const { canvas: near, at } = nearness(mask, place, face);
  context.imageSmoothingQuality = "low";
  context.globalCompositeOperation = "destination-in";
  context.drawImage(near, at.x, at.y, at.width, at.height);
  context.globalCompositeOperation = "destination-over";
  context.drawImage(soft, 0, 0, width, height);
  context.globalCompositeOperation = "source-over";
}

/**
 * How near everything is to the foreground: opaque on it and close by, where a mask's faults would be seen,
 * and less with the distance.
 * @param {HTMLImageElement} mask
 * @param {Box} place
 * @param {number} face its height
 * @returns {{ canvas: OffscreenCanvas, at: Box }} `at`: where it lies, around the mask's place
 */
function nearness(mask, place, face) {
  const scale = NEAR.px / (NEAR.faces * face);
  // As far as the blur reaches.
  const pad = 3 * NEAR.px;
  const [w, h] = [place.width * scale, place.height * scale];
  const { canvas, context } = canvasOf(Math.ceil(w) + 2 * pad, Math.ceil(h) + 2 * pad);
  context.filter = `blur(${NEAR.px}px)`;
  for (let k = 0; k < NEAR.times; k++) context.drawImage(mask, pad, pad, w, h);
  const [width, height] = [canvas.width / scale, canvas.height / scale];
  return { canvas, at: { x: place.x - pad / scale, y: place.y - pad / scale, width, height } };
}

/**
 * The blurred picture without the foreground, reduced. Deep inside the foreground it is as it was.
 * @param {OffscreenCanvas} picture
 * @param {HTMLImageElement} mask
 * @param {Box} place
 * @param {{ scale: number, margin: number }} sizes of the reduced picture, and of what is left out around the
 *   foreground in pixels of the whole one
 */
function surroundings(picture, mask, place, { scale, margin }) {
  const [w, h] = [Math.ceil(picture.width * scale), Math.ceil(picture.height * scale)];
  // As far as the blur sees, the outermost pixels go on.
  const pad = 3 * BLUR_PX;
  const { canvas, context } = canvasOf(w + 2 * pad, h + 2 * pad);
  context.imageSmoothingQuality = "medium";
  context.drawImage(picture, pad, pad, w, h);
  context.drawImage(canvas, pad, pad, 1, h, 0, pad, pad, h);
  context.drawImage(canvas, pad + w - 1, pad, 1, h, pad + w, pad, pad, h);
  context.drawImage(canvas, 0, pad, canvas.width, 1, 0, 0, canvas.width, pad);
  context.drawImage(canvas, 0, pad + h - 1, canvas.width, 1, 0, pad + h, canvas.width, pad);
  const whole = canvasOf(w, h);
  whole.context.drawImage(canvas, -pad, -pad);
  context.globalCompositeOperation = "destination-out";
  context.filter = `blur(${Math.max(0.5, margin * scale)}px)`;
  const [x, y] = [pad + place.x * scale, pad + place.y * scale];
  // Thrice, so that the margin is left out wholly.
  for (let k = 0; k < 3; k++) context.drawImage(mask, x, y, place.width * scale, place.height * scale);
  const blurred = canvasOf(w, h);
  blurred.context.filter = `blur(${BLUR_PX}px)`;
  blurred.context.drawImage(canvas, -pad, -pad);
  // Beside the foreground the mean of the few pixels left is thin: over itself it becomes opaque.
  for (let k = 0; k < OVER_ITSELF; k++) whole.context.drawImage(blurred.canvas, 0, 0);
  return whole.canvas;
}

/** So often that where a third of the pixels is left, 9 of 10 parts are their mean. */
const OVER_ITSELF = 6;
