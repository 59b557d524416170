// Runs inside the page. Type-checked through JSDoc, served as it is. Draws the photo itself as a card's ground: the player and what is
// near as in the photo, the rest out of focus, and the card's light and scene at the corners.
import { smoothStep } from "../photo/page/masks.js";
import { distances, FAR } from "./distances.js";
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
 * @property {{ deep: string, light: string, accent: string }} colours
 */

/** What is out of focus is drawn at a quarter of the size, and what is kept of the photo is found at an eighth. */
const GROUND_SCALE = 1 / 4;
const KEPT_SCALE = 1 / 8;
/** How far the background is out of focus, in parts of its width: the sharpest first, the others fill what the player leaves open. */
const FOCUS_BLURS = [0.008, 0.03, 0.1];
/** How much softer it goes on beyond the photo's edges. */
const BEYOND_BLUR = 0.05;
/**
 * What is kept as in the photo, in parts of the window's width: bays and gaps narrower than twice `bays`, as between arms and body; and
 * around the player all up to `from`, less and less up to `to`. So an error of the silhouette shows nowhere: where it ends, the photo goes on.
 */
const KEPT = { bays: 0.06, from: 0.01, to: 0.075 };
/** The player's part of a pixel, of 255, from which on it counts. */
const PLAYER_ALPHA = 96;
/** How much of the drawn scene behind the photo shows at the window's corners. */
const SCENE_AT_CORNERS = 0.7;
const VIGNETTE = 0.55;

/**
 * The picture of `style.window`, as a BMP file.
 * @param {ImageBitmap} photo as the file shows it
 * @param {HTMLImageElement} silhouette the player's, decoded
 * @param {BackdropStyle} style
 */
export function backdropOf(photo, silhouette, style) {
  const { width, height } = style.window;
  const field = cropped(photo, silhouette, style);
  if (style.tones) retone(field.context, style.tones, width, height);
  const { context } = canvasOf(width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(outOfFocus(field.canvas, silhouette, style), 0, 0, width, height);
  lightCorners(context, style);
  openCorners(context, style);
  field.context.globalCompositeOperation = "destination-in";
  field.context.imageSmoothingQuality = "high";
  field.context.drawImage(keptAround(silhouette, style), 0, 0, width, height);
  context.drawImage(field.canvas, 0, 0);
  darkenEdges(context, style);
  darkenFoot(context, style);
  return bitmapFile(context.getImageData(0, 0, width, height));
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

/**
 * How much of the photo is kept as it is, as the opacity of a small picture: see KEPT.
 * @param {HTMLImageElement} silhouette @param {BackdropStyle} style
 */
function keptAround(silhouette, { window, player }) {
  const [w, h] = [Math.round(window.width * KEPT_SCALE), Math.round(window.height * KEPT_SCALE)];
  const bay = KEPT.bays * w;
  // Beyond the window the player goes on, and so do bays.
  const margin = Math.ceil(bay) + 3;
  const [fullWidth, fullHeight] = [w + 2 * margin, h + 2 * margin];
  const { context } = canvasOf(fullWidth, fullHeight);
  const box = within(player, window, KEPT_SCALE);
  context.drawImage(silhouette, box.x + margin, box.y + margin, box.width, box.height);
  const { data } = context.getImageData(0, 0, fullWidth, fullHeight);
  const away = new Float32Array(fullWidth * fullHeight);
  for (let i = 0; i < away.length; i++) away[i] = Number(data[4 * i + 3]) > PLAYER_ALPHA ? 0 : FAR;
  const open = Float32Array.from(distances(away, fullWidth, fullHeight), (d) => (d < bay ? FAR : 0));
  distances(open, fullWidth, fullHeight);
  for (let i = 0; i < away.length; i++) away[i] = Number(open[i]) >= bay || away[i] === 0 ? 0 : FAR;
  distances(away, fullWidth, fullHeight);
  const kept = canvasOf(w, h);
  const picture = new ImageData(w, h);
  for (let y = 0, k = 3; y < h; y++)
    for (let x = 0; x < w; x++, k += 4) {
      const distance = Number(away[(y + margin) * fullWidth + x + margin]) / w;
      picture.data[k] = 255 * (1 - smoothStep((distance - KEPT.from) / (KEPT.to - KEPT.from), 0, 1));
    }
  kept.context.putImageData(picture, 0, 0);
  return kept.canvas;
}

/**
 * Goes on beyond the photo's edges: under it lies its own background, stretched over the whole picture and blurred further.
 * @param {OffscreenCanvas} canvas @param {OffscreenCanvasRenderingContext2D} context @param {Box} photo in its pixels
 */
function goOn(canvas, context, photo) {
  const { width, height } = canvas;
  const [left, top] = [Math.max(0, photo.x), Math.max(0, photo.y)];
  const right = Math.min(width, photo.x + photo.width);
  const bottom = Math.min(height, photo.y + photo.height);
  if (left < 1 && top < 1 && right > width - 1 && bottom > height - 1) return;
  const blur = BEYOND_BLUR * width;
  context.filter = `blur(${blur}px)`;
  // Larger, since the blur is transparent at the picture's own edges.
  const over = 2.5 * blur;
  for (let k = 0; k < 2; k++)
    context.drawImage(
      canvas,
      left,
      top,
      right - left,
      bottom - top,
      -over,
      -over,
      width + 2 * over,
      height + 2 * over,
    );
  context.filter = "none";
}

/**
 * The background alone, out of focus: the player is taken out of it before it is blurred, so that nothing of the player's colours shines
 * around the player, and what is missing then comes from around.
 * @param {OffscreenCanvas} field @param {HTMLImageElement} silhouette @param {BackdropStyle} style
 */
function outOfFocus(field, silhouette, { window, photo, player }) {
  const [w, h] = [Math.round(window.width * GROUND_SCALE), Math.round(window.height * GROUND_SCALE)];
  const box = within(player, window, GROUND_SCALE);
  const open = canvasOf(w, h);
  open.context.imageSmoothingQuality = "medium";
  open.context.drawImage(field, 0, 0, w, h);
  open.context.globalCompositeOperation = "destination-out";
  open.context.filter = `blur(${KEPT.from * w}px)`;
  // Twice: nothing of the player's own edge may stay.
  for (let k = 0; k < 2; k++) open.context.drawImage(silhouette, box.x, box.y, box.width, box.height);
  const { canvas, context } = canvasOf(w, h);
  context.globalCompositeOperation = "destination-over";
  for (const blur of FOCUS_BLURS) {
    context.filter = `blur(${blur * w}px)`;
    for (let k = 0; k < 3; k++) context.drawImage(open.canvas, 0, 0);
  }
  context.filter = "none";
  context.drawImage(field, 0, 0, w, h);
  goOn(canvas, context, within(photo, window, GROUND_SCALE));
  return canvas;
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

/** Light in the card's colours from both upper corners. @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style */
function lightCorners(context, { window, colours }) {
  const { width, height } = window;
  const [accent, pale] = [colours.accent, colours.light].map((hex) => rgbOf(hex).join(" "));
  context.globalCompositeOperation = "overlay";
  for (const x of [0, width])
    spread(context, window, { x, y: 0, from: 0, to: 0.7 * height }, [
      [0, `rgb(${x === 0 ? accent : pale} / 0.5)`],
      [0.5, `rgb(${pale} / 0.14)`],
      [1, `rgb(${pale} / 0)`],
    ]);
  context.globalCompositeOperation = "source-over";
}

/** A vignette around the player. @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style */
function darkenEdges(context, style) {
  const { width, height } = style.window;
  const [shorter, longer] = [Math.min(width, height), Math.max(width, height)];
  const dark = darkOf(style.colours);
  spread(context, style.window, { ...faceIn(style, 0.5, 0.14), from: 0.4 * shorter, to: 0.95 * longer }, [
    [0, `rgb(${dark} / 0)`],
    [1, `rgb(${dark} / ${VIGNETTE})`],
  ]);
}

/** Lets the card's drawn scene show at the window's corners. @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style */
function openCorners(context, style) {
  const longer = Math.max(style.window.width, style.window.height);
  context.globalCompositeOperation = "destination-out";
  spread(context, style.window, { ...faceIn(style, 0.5, 0.16), from: 0.4 * longer, to: 0.8 * longer }, [
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
