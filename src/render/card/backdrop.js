// Runs inside the page. Type-checked through JSDoc, served as it is. Draws the photo itself as a card's
// ground, in the card's light.
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
 * @property {boolean} opens whether the card's scene takes the place of what is behind the player
 * @property {number} line where the plate begins: what is below it is dark
 * @property {Tones | null} tones what the photo's tones become, per channel, at equal steps from 0 to 255
 * @property {{ deep: string, light: string, accent: string }} colours
 */

/**
 * How the wall is found: at this part of the size, this far from the player, and filled in from ever further
 * away, in parts of the width.
 */
const WALL = { scale: 1 / 8, margin: 0.02, blurs: [0.02, 0.08, 0.3] };
/**
 * Up to the first part of something else a pixel is wall, from the second on it is not. Close to white and
 * black a wall leaves other colours little room; less than this, of 255, tells nothing.
 */
const KEY = { from: 0.06, to: 0.4, room: 110 };
/** The player's edge, which may hold wall, in parts of the window's shorter side. */
const INSIDE = 0.006;
/** What else is before the wall is further away from the player than about this, in the same parts. */
const NEAR = 0.02;
/** How far the wall opens, from near the face to further away, in face heights. */
const OPENING = { from: 0.7, to: 2, least: 0.9, most: 1 };
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
 * @param {HTMLImageElement} silhouette the player's, decoded
 * @param {BackdropStyle} style
 */
export function backdropOf(photo, silhouette, style) {
  const { width, height } = style.window;
  const context = cropped(photo, style);
  if (style.tones) retone(context, style.tones, width, height);
  if (style.opens) openWall(context, silhouette, style);
  else {
    lightCorners(context, style);
    tintEdges(context, style);
  }
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
 * Lets the card's drawn scene show through a plain wall, the more the further from the face: each pixel is
 * taken for a mixture of the wall and what is before it, which stays. The player's inside stays whatever its
 * colour.
 * @param {OffscreenCanvasRenderingContext2D} context
 * @param {HTMLImageElement} silhouette
 * @param {BackdropStyle} style
 */
function openWall(context, silhouette, style) {
  const { width, height } = style.window;
  const picture = context.getImageData(0, 0, width, height);
  const wall = wallBehind(context.canvas, silhouette, style);
  const inside = insideOf(silhouette, style);
  const near = nearTo(silhouette, style);
  const opening = openingOf(style);
  const { data } = picture;
  for (let k = 0; k < data.length; k += 4) {
    const open = Number(opening[k + 3]) * (255 - Number(inside[k + 3]));
    if (open === 0) continue;
    let part = 0;
    for (let c = k; c < k + 3; c++) {
      const [value, behind] = [Number(data[c]), Number(wall[c])];
      const room = Math.max(KEY.room, value < behind ? behind : 255 - behind);
      part = Math.max(part, Math.abs(value - behind) / room);
    }
    const before = (smoothStep(part, KEY.from, KEY.to) * Number(near[k + 3])) / 255;
    const alpha = 1 - (open / 65025) * (1 - before);
    for (let c = k; c < k + 3; c++)
      data[c] = (Number(data[c]) - (1 - alpha) * Number(wall[c])) / Math.max(alpha, 0.02);
    data[k + 3] = 255 * alpha;
  }
  context.putImageData(picture, 0, 0);
}

/**
 * The wall as it would be without the player: what is missing comes from around.
 * @param {OffscreenCanvas} field
 * @param {HTMLImageElement} silhouette
 * @param {BackdropStyle} style
 */
function wallBehind(field, silhouette, { window, player }) {
  const [w, h] = [Math.round(window.width * WALL.scale), Math.round(window.height * WALL.scale)];
  const box = within(player, window, WALL.scale);
  const open = canvasOf(w, h);
  open.context.drawImage(field, 0, 0, w, h);
  open.context.globalCompositeOperation = "destination-out";
  open.context.filter = `blur(${WALL.margin * w}px)`;
  // Several times: nothing of the player's own edge may stay.
  for (let k = 0; k < 3; k++) open.context.drawImage(silhouette, box.x, box.y, box.width, box.height);
  const { canvas, context } = canvasOf(w, h);
  context.globalCompositeOperation = "destination-over";
  for (const blur of WALL.blurs) {
    context.filter = `blur(${blur * w}px)`;
    for (let k = 0; k < 3; k++) context.drawImage(open.canvas, 0, 0);
  }
  return enlarged(canvas, window);
}

/** A small picture's pixels at the window's size. @param {OffscreenCanvas} small @param {Box} window */
function enlarged(small, { width, height }) {
  const { context } = canvasOf(width, height);
  context.imageSmoothingQuality = "medium";
  context.drawImage(small, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

/**
 * The player without the edge, as opacities.
 * @param {HTMLImageElement} silhouette
 * @param {BackdropStyle} style
 */
function insideOf(silhouette, { window, player }) {
  const { width, height } = window;
  const { context } = canvasOf(width, height);
  const box = within(player, window);
  const edge = INSIDE * Math.min(width, height);
  context.drawImage(silhouette, box.x, box.y, box.width, box.height);
  // What is further inside than the edge is wide stays in all of these.
  context.globalCompositeOperation = "destination-in";
  context.filter = `blur(${edge / 2}px)`;
  for (const [x, y] of [
    [-edge, 0],
    [edge, 0],
    [0, -edge],
    [0, edge],
  ])
    context.drawImage(silhouette, box.x + Number(x), box.y + Number(y), box.width, box.height);
  return context.getImageData(0, 0, width, height).data;
}

/**
 * What is near enough to the player to be hair or a hand, as opacities.
 * @param {HTMLImageElement} silhouette
 * @param {BackdropStyle} style
 */
function nearTo(silhouette, { window, player }) {
  const [w, h] = [Math.round(window.width * WALL.scale), Math.round(window.height * WALL.scale)];
  const box = within(player, window, WALL.scale);
  const { canvas, context } = canvasOf(w, h);
  context.filter = `blur(${NEAR * Math.min(w, h)}px)`;
  // The more often, the further out it is opaque.
  for (let k = 0; k < 4; k++) context.drawImage(silhouette, box.x, box.y, box.width, box.height);
  return enlarged(canvas, window);
}

/** How far the wall opens at each place, as opacities. @param {BackdropStyle} style */
function openingOf(style) {
  const { width, height } = style.window;
  const { context } = canvasOf(width, height);
  const { x, y } = faceIn(style);
  const { from, to, least, most } = OPENING;
  const size = Math.max(style.face.height, 0.3 * Math.min(width, height));
  spread(context, style.window, { x, y, from: from * size, to: to * size }, [
    [0, `rgb(0 0 0 / ${least})`],
    [1, `rgb(0 0 0 / ${most})`],
  ]);
  return context.getImageData(0, 0, width, height).data;
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
