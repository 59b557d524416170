// Lights a pale wall as a photographer would: bright behind the head, and falling off to a cool grey.
import type { Box } from "../../../core/card.ts";
import { alphaOf, type Bytes, smoothStep } from "../../photo/page/pixels.ts";
import { distances, FAR } from "./distances.ts";
import { canvasOf } from "./light.ts";
import { within } from "./photo-window.ts";

/** Whether the wall is pale is asked at this part of the window's size, and its light drawn at this one. */
const ASKED_SCALE = 1 / 16;
const SCALE = 1 / 4;
/**
 * A wall is pale where at least this part of what is seen beside the player is this bright, and no more
 * colourful; of 255.
 */
const PALE = { part: 0.7, bright: 165, colourful: 45 };
/** What the light leaves of red, green and blue where it has fallen off. */
const FALLEN_OFF = [0.5, 0.54, 0.6];
/** From where to where it falls off, from the head's middle, in the window's widths and heights. */
const FALL = { from: 0.16, to: 0.95 };
/**
 * The light lies on all but the player. It ends inside the player, between these distances from the edge in
 * parts of the window's shorter side: hair and cloth at the edge lie on the same wall, so no line shows.
 */
const PLAYER = { from: 0.002, to: 0.02 };
/** Pixels around the small picture, where `distances` does not look. */
const MARGIN = 4;

/**
 * Lights the wall if it is pale; returns whether it is. A bare white wall looks unfinished on a card
 * (docs/decisions/0022-cutout-or-photo.md).
 * @param context the window's picture
 * @param silhouette the player's
 * @param style in pixels of the card
 */
export function lightPaleWall(
  context: OffscreenCanvasRenderingContext2D,
  silhouette: ImageBitmap,
  { window, player, face }: { window: Box; player: Box; face: Box },
): boolean {
  const { width, height } = context.canvas;
  if (!isPale(context.canvas, silhouette, within(player, window, ASKED_SCALE))) return false;
  const [w, h] = [Math.ceil(width * SCALE) + 2 * MARGIN, Math.ceil(height * SCALE) + 2 * MARGIN];
  const inside = depths(silhouetteIn(silhouette, within(player, window, SCALE), w, h), w, h);
  const { canvas, context: small } = canvasOf(w, h);
  const picture = small.createImageData(w, h);
  const at = within(face, window);
  const [x, y] = [(at.x + at.width / 2) / width, (at.y + at.height / 2) / height];
  const side = Math.min(width, height) * SCALE;
  for (let row = 0, i = 0; row < h; row++)
    for (let column = 0; column < w; column++, i++) {
      const [across, down] = [(column - MARGIN) / (w - 2 * MARGIN), (row - MARGIN) / (h - 2 * MARGIN)];
      // The margin goes on as the picture ends, since it is enlarged with it.
      const nearest = inPicture(row, h) * w + inPicture(column, w);
      const isWall = 1 - smoothStep(Number(inside[nearest]) / side, PLAYER.from, PLAYER.to);
      const fallen = isWall * smoothStep(Math.hypot(across - x, down - y), FALL.from, FALL.to);
      for (let channel = 0; channel < 3; channel++)
        picture.data[4 * i + channel] = 255 * (1 - fallen * (1 - Number(FALLEN_OFF[channel])));
      picture.data[4 * i + 3] = 255;
    }
  small.putImageData(picture, 0, 0);
  context.globalCompositeOperation = "multiply";
  context.imageSmoothingQuality = "medium";
  const [shownWidth, shownHeight] = [w / SCALE, h / SCALE];
  context.drawImage(canvas, -MARGIN / SCALE, -MARGIN / SCALE, shownWidth, shownHeight);
  context.globalCompositeOperation = "source-over";
  return true;
}

/** The nearest row or column that is not in the margin. */
const inPicture = (at: number, length: number) => Math.min(Math.max(at, MARGIN), length - MARGIN - 1);

/** The player's alpha, in the small window. */
function silhouetteIn(silhouette: ImageBitmap, at: Box, w: number, h: number) {
  const { context } = canvasOf(w, h);
  context.imageSmoothingQuality = "medium";
  context.drawImage(silhouette, MARGIN + at.x, MARGIN + at.y, at.width, at.height);
  return alphaOf(context.getImageData(0, 0, w, h).data as Bytes);
}

/**
 * Whether what is seen beside the player is a pale wall.
 * @param picture the window's
 * @param player in the small picture that is looked at
 */
function isPale(picture: OffscreenCanvas, silhouette: ImageBitmap, player: Box) {
  const [width, height] = [picture.width * ASKED_SCALE, picture.height * ASKED_SCALE];
  const [w, h] = [Math.ceil(width) + 2 * MARGIN, Math.ceil(height) + 2 * MARGIN];
  const alpha = silhouetteIn(silhouette, player, w, h);
  const { context } = canvasOf(w, h);
  // A sample of the pixels does, and a mean of all takes longer.
  context.imageSmoothingQuality = "low";
  context.drawImage(picture, MARGIN, MARGIN, width, height);
  const rgba = context.getImageData(0, 0, w, h).data as Bytes;
  let [seen, pale] = [0, 0];
  for (let y = MARGIN; y < h - MARGIN; y++)
    for (let x = MARGIN; x < w - MARGIN; x++) {
      const i = y * w + x;
      if (Number(alpha[i]) > 0) continue;
      const [r, g, b] = [Number(rgba[4 * i]), Number(rgba[4 * i + 1]), Number(rgba[4 * i + 2])];
      seen++;
      const isGrey = Math.max(r, g, b) - Math.min(r, g, b) < PALE.colourful;
      if (isGrey && (r + g + b) / 3 > PALE.bright) pale++;
    }
  return seen > 0 && pale >= PALE.part * seen;
}

/** How deep inside the player each pixel lies; where the window cuts the player, the player goes on. */
function depths(alpha: Bytes, w: number, h: number) {
  const depth = new Float32Array(w * h).fill(FAR);
  for (let y = MARGIN; y < h - MARGIN; y++)
    for (let x = MARGIN, i = y * w + x; x < w - MARGIN; x++, i++) if (Number(alpha[i]) < 128) depth[i] = 0;
  return distances(depth, w, h);
}
