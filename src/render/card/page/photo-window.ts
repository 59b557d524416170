// The part of a photo that a card's window shows.

import type { Box } from "../../../core/card.ts";
import { smoothStep } from "../../photo/page/pixels.ts";
import { canvasOf } from "./light.ts";

/**
 * Where the photo ends inside the window, its outermost strip goes on, out of focus: this part of the
 * photo's side, drawn at this scale, blurred by this part of the window. At the sides, what takes less than
 * `run` of the photo's height does not go on.
 */
const BEYOND = { strip: 0.02, scale: 1 / 4, blur: 0.03, run: 0.2 };
/** The photo's edge fades into that over this part of the window. */
const FADE_PART = 0.07;

/** Draws the upright photo into a box. */
function drawUpright(
  context: OffscreenCanvasRenderingContext2D,
  photo: ImageBitmap,
  quarters: number,
  { x, y, width, height }: Box,
) {
  if (quarters === 0) return context.drawImage(photo, x, y, width, height);
  const [w, h] = quarters % 2 === 0 ? [width, height] : [height, width];
  context.save();
  context.translate(x + width / 2, y + height / 2);
  context.rotate((quarters * Math.PI) / 2);
  context.drawImage(photo, -w / 2, -h / 2, w, h);
  context.restore();
}

/** The box in the window's own pixels, scaled. */
export function within(box: Box, window: Box, scale = 1): Box {
  return {
    x: (box.x - window.x) * scale,
    y: (box.y - window.y) * scale,
    width: box.width * scale,
    height: box.height * scale,
  };
}

/**
 * The part of the photo that the window shows. Where the photo ends beside or above the player, its edge
 * goes on, out of focus.
 */
export function cropped(
  photo: ImageBitmap,
  { window, photo: place, quarters }: { window: Box; photo: Box; quarters: number },
) {
  const { width, height } = window;
  const box = within(place, window);
  const { canvas, context } = canvasOf(width, height);
  context.imageSmoothingQuality = "high";
  drawUpright(context, photo, quarters, box);
  const [right, bottom] = [box.x + box.width, box.y + box.height];
  const [endsLeft, endsTop, endsRight] = [box.x > 0.5, box.y > 0.5, right < width - 0.5];
  if (!endsLeft && !endsTop && !endsRight && bottom > height - 0.5) return context;
  const beyond = goneOn(canvas, box);
  const fade = FADE_PART * Math.min(width, height);
  context.globalCompositeOperation = "destination-in";
  if (endsLeft) fadeIn(context, { x: box.x, y: 0 }, { x: box.x + fade, y: 0 });
  if (endsTop) fadeIn(context, { x: 0, y: box.y }, { x: 0, y: box.y + fade });
  if (endsRight) fadeIn(context, { x: right, y: 0 }, { x: right - fade, y: 0 });
  context.globalCompositeOperation = "destination-over";
  context.drawImage(beyond, 0, 0, width, height);
  context.globalCompositeOperation = "source-over";
  return context;
}

/** Leaves nothing of the picture at `from`, and all of it at `to`. */
function fadeIn(
  context: OffscreenCanvasRenderingContext2D,
  from: { x: number; y: number },
  to: { x: number; y: number },
) {
  const gradient = context.createLinearGradient(from.x, from.y, to.x, to.y);
  for (let k = 0; k <= 8; k++) gradient.addColorStop(k / 8, `rgb(0 0 0 / ${smoothStep(k / 8, 0, 1)})`);
  context.fillStyle = gradient;
  context.fillRect(0, 0, context.canvas.width, context.canvas.height);
}

/**
 * A small picture of the window, out of focus, with the photo's outermost strips drawn out to its edges.
 * @param field the window with the photo in `box`
 */
function goneOn(field: OffscreenCanvas, box: Box) {
  const [w, h] = [Math.round(field.width * BEYOND.scale), Math.round(field.height * BEYOND.scale)];
  const blur = BEYOND.blur * Math.min(w, h);
  // The blur takes in what lies around the window.
  const margin = Math.ceil(3 * blur);
  const [fullWidth, fullHeight] = [w + 2 * margin, h + 2 * margin];
  const { canvas, context } = canvasOf(fullWidth, fullHeight);
  context.drawImage(field, margin, margin, w, h);
  const left = margin + Math.max(0, Math.ceil(box.x * BEYOND.scale));
  const top = margin + Math.max(0, Math.ceil(box.y * BEYOND.scale));
  const right = margin + Math.min(w, Math.floor((box.x + box.width) * BEYOND.scale));
  const bottom = margin + Math.min(h, Math.floor((box.y + box.height) * BEYOND.scale));
  const [wide, high] = [
    Math.max(2, Math.round(BEYOND.strip * (right - left))),
    Math.max(2, Math.round(BEYOND.strip * (bottom - top))),
  ];
  const height = bottom - top;
  const drawOut = (from: number, to: number, end: number) => {
    if (end > to) context.drawImage(settled(canvas, from, top, wide, height), to, top, end - to, height);
  };
  drawOut(left, 0, left);
  drawOut(right - wide, right, fullWidth);
  context.drawImage(canvas, 0, top, fullWidth, high, 0, 0, fullWidth, top);
  context.drawImage(canvas, 0, bottom - high, fullWidth, high, 0, bottom, fullWidth, fullHeight - bottom);
  const soft = canvasOf(w, h);
  soft.context.filter = `blur(${blur}px)`;
  soft.context.drawImage(canvas, -margin, -margin);
  return soft.canvas;
}

/**
 * One column of the colours that a strip of the picture has, without what is only on a few rows: drawn out,
 * a lock of hair that the photo's edge cuts would be a bar.
 */
function settled(picture: OffscreenCanvas, x: number, y: number, width: number, height: number) {
  const { canvas, context } = canvasOf(1, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, x, y, width, height, 0, 0, 1, height);
  const column = context.getImageData(0, 0, 1, height);
  const { data } = column;
  const before = data.slice();
  const reach = Math.round(BEYOND.run * height);
  for (let row = 0; row < height; row++) {
    // The column counts as going on beyond its ends, so that a shoulder at the lower end stays.
    const rows = Array.from({ length: 2 * reach + 1 }, (_, k) =>
      Math.min(height - 1, Math.max(0, row + k - reach)),
    );
    for (let channel = 0; channel < 3; channel++) {
      const values = Uint8Array.from(rows, (one) => Number(before[4 * one + channel])).sort();
      data[4 * row + channel] = Number(values[reach]);
    }
  }
  context.putImageData(column, 0, 0);
  return canvas;
}
