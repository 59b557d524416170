// Runs inside the page. Type-checked through JSDoc, served as it is. Draws a die-cut player's outline: an
// even line around the silhouette, and a tight shadow on what the player stands before.
import { alphaOf } from "../photo/page/pixels.ts";
import { distances, FAR } from "./distances.js";
import { canvasOf, rgbOf } from "./light.js";

/** @import { Bytes } from "../photo/page/pixels.ts" */

/**
 * Lengths in pixels of the card: the player's box, the margin of the picture around it, the line's width, the
 * least radius of its inward curves, and the length in which the shadow's blur and drop are given.
 * @typedef {{ width: number, height: number, margin: number, line: number, round: number, shadow: number,
 *   colour: string, opacity: number }} OutlineStyle
 */

/** The shadow's opacity, and its blur and drop in that length. */
const TIGHT_SHADOW_OPACITY = 0.4;
const SHADOW_BLUR = 1.4;
const SHADOW_DROP = 0.9;

/**
 * The outline as the data URL of a picture that is `margin` wider than the player's box on each side.
 * @param {ImageBitmap} silhouette the player's
 * @param {OutlineStyle} style
 */
export function outlineOf(silhouette, style) {
  const { width, height, margin, line, colour, opacity } = style;
  const scale = Math.min(1, silhouette.width / width);
  const [w, h] = [Math.round((width + 2 * margin) * scale), Math.round((height + 2 * margin) * scale)];
  const { canvas, context } = canvasOf(w, h);
  context.imageSmoothingQuality = "medium";
  context.drawImage(silhouette, margin * scale, margin * scale, width * scale, height * scale);
  const picture = context.getImageData(0, 0, w, h);
  const alpha = alphaOf(/** @type {Bytes} */ (picture.data));
  const away = new Float32Array(w * h);
  // A pixel at the edge is covered by as much of the player as its middle lies within the edge.
  for (let i = 0; i < away.length; i++) away[i] = alpha[i] === 0 ? FAR : 0.5 - Number(alpha[i]) / 255;
  distances(away, w, h);
  const drawn = style.round > 0 ? rounded(away, w, h, style.round * scale) : away;
  const [r, g, b] = rgbOf(colour);
  for (let i = 0, k = 0; i < away.length; i++, k += 4) {
    picture.data[k] = r;
    picture.data[k + 1] = g;
    picture.data[k + 2] = b;
    picture.data[k + 3] = 255 * opacity * covered(line * scale - Number(drawn[i]));
  }
  context.putImageData(picture, 0, 0);
  castShadow(canvas, context, style.shadow * scale);
  return toDataUrl(canvas);
}

/**
 * The distances from a shape whose slits and notches are closed, since no scissors follow them: whatever a
 * disc of this radius cannot reach from outside.
 * @param {Float32Array} away the distances from the shape as it is @param {number} w @param {number} h
 * @param {number} radius
 */
function rounded(away, w, h, radius) {
  const outside = away.map((distance) => (distance < radius - 0.5 ? FAR : Math.max(-0.5, radius - distance)));
  return distances(outside, w, h).map((distance) => radius - distance);
}

/** How much of a pixel is covered whose middle lies this far within an edge. @param {number} inside */
const covered = (inside) => Math.min(1, Math.max(0, 0.5 + inside));

/**
 * Draws the picture's shadow below it.
 * @param {OffscreenCanvas} canvas @param {OffscreenCanvasRenderingContext2D} context @param {number} length
 */
function castShadow(canvas, context, length) {
  const under = canvasOf(canvas.width, canvas.height);
  under.context.filter = `blur(${SHADOW_BLUR * length}px)`;
  under.context.drawImage(canvas, 0, SHADOW_DROP * length);
  under.context.filter = "none";
  under.context.globalCompositeOperation = "source-in";
  under.context.fillStyle = `rgb(0 0 0 / ${TIGHT_SHADOW_OPACITY})`;
  under.context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalCompositeOperation = "destination-over";
  context.drawImage(under.canvas, 0, 0);
}

/** @param {OffscreenCanvas} drawn */
function toDataUrl(drawn) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [drawn.width, drawn.height];
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(drawn, 0, 0);
  return canvas.toDataURL();
}
