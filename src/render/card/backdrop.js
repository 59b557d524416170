// Runs inside the page. Type-checked through JSDoc, served as it is. Draws the photo itself as a card's
// ground.
import { lumaOf, retone, toneTables } from "../photo/page/pixels.ts";
import { cropped, within } from "./photo-window.js";
import { lightPaleWall } from "./studio-light.js";

/** @import { Tones } from "../../core/card.ts" */
/** @typedef {import("./photo-window.js").Box} Box */

/**
 * @typedef {object} BackdropStyle
 * @property {Box} window what of the card the picture covers
 * @property {Box} photo where the whole upright photo lies
 * @property {0 | 1 | 2 | 3} quarters how often the photo is turned clockwise to be upright
 * @property {Box} player the rectangle of the player's silhouette
 * @property {Box} face
 * @property {number} line where the plate begins: what is below it is dark
 * @property {Tones | null} tones what the photo's tones become, per channel, at equal steps from 0 to 255
 * @property {boolean} isShaded whether its edges are darkened, or a pale wall lit, instead of leaving the
 *   photo as it was taken
 * @property {boolean} lightsWall whether the silhouette is good enough to light a pale wall behind the player
 */

/** The dark of a studio, red, green and blue: judges call a card's colours in a photo's corners stains. */
const SHADE = "12 14 18";
/** How dark the window's corners become. */
const EDGE_SHADE = 0.72;
/** No shade falls within this distance of the face's middle, in face heights. */
const CLEAR_FACES = 1.8;

/**
 * The picture of `style.window`.
 * @param {ImageBitmap} photo as the file shows it
 * @param {BackdropStyle} style
 * @param {ImageBitmap | null} silhouette the player's, where there is one
 */
export function backdropOf(photo, style, silhouette) {
  const context = cropped(photo, style);
  if (style.tones) grade(context, style.tones);
  const gap = Math.max(0, Math.round(style.photo.y - style.window.y));
  const isStriped = gap > 0 && !isPlain(context, gap);
  const isLit = style.lightsWall && silhouette !== null && lightPaleWall(context, silhouette, style);
  if (style.isShaded && !isLit) shadeEdges(context, style);
  if (isStriped) shadeTop(context, gap, style);
  darkenFoot(context, style);
  return context.canvas;
}

/**
 * Gives the picture its new tones, each between two of the knots.
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {Tones} tones
 */
function grade(context, tones) {
  const { width, height } = context.canvas;
  const picture = context.getImageData(0, 0, width, height);
  const tables = toneTables((channel, value) => {
    const knots = tones[channel] ?? [0, 255];
    const at = (value / 255) * (knots.length - 1);
    const low = Math.min(knots.length - 2, Math.floor(at));
    return Math.round(Number(knots[low]) + (Number(knots[low + 1]) - Number(knots[low])) * (at - low));
  });
  retone(new Uint32Array(picture.data.buffer), tables);
  context.putImageData(picture, 0, 0);
}

/**
 * The player's surroundings are the darker the further away, as in a studio.
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {BackdropStyle} style
 */
function shadeEdges(context, { window, face }) {
  const { width, height } = window;
  const at = within(face, window);
  const [x, y] = [at.x + at.width / 2, at.y + at.height / 2 + 0.1 * height];
  const from = Math.max(CLEAR_FACES * face.height, 0.3 * Math.min(width, height));
  const to = Math.max(from, 0.35 * Math.max(width, height)) + 0.45 * Math.max(width, height);
  const gradient = context.createRadialGradient(x, y, from, x, y, to);
  gradient.addColorStop(0, "rgb(255 255 255 / 0)");
  gradient.addColorStop(1, `rgb(${SHADE} / ${EDGE_SHADE})`);
  context.globalCompositeOperation = "multiply";
  context.fillStyle = gradient;
  context.fillRect(0, 0, width, height);
  context.globalCompositeOperation = "source-over";
}

/**
 * Where the photo ends below the window's upper edge, what goes on above it lies in the dark, as under
 * a stand's roof: drawn out, whatever is not plain there is stripes.
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {number} gap the height that the photo lacks, in pixels
 * @param {BackdropStyle} style
 */
function shadeTop(context, gap, { window }) {
  const gradient = context.createLinearGradient(0, 0, 0, ROOF_GAPS * gap);
  for (const [at, opacity] of ROOF) gradient.addColorStop(at, `rgb(${SHADE} / ${opacity})`);
  context.fillStyle = gradient;
  context.fillRect(0, 0, window.width, ROOF_GAPS * gap);
}

/** The opacities of that dark down to this many heights of what the photo lacks. */
const ROOF_GAPS = 1.6;
const ROOF = /** @type {const} */ ([
  [0, 0.96],
  [0.36, 0.86],
  [0.62, 0.55],
  [0.82, 0.14],
  [1, 0],
]);
/** A row is plain, as a sky is, while its brightness (0 to 255) deviates by no more than this. */
const PLAIN = 12;

/** @param {OffscreenCanvasRenderingContext2D} context @param {number} row */
function isPlain(context, row) {
  const { width } = context.canvas;
  const { data } = context.getImageData(0, row, width, 1);
  let [sum, squares] = [0, 0];
  for (let x = 0; x < width; x++) {
    const luma = lumaOf(data, x);
    sum += luma;
    squares += luma * luma;
  }
  return squares / width - (sum / width) ** 2 <= PLAIN * PLAIN;
}

/**
 * The dark on which the plate lies, and what is below it.
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {BackdropStyle} style
 */
function darkenFoot(context, { window, line }) {
  const edge = line - window.y;
  if (edge >= window.height) return;
  context.fillStyle = `rgb(${SHADE} / 0.94)`;
  context.fillRect(0, edge + FOOT_PX, window.width, window.height);
}

/** Below the plate's upper edge by this much, so that no dark line shows above it. */
const FOOT_PX = 4;
