import { patches } from "./masks.js";

/** @import { CutoutQuality } from "../../../core/card.ts" */
/** @import { Bytes, Rect } from "./masks.js" */

/** Faults are counted on a grid of this many cells on the longer side. */
const GRID_CELLS = 256;
/** Pixels are solid from this alpha on, and open below the other. */
const SOLID = 128;
const OPEN = 64;
/** Nothing shows through a face from this alpha on. */
const OPAQUE = 250;

/**
 * What can be measured of a cutout without knowing the truth.
 * @param {Bytes} alpha @param {number} width @param {Rect} face in the same pixels: brow to chin, ear to ear
 * @returns {CutoutQuality}
 */
export function measureQuality(alpha, width, face) {
  const height = alpha.length / width;
  const step = Math.max(1, Math.max(width, height) / GRID_CELLS);
  const [columns, rows] = [Math.floor(width / step), Math.floor(height / step)];
  const at = (/** @type {number} */ cell) => {
    const y = Math.floor((Math.floor(cell / columns) + 0.5) * step);
    return alpha[y * width + Math.floor(((cell % columns) + 0.5) * step)];
  };
  const solid = patches(columns * rows, columns, (cell) => at(cell) >= SOLID).sizes;
  const area = Math.max(
    1,
    solid.slice(1).reduce((sum, size) => sum + size, 0),
  );
  const open = patches(columns * rows, columns, (cell) => at(cell) < OPEN);
  const outside = new Set([0]);
  for (let x = 0; x < columns; x++) outside.add(open.labels[x]).add(open.labels[(rows - 1) * columns + x]);
  for (let y = 0; y < rows; y++)
    outside.add(open.labels[y * columns]).add(open.labels[(y + 1) * columns - 1]);
  const holes = open.sizes.reduce((sum, size, label) => sum + (outside.has(label) ? 0 : size), 0);
  return {
    head: opaquePart(alpha, width, face),
    holes: holes / area,
    islands: 1 - Math.max(0, ...solid.slice(1)) / area,
  };
}

/**
 * Makes a face opaque: nothing that was known when its edge was drawn is surer than the face itself.
 * @param {Bytes} rgba changed in place @param {number} width @param {Rect} face in pixels
 */
export function fillFace(rgba, width, face) {
  forFace(rgba.length / 4, width, face, (pixel) => {
    rgba[4 * pixel + 3] = 255;
  });
}

/** @param {Bytes} alpha @param {number} width @param {Rect} face */
function opaquePart(alpha, width, face) {
  let opaque = 0;
  let pixels = 0;
  forFace(alpha.length, width, face, (pixel) => {
    pixels++;
    if (alpha[pixel] >= OPAQUE) opaque++;
  });
  return pixels > 0 ? opaque / pixels : 0;
}

/** So far out from the middle of its box to the border a face is surely a face. */
const SURE_PART = 0.8;

/** @param {number} pixels @param {number} width @param {Rect} face @param {(pixel: number) => void} visit */
function forFace(pixels, width, { x, y, width: across, height: down }, visit) {
  const [cx, cy] = [x + across / 2, y + down / 2];
  const [rx, ry] = [(SURE_PART * across) / 2, (SURE_PART * down) / 2];
  const height = pixels / width;
  for (let v = Math.max(0, Math.ceil(cy - ry)); v <= Math.min(height - 1, cy + ry); v++) {
    const reach = rx * Math.sqrt(Math.max(0, 1 - ((v - cy) / ry) ** 2));
    for (let u = Math.max(0, Math.ceil(cx - reach)); u <= Math.min(width - 1, cx + reach); u++)
      visit(v * width + u);
  }
}
