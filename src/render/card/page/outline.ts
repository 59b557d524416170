// A die-cut player's outline: an even line around the silhouette, and a tight shadow on what lies behind.

import { alphaOf, type Bytes } from "../../photo/page/pixels.ts";
import { distances, FAR } from "./distances.ts";
import { canvasOf, rgbOf } from "./light.ts";

/** Lengths in pixels of the card. */
export interface OutlineStyle {
  /** Of the player's box. */
  width: number;
  height: number;
  /** What the picture has around that box. */
  margin: number;
  /** The line's width. */
  line: number;
  /** The least radius of its inward curves. */
  round: number;
  /** The unit of the shadow's blur and drop. */
  shadow: number;
  colour: string;
  opacity: number;
}

/** The shadow's opacity, and its blur and drop in units of `shadow`. */
const TIGHT_SHADOW_OPACITY = 0.4;
const SHADOW_BLUR = 1.4;
const SHADOW_DROP = 0.9;

/** The outline as a data URL. The picture is `margin` wider than the player's box on each side. */
export function outlineOf(silhouette: ImageBitmap, style: OutlineStyle) {
  const { width, height, margin, line, colour, opacity } = style;
  const scale = Math.min(1, silhouette.width / width);
  const [w, h] = [Math.round((width + 2 * margin) * scale), Math.round((height + 2 * margin) * scale)];
  const { canvas, context } = canvasOf(w, h);
  context.imageSmoothingQuality = "medium";
  context.drawImage(silhouette, margin * scale, margin * scale, width * scale, height * scale);
  const picture = context.getImageData(0, 0, w, h);
  const alpha = alphaOf(picture.data as Bytes);
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
 * The distances from the same shape with its slits and notches closed, since no scissors follow them: closed
 * is whatever a disc of this radius cannot reach from outside.
 * @param away the distances from the shape as it is
 */
function rounded(away: Float32Array, w: number, h: number, radius: number) {
  const outside = away.map((distance) => (distance < radius - 0.5 ? FAR : Math.max(-0.5, radius - distance)));
  return distances(outside, w, h).map((distance) => radius - distance);
}

/** How much of a pixel is covered when its middle lies this far inside an edge. */
const covered = (inside: number) => Math.min(1, Math.max(0, 0.5 + inside));

/** Draws the picture's shadow below it. */
function castShadow(canvas: OffscreenCanvas, context: OffscreenCanvasRenderingContext2D, length: number) {
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

function toDataUrl(drawn: OffscreenCanvas) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [drawn.width, drawn.height];
  (canvas.getContext("2d") as CanvasRenderingContext2D).drawImage(drawn, 0, 0);
  return canvas.toDataURL();
}
