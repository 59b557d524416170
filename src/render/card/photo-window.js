// Runs inside the page. Type-checked through JSDoc, served as it is. The part of a photo that a card's window shows.
import { smoothStep } from "../photo/page/masks.js";
import { canvasOf } from "./light.js";

/** @typedef {{ x: number, y: number, width: number, height: number }} Box in pixels of the card */

/** Where the photo ends inside the window, its edge fades over this part of its side. */
const FADE_PART = 0.09;

/**
 * Draws the upright photo into a box.
 * @param {OffscreenCanvasRenderingContext2D} context @param {ImageBitmap} photo @param {number} quarters @param {Box} box
 */
function drawUpright(context, photo, quarters, { x, y, width, height }) {
  if (quarters === 0) return context.drawImage(photo, x, y, width, height);
  const [w, h] = quarters % 2 === 0 ? [width, height] : [height, width];
  context.save();
  context.translate(x + width / 2, y + height / 2);
  context.rotate((quarters * Math.PI) / 2);
  context.drawImage(photo, -w / 2, -h / 2, w, h);
  context.restore();
}

/** @param {Box} box @param {Box} window @param {number} scale @returns {Box} the box in the window's own pixels, scaled */
export function within(box, window, scale = 1) {
  return {
    x: (box.x - window.x) * scale,
    y: (box.y - window.y) * scale,
    width: box.width * scale,
    height: box.height * scale,
  };
}

/**
 * The part of the photo that the window shows. Where the photo ends it fades, but not the player.
 * @param {ImageBitmap} photo @param {HTMLImageElement} silhouette
 * @param {{ window: Box, photo: Box, player: Box, quarters: number }} style
 */
export function cropped(photo, silhouette, { window, photo: place, player, quarters }) {
  const { width, height } = window;
  const box = within(place, window);
  const field = canvasOf(width, height);
  field.context.imageSmoothingQuality = "high";
  const beyond = {
    left: box.x > 0.5,
    top: box.y > 0.5,
    right: box.x + box.width < width - 0.5,
    bottom: box.y + box.height < height - 0.5,
  };
  if (!beyond.left && !beyond.top && !beyond.right && !beyond.bottom) {
    drawUpright(field.context, photo, quarters, box);
    return field;
  }
  const inside = canvasOf(width, height);
  inside.context.imageSmoothingQuality = "high";
  drawUpright(inside.context, photo, quarters, box);
  inside.context.globalCompositeOperation = "destination-in";
  const fade = (
    /** @type {number} */ x0,
    /** @type {number} */ y0,
    /** @type {number} */ x1,
    /** @type {number} */ y1,
  ) => {
    const gradient = inside.context.createLinearGradient(x0, y0, x1, y1);
    for (let k = 0; k <= 8; k++) gradient.addColorStop(k / 8, `rgb(0 0 0 / ${smoothStep(k / 8, 0, 1)})`);
    inside.context.fillStyle = gradient;
    inside.context.fillRect(0, 0, width, height);
  };
  const [fw, fh] = [FADE_PART * Math.min(box.width, width), FADE_PART * Math.min(box.height, height)];
  if (beyond.left) fade(box.x, 0, box.x + fw, 0);
  if (beyond.right) fade(box.x + box.width, 0, box.x + box.width - fw, 0);
  if (beyond.top) fade(0, box.y, 0, box.y + fh);
  if (beyond.bottom) fade(0, box.y + box.height, 0, box.y + box.height - fh);
  field.context.drawImage(inside.canvas, 0, 0);
  // Hands and hair at the photo's edge do not fade.
  const own = within(player, window);
  inside.context.globalCompositeOperation = "source-over";
  inside.context.clearRect(0, 0, width, height);
  inside.context.drawImage(silhouette, own.x, own.y, own.width, own.height);
  inside.context.globalCompositeOperation = "source-in";
  drawUpright(inside.context, photo, quarters, box);
  field.context.drawImage(inside.canvas, 0, 0);
  return field;
}
