// Runs inside the page. Type-checked through JSDoc, served as it is. Draws the photo itself as a card's ground: the background graded
// in the card's colours, the player as in the photo.
import { smoothStep } from "../photo/page/masks.js";
import { bitmapFile, canvasOf, rgbOf } from "./light.js";
import { cropped, within } from "./photo-window.js";

/** @import { Tones } from "../../core/card.ts" */
/** @typedef {import("./photo-window.js").Box} Box */

/**
 * @typedef {object} BackdropStyle
 * @property {Box} window what of the card the picture covers
 * @property {Box} photo where the whole upright photo lies
 * @property {0 | 1 | 2 | 3} quarters how often the photo is turned clockwise to be upright
 * @property {Box} player where the player's silhouette lies
 * @property {Box} face
 * @property {number} line where the plate begins: what is below it is dark
 * @property {Tones | null} tones what the photo's tones become, per channel, at equal steps from 0 to 255
 * @property {{ deep: string, mid: string, light: string, glow: string, accent: string }} colours
 */

/** The background is graded at half the size, which also softens it, and the player's mask is drawn at a quarter. */
const GROUND_SCALE = 1 / 2;
const MASK_SCALE = 1 / 4;

/** How far the background goes towards the card's colours, and how much richer its own are. */
const GRADE = { tint: 0.3, richer: 1.15 };
/** How far the background is out of focus, in parts of its width: the sharpest first, the others fill what the player leaves open. */
const FOCUS_BLURS = [0.008, 0.03, 0.1];
/** Luma (0 to 255) by which player and background should differ at least, and how far the background is moved for it at most. */
const LEAST_CONTRAST = 34;
const MAX_LIFT = 30;
const DARK_PLAYER = 84;

/**
 * The picture of `style.window`, as a BMP file.
 * @param {ImageBitmap} photo as the file shows it
 * @param {HTMLImageElement} silhouette the player's, decoded
 * @param {BackdropStyle} style
 */
export function backdropOf(photo, silhouette, style) {
  const { width, height } = style.window;
  const field = cropped(photo, style);
  if (style.tones) retone(field.context, style.tones, width, height);
  const mask = playerMask(silhouette, style);
  const { canvas: ground, context } = canvasOf(width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(gradedGround(field.canvas, mask, style), 0, 0, width, height);
  light(context, style);
  darkenEdges(context, style);
  openCorners(context, style);
  field.context.globalCompositeOperation = "destination-in";
  field.context.imageSmoothingQuality = "high";
  field.context.drawImage(mask.canvas, 0, 0, width, height);
  context.drawImage(field.canvas, 0, 0);
  darkenFoot(context, style);
  return bitmapFile(ground.getContext("2d")?.getImageData(0, 0, width, height) ?? new ImageData(1, 1));
}

/** @param {OffscreenCanvasRenderingContext2D} context @param {Tones} tones @param {number} width @param {number} height */
function retone(context, tones, width, height) {
  const picture = context.getImageData(0, 0, width, height);
  const { data } = picture;
  const [reds, greens, blues] = tones.map((knots) =>
    Uint8ClampedArray.from({ length: 256 }, (_, value) => {
      const at = (value / 255) * (knots.length - 1);
      const low = Math.min(knots.length - 2, Math.floor(at));
      return Number(knots[low]) + (Number(knots[low + 1]) - Number(knots[low])) * (at - low);
    }),
  );
  if (!reds || !greens || !blues) return;
  for (let k = 0; k < data.length; k += 4) {
    data[k] = Number(reds[Number(data[k])]);
    data[k + 1] = Number(greens[Number(data[k + 1])]);
    data[k + 2] = Number(blues[Number(data[k + 2])]);
  }
  context.putImageData(picture, 0, 0);
}

/** @typedef {{ canvas: OffscreenCanvas, values: Float32Array, w: number, h: number }} Mask */

/**
 * Where the player is, small: 1 inside, falling off softly across the edge, so that an error of the silhouette has no edge of its own.
 * @param {HTMLImageElement} silhouette @param {BackdropStyle} style
 * @returns {Mask}
 */
function playerMask(silhouette, { window, player }) {
  const [w, h] = [Math.round(window.width * MASK_SCALE), Math.round(window.height * MASK_SCALE)];
  const box = within(player, window, MASK_SCALE);
  const { canvas, context } = canvasOf(w, h);
  context.filter = `blur(${0.004 * w}px)`;
  context.drawImage(silhouette, box.x, box.y, box.width, box.height);
  const near = context.getImageData(0, 0, w, h).data;
  const picture = new ImageData(w, h);
  const values = new Float32Array(w * h);
  for (let i = 0, k = 3; i < values.length; i++, k += 4) {
    values[i] = smoothStep((Number(near[k]) / 255 - 0.32) / 0.6, 0, 1);
    picture.data[k] = 255 * Number(values[i]);
  }
  context.putImageData(picture, 0, 0);
  return { canvas, values, w, h };
}

/**
 * The background alone, out of focus: the player is taken out of it before it is blurred, so that nothing of the player's colours shines
 * around the player, and what is missing then comes from around.
 * @param {OffscreenCanvas} field @param {Mask} mask @param {number} w @param {number} h
 */
function outOfFocus(field, mask, w, h) {
  const open = canvasOf(w, h);
  open.context.imageSmoothingQuality = "medium";
  open.context.drawImage(field, 0, 0, w, h);
  open.context.globalCompositeOperation = "destination-out";
  open.context.filter = `blur(${0.004 * w}px)`;
  // Twice: nothing of the player's own edge may stay.
  open.context.drawImage(mask.canvas, 0, 0, w, h);
  open.context.drawImage(mask.canvas, 0, 0, w, h);
  const { canvas, context } = canvasOf(w, h);
  context.globalCompositeOperation = "destination-over";
  for (const blur of FOCUS_BLURS) {
    context.filter = `blur(${blur * w}px)`;
    for (let k = 0; k < 3; k++) context.drawImage(open.canvas, 0, 0);
  }
  context.filter = "none";
  context.drawImage(field, 0, 0, w, h);
  return canvas;
}

/**
 * The background in the card's light, at half the size.
 * @param {OffscreenCanvas} field @param {Mask} mask @param {BackdropStyle} style
 */
function gradedGround(field, mask, { window, colours }) {
  const [w, h] = [Math.round(window.width * GROUND_SCALE), Math.round(window.height * GROUND_SCALE)];
  const canvas = outOfFocus(field, mask, w, h);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const picture = context.getImageData(0, 0, w, h);
  const { data } = picture;
  const lift = liftFor(data, field, mask);
  const ramp = rampOf(colours);
  const { tint, richer } = GRADE;
  for (let k = 0; k < data.length; k += 4) {
    let [r, g, b] = [Number(data[k]), Number(data[k + 1]), Number(data[k + 2])];
    const luma = lumaAt(data, k);
    const wanted = Math.min(255, Math.max(0, luma + lift));
    const at = 3 * Math.round(wanted);
    r = wanted + (r - luma) * richer;
    g = wanted + (g - luma) * richer;
    b = wanted + (b - luma) * richer;
    data[k] = r + (Number(ramp[at]) - r) * tint;
    data[k + 1] = g + (Number(ramp[at + 1]) - g) * tint;
    data[k + 2] = b + (Number(ramp[at + 2]) - b) * tint;
  }
  context.globalCompositeOperation = "source-over";
  context.putImageData(picture, 0, 0);
  return canvas;
}

/**
 * How much brighter (or, below 0, darker) the background becomes so that the player stands out.
 * @param {Uint8ClampedArray} ground the background's pixels @param {OffscreenCanvas} field @param {Mask} mask
 */
function liftFor(ground, field, { values, w, h }) {
  const { context } = canvasOf(w, h);
  context.imageSmoothingQuality = "medium";
  context.drawImage(field, 0, 0, w, h);
  const { data } = context.getImageData(0, 0, w, h);
  let [own, area] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    if (Number(values[i]) < 0.9) continue;
    own += lumaAt(data, 4 * i);
    area++;
  }
  let sum = 0;
  for (let k = 0; k < ground.length; k += 64) sum += lumaAt(ground, k);
  if (area === 0) return 0;
  const difference = sum / (ground.length / 64) - own / area;
  if (Math.abs(difference) >= LEAST_CONTRAST) return 0;
  // Dark players stand before something lighter, all others before something darker: a card is lit from the front.
  const wanted = own / area < DARK_PLAYER ? LEAST_CONTRAST - difference : -LEAST_CONTRAST - difference;
  return Math.max(-MAX_LIFT, Math.min(MAX_LIFT, wanted));
}

/** @param {Uint8ClampedArray} data @param {number} k */
const lumaAt = (data, k) =>
  0.299 * Number(data[k]) + 0.587 * Number(data[k + 1]) + 0.114 * Number(data[k + 2]);

/** The colours that stand for each luma: from nearly black over the card's own to nearly white. @param {BackdropStyle["colours"]} colours */
function rampOf({ deep, mid, light }) {
  const [dark, middle, pale] = [deep, mid, light].map(rgbOf);
  const scaled = (/** @type {number[] | undefined} */ rgb, /** @type {number} */ by) =>
    (rgb ?? []).map((value) => value * by);
  const white = (pale ?? []).map((value) => value + (255 - value) * 0.5);
  const stops = /** @type {[number, number[]][]} */ ([
    [0, scaled(dark, 0.3)],
    [0.38, scaled(middle, 0.85)],
    [0.78, pale ?? []],
    [1, white],
  ]);
  const ramp = new Float32Array(3 * 256);
  for (let value = 0; value < 256; value++) {
    const at = value / 255;
    const next = Math.max(
      1,
      stops.findIndex(([to]) => at <= to),
    );
    const [from, low] = /** @type {[number, number[]]} */ (stops[next - 1]);
    const [to, high] = /** @type {[number, number[]]} */ (stops[next]);
    for (let c = 0; c < 3; c++)
      ramp[3 * value + c] = Number(low[c]) + (Number(high[c]) - Number(low[c])) * ((at - from) / (to - from));
  }
  return ramp;
}

/**
 * Fills the picture with a radial gradient.
 * @param {OffscreenCanvasRenderingContext2D} context @param {Box} size of the picture
 * @param {{ x: number, y: number, from: number, to: number }} circle its middle, and where the first and the last colour are
 * @param {[number, string][]} stops
 */
function spread(context, { width, height }, { x, y, from, to }, stops) {
  const gradient = context.createRadialGradient(x, y, from, x, y, to);
  for (const [at, colour] of stops) gradient.addColorStop(at, colour);
  context.fillStyle = gradient;
  context.fillRect(0, 0, width, height);
}

/** A place in the picture: across at the face's middle, down from `part` of the face, and so much of the picture further. */
const faceIn = (/** @type {BackdropStyle} */ { window, face }, /** @type {number} */ part, further = 0) => {
  const { x, y, width, height } = within(face, window);
  return { x: x + width / 2, y: y + height * part + further * window.height };
};

/**
 * Light in the card's colours, on the background only: from behind the head, and from both upper corners.
 * @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style
 */
function light(context, style) {
  const { window, colours } = style;
  const { width, height } = window;
  const [glow, accent, pale] = [colours.glow, colours.accent, colours.light].map((hex) =>
    rgbOf(hex).join(" "),
  );
  context.globalCompositeOperation = "screen";
  spread(context, window, { ...faceIn(style, 0.35), from: 0, to: 0.6 * Math.max(width, height) }, [
    [0, `rgb(${glow} / 0.26)`],
    [0.45, `rgb(${accent} / 0.1)`],
    [1, `rgb(${accent} / 0)`],
  ]);
  for (const x of [0, width])
    spread(context, window, { x, y: 0, from: 0, to: 0.7 * height }, [
      [0, `rgb(${x === 0 ? accent : pale} / 0.5)`],
      [0.5, `rgb(${pale} / 0.14)`],
      [1, `rgb(${pale} / 0)`],
    ]);
  context.globalCompositeOperation = "source-over";
}

/** A vignette around the player, on the background only. @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style */
function darkenEdges(context, style) {
  const { width, height } = style.window;
  const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
  const dark = darkOf(style.colours);
  spread(context, style.window, { ...faceIn(style, 0.5, 0.14), from: 0.4 * shorter, to: 0.95 * longer }, [
    [0, `rgb(${dark} / 0)`],
    [1, `rgb(${dark} / 0.62)`],
  ]);
}

/** How much of the drawn scene behind the photo shows at the window's corners. */
const SCENE_AT_CORNERS = 0.7;

/** Lets the card's drawn scene show at the window's corners. @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style */
function openCorners(context, style) {
  const longer = Math.max(style.window.width, style.window.height);
  context.globalCompositeOperation = "destination-out";
  spread(context, style.window, { ...faceIn(style, 0.5, 0.16), from: 0.42 * longer, to: 0.82 * longer }, [
    [0, "rgb(0 0 0 / 0)"],
    [1, `rgb(0 0 0 / ${SCENE_AT_CORNERS})`],
  ]);
  context.globalCompositeOperation = "source-over";
}

/** The dark on which the plate lies, and what is below it. @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style */
function darkenFoot(context, { window, line, colours }) {
  const edge = line - window.y;
  if (edge >= window.height) return;
  context.fillStyle = `rgb(${darkOf(colours)} / 0.94)`;
  context.fillRect(0, edge + FOOT_PX, window.width, window.height);
}

/** Below the plate's upper edge by this much, so that no dark line shows above it. */
const FOOT_PX = 4;

/** @param {BackdropStyle["colours"]} colours */
const darkOf = ({ deep }) =>
  rgbOf(deep)
    .map((value) => Math.round(value * 0.3))
    .join(" ");
