// Runs inside the page. Type-checked through JSDoc, served as it is. Draws a die-cut player's outline: an
// even line around the silhouette as on a sticker, a thin dark one around that, and a tight shadow.
import { alphaOf, below, patches } from "../photo/page/masks.js";
import { distances, FAR } from "./distances.js";
import { canvasOf, rgbOf } from "./light.js";

/** @import { Bytes } from "../photo/page/masks.js" */

/**
 * Lengths in pixels of the card: the player's box, the margin of the picture around it, the line's width, the
 * radius by which gaps between two lines are closed, the width of the line in gaps that the player encloses,
 * and of the dark line outside.
 * @typedef {{ width: number, height: number, margin: number, line: number, close: number, thin: number, dark:
 *   number, colour: string }} OutlineStyle
 */

const INSIDE_ALPHA = 128;
/** The opacities of the dark line and of the shadow, and the shadow's blur and drop in lines' widths. */
const DARK_OPACITY = 0.62;
const SHADOW_OPACITY = 0.5;
const SHADOW_BLUR = 0.55;
const SHADOW_DROP = 0.35;

/**
 * The outline as the data URL of a picture that is `margin` wider than the player's box on each side.
 * @param {HTMLImageElement} silhouette the player's, decoded
 * @param {OutlineStyle} style
 */
export function outlineOf(silhouette, { width, height, margin, line, close, thin, dark, colour }) {
  const scale = Math.min(1, silhouette.naturalWidth / width);
  const [w, h] = [Math.round((width + 2 * margin) * scale), Math.round((height + 2 * margin) * scale)];
  const { canvas, context } = canvasOf(w, h);
  context.imageSmoothingQuality = "medium";
  context.drawImage(silhouette, margin * scale, margin * scale, width * scale, height * scale);
  const picture = context.getImageData(0, 0, w, h);
  const alpha = alphaOf(/** @type {Bytes} */ (picture.data));
  const enclosed = enclosedBy(alpha, w, line * scale);
  const away = new Float32Array(w * h);
  // A pixel at the edge is covered by as much of the player as its middle lies within the edge.
  for (let i = 0; i < away.length; i++) away[i] = alpha[i] === 0 ? FAR : 0.5 - Number(alpha[i]) / 255;
  distances(away, w, h);
  const reach = (line + close) * scale;
  const within = new Float32Array(w * h);
  for (let i = 0; i < within.length; i++)
    within[i] =
      enclosed[i] || Number(away[i]) < reach - 0.5 ? FAR : Math.max(0, reach + 0.5 - Number(away[i]));
  distances(within, w, h);
  const [r, g, b] = rgbOf(colour);
  for (let i = 0, k = 0; i < within.length; i++, k += 4) {
    const light = covered(
      enclosed[i]
        ? (enclosed[i] === 1 ? thin * scale : -1) - Number(away[i])
        : Number(within[i]) - 0.5 - close * scale,
    );
    const black = enclosed[i] ? 0 : DARK_OPACITY * covered(Number(within[i]) - 0.5 - (close - dark) * scale);
    const opacity = light + black * (1 - light);
    const share = opacity > 0 ? light / opacity : 0;
    picture.data[k] = r * share;
    picture.data[k + 1] = g * share;
    picture.data[k + 2] = b * share;
    picture.data[k + 3] = 255 * opacity;
  }
  context.putImageData(picture, 0, 0);
  castShadow(canvas, context, line * scale);
  return toDataUrl(canvas);
}

/** How much of a pixel is covered whose middle lies this far within an edge. @param {number} inside */
const covered = (inside) => Math.min(1, Math.max(0, 0.5 + inside));

/**
 * Draws the picture's shadow below it.
 * @param {OffscreenCanvas} canvas @param {OffscreenCanvasRenderingContext2D} context @param {number} line
 */
function castShadow(canvas, context, line) {
  const under = canvasOf(canvas.width, canvas.height);
  under.context.filter = `blur(${SHADOW_BLUR * line}px)`;
  under.context.drawImage(canvas, 0, SHADOW_DROP * line);
  under.context.filter = "none";
  under.context.globalCompositeOperation = "source-in";
  under.context.fillStyle = `rgb(0 0 0 / ${SHADOW_OPACITY})`;
  under.context.fillRect(0, 0, canvas.width, canvas.height);
  context.globalCompositeOperation = "destination-over";
  context.drawImage(under.canvas, 0, 0);
}

/** A gap that the player encloses has a line of its own from this area on, in squared widths of the line. */
const LINED_GAP = 90;

/**
 * The pixels of gaps that the player encloses: 1 in large ones, 2 in small ones.
 * @param {Bytes} alpha
 * @param {number} w
 * @param {number} line
 */
function enclosedBy(alpha, w, line) {
  const n = alpha.length;
  const { labels, sizes } = patches(below(alpha, INSIDE_ALPHA), w);
  const enclosed = new Uint8Array(n);
  if (sizes.length <= 2) return enclosed;
  // The margin is all around, so the first pixel lies outside.
  for (let i = 0; i < n; i++)
    if (labels[i] && labels[i] !== labels[0])
      enclosed[i] = Number(sizes[labels[i]]) >= LINED_GAP * line * line ? 1 : 2;
  return enclosed;
}

/** @param {OffscreenCanvas} drawn */
function toDataUrl(drawn) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [drawn.width, drawn.height];
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")).drawImage(drawn, 0, 0);
  return canvas.toDataURL();
}
