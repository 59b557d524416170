/** @import { Bytes, Numbers } from "./pixels.js" */
/** @import { Crop, Rect } from "./rects.js" */

/**
 * A network's answer for a crop: how far each cell is what the network looks for, from 0 to 1, or log odds
 * where the mask's owner says so.
 * @typedef {object} Mask
 * @property {Numbers} values width x height
 * @property {number} width
 * @property {number} height
 * @property {Crop} crop its place in the photo, in search pixels
 */

/**
 * A grid of cells over an upright rectangle of the photo.
 * @typedef {object} Grid
 * @property {number} x left edge, in search pixels
 * @property {number} y upper edge, in search pixels
 * @property {number} width in cells
 * @property {number} height in cells
 * @property {number} step the side of a cell, in search pixels
 */

/**
 * The grid over a rectangle, with this many cells on its longer side.
 * @param {{ x?: number, y?: number, width: number, height: number }} rect @param {number} cells
 * @param {(side: number) => number} [whole] how many cells a side has that is no whole number of them
 * @returns {Grid}
 */
export function gridOver({ x = 0, y = 0, width, height }, cells, whole = Math.round) {
  const step = Math.max(width, height) / cells;
  return { x, y, width: Math.max(1, whole(width / step)), height: Math.max(1, whole(height / step)), step };
}

/**
 * The smallest rectangle around all cells of a grid above a half, in search pixels; null when there are none.
 * @param {Grid} grid @param {Numbers} values
 * @returns {Rect | null}
 */
export function boundsOn({ x, y, width, step }, values) {
  const cells = boundsAbove(values, width, 0.5);
  return (
    cells && {
      x: x + cells.x * step,
      y: y + cells.y * step,
      width: cells.width * step,
      height: cells.height * step,
    }
  );
}

/**
 * Samples a mask at the cells of a grid, bilinearly; 0 outside the mask's crop.
 * @param {Mask} mask @param {Grid} grid
 * @returns {Numbers}
 */
export function sampleMask(mask, grid) {
  const { width, height, crop } = mask;
  const cos = Math.cos(crop.rotation);
  const sin = Math.sin(crop.rotation);
  const out = new Float32Array(grid.width * grid.height);
  const perU = width / crop.width;
  const perV = height / crop.height;
  for (let row = 0, i = 0; row < grid.height; row++) {
    const dy = grid.y + (row + 0.5) * grid.step - crop.cy;
    const dx = grid.x + 0.5 * grid.step - crop.cx;
    let u = (dx * cos + dy * sin) * perU + width / 2 - 0.5;
    let v = (dy * cos - dx * sin) * perV + height / 2 - 0.5;
    for (let column = 0; column < grid.width; column++, i++) {
      if (u > -1 && v > -1 && u < width && v < height) out[i] = bilinear(mask, u, v);
      u += grid.step * perU * cos;
      v -= grid.step * perV * sin;
    }
  }
  return out;
}

/** @param {Mask} mask @param {number} u @param {number} v */
function bilinear({ values, width, height }, u, v) {
  const left = Math.max(0, Math.floor(u));
  const top = Math.max(0, Math.floor(v));
  const right = Math.min(width - 1, left + 1);
  const bottom = Math.min(height - 1, top + 1);
  const fu = Math.min(1, Math.max(0, u - left));
  const fv = Math.min(1, Math.max(0, v - top));
  const upper = values[top * width + left] * (1 - fu) + values[top * width + right] * fu;
  const lower = values[bottom * width + left] * (1 - fu) + values[bottom * width + right] * fu;
  return upper * (1 - fv) + lower * fv;
}

/**
 * The smallest rectangle around all cells above the threshold, in cells; null when there are none.
 * @param {Numbers | Bytes} values @param {number} width @param {number} threshold
 * @returns {Rect | null}
 */
export function boundsAbove(values, width, threshold) {
  const height = values.length / width;
  let left = width;
  let right = -1;
  let top = -1;
  let bottom = -1;
  for (let y = 0, row = 0; y < height; y++, row += width) {
    let x = 0;
    while (x < width && values[row + x] <= threshold) x++;
    if (x === width) continue;
    if (top < 0) top = y;
    bottom = y;
    if (x < left) left = x;
    let last = width - 1;
    while (last > right && values[row + last] <= threshold) last--;
    if (last > right) right = last;
  }
  return top < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}
