// Runs inside the page. Type-checked through JSDoc, served as it is. Draws the photo itself as a card's
// ground, in the card's light.
import { lumaOf } from "../photo/page/masks.js";
import { bitmapFile, canvasOf, rgbOf } from "./light.js";
import { cropped, within } from "./photo-window.js";

/** @import { Tones } from "../../core/card.ts" */
/** @typedef {import("./photo-window.js").Box} Box */

/**
 * @typedef {object} BackdropStyle
 * @property {Box} window what of the card the picture covers
 * @property {Box} photo where the whole upright photo lies
 * @property {0 | 1 | 2 | 3} quarters how often the photo is turned clockwise to be upright
 * @property {Box} face
 * @property {number} line where the plate begins: what is below it is dark
 * @property {Tones | null} tones what the photo's tones become, per channel, at equal steps from 0 to 255
 * @property {boolean} isPlain whether it keeps its own colours
 * @property {{ deep: string, light: string, accent: string }} colours
 */

/** How strongly the card's colour tints the photo at the window's corners. */
const TINT = 0.55;
/**
 * Around the face's middle, no light within the first distance and all of it beyond the second, in face
 * heights.
 */
const HEAD_FACES = { from: 0.9, to: 1.8 };

/**
 * The picture of `style.window`, as a BMP file.
 * @param {ImageBitmap} photo as the file shows it
 * @param {BackdropStyle} style
 */
export function backdropOf(photo, style) {
  const { width, height } = style.window;
  const context = cropped(photo, style);
  if (style.tones) retone(context, style.tones, width, height);
  const gap = Math.max(0, Math.round(style.photo.y - style.window.y));
  const isStriped = gap > 0 && !isPlain(context, gap);
  if (!style.isPlain) {
    lightCorners(context, style);
    tintEdges(context, style);
  }
  if (isStriped) shadeTop(context, gap, style);
  darkenFoot(context, style);
  return bitmapFile(context.getImageData(0, 0, width, height));
}

/**
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {Tones} tones
 * @param {number} width
 * @param {number} height
 */
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
 * Fills the picture with a radial gradient.
 * @param {OffscreenCanvasRenderingContext2D} context @param {Box} size of the picture
 * @param {{ x: number, y: number, from: number, to: number }} circle its middle, and where the first and the
 *   last colour are
 * @param {[number, string][]} stops
 */
function spread(context, { width, height }, { x, y, from, to }, stops) {
  const gradient = context.createRadialGradient(x, y, from, x, y, to);
  for (const [at, colour] of stops) gradient.addColorStop(at, colour);
  context.fillStyle = gradient;
  context.fillRect(0, 0, width, height);
}

/**
 * @param {BackdropStyle} style
 * @returns {{ x: number, y: number }} the middle of the face, in the picture's pixels
 */
function faceIn({ window, face }) {
  const { x, y, width, height } = within(face, window);
  return { x: x + width / 2, y: y + height / 2 };
}

/**
 * Light in the card's colours from both upper corners. None falls on the head, of which the part above the
 * window is shown as it is.
 * @param {OffscreenCanvasRenderingContext2D} context @param {BackdropStyle} style
 */
function lightCorners(context, style) {
  const { width, height } = style.window;
  const light = canvasOf(width, height);
  const [accent, pale] = [style.colours.accent, style.colours.light].map((hex) => rgbOf(hex).join(" "));
  for (const x of [0, width])
    spread(light.context, style.window, { x, y: 0, from: 0, to: 0.7 * height }, [
      [0, `rgb(${x === 0 ? accent : pale} / 0.5)`],
      [0.5, `rgb(${pale} / 0.14)`],
      [1, `rgb(${pale} / 0)`],
    ]);
  light.context.globalCompositeOperation = "destination-out";
  const { from, to } = HEAD_FACES;
  const head = { ...faceIn(style), from: from * style.face.height, to: to * style.face.height };
  spread(light.context, style.window, head, [
    [0, "rgb(0 0 0 / 1)"],
    [1, "rgb(0 0 0 / 0)"],
  ]);
  context.globalCompositeOperation = "overlay";
  context.drawImage(light.canvas, 0, 0);
  context.globalCompositeOperation = "source-over";
}

/**
 * The player's surroundings take on the card's colour, the more the further away.
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {BackdropStyle} style
 */
function tintEdges(context, style) {
  const { width, height } = style.window;
  const { x, y } = faceIn(style);
  const from = Math.max(HEAD_FACES.to * style.face.height, 0.3 * Math.min(width, height));
  const to = Math.max(from, 0.35 * Math.max(width, height)) + 0.45 * Math.max(width, height);
  context.globalCompositeOperation = "multiply";
  spread(context, style.window, { x, y: y + 0.1 * height, from, to }, [
    [0, "rgb(255 255 255 / 0)"],
    [1, `rgb(${rgbOf(style.colours.deep).join(" ")} / ${TINT})`],
  ]);
  context.globalCompositeOperation = "source-over";
}

/**
 * Where the photo ends below the window's upper edge, what goes on above it lies in the card's dark, as under
 * a stand's roof: drawn out, whatever is not plain there is stripes.
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {number} gap the height that the photo lacks, in pixels
 * @param {BackdropStyle} style
 */
function shadeTop(context, gap, { window, colours }) {
  const dark = rgbOf(colours.deep).map((value) => Math.round(value * ROOF_DARK));
  const gradient = context.createLinearGradient(0, 0, 0, ROOF_GAPS * gap);
  for (const [at, opacity] of ROOF) gradient.addColorStop(at, `rgb(${dark.join(" ")} / ${opacity})`);
  context.fillStyle = gradient;
  context.fillRect(0, 0, window.width, ROOF_GAPS * gap);
}

/** How dark that is, and its opacities down to this many heights of what the photo lacks. */
const ROOF_DARK = 0.6;
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
function darkenFoot(context, { window, line, colours }) {
  const edge = line - window.y;
  if (edge >= window.height) return;
  const dark = rgbOf(colours.deep).map((value) => Math.round(value * 0.3));
  context.fillStyle = `rgb(${dark.join(" ")} / 0.94)`;
  context.fillRect(0, edge + FOOT_PX, window.width, window.height);
}

/** Below the plate's upper edge by this much, so that no dark line shows above it. */
const FOOT_PX = 4;
