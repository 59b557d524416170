import { type Bytes, floats, type Numbers } from "./pixels.ts";
import { type Crop, type Rect, type Size, scaled } from "./rects.ts";

/**
 * A network's answer for a crop: how far each cell is what the network looks for, from 0 to 1, or log odds
 * where the mask's owner says so. Sizes are in cells.
 */
export interface Mask extends Size {
  values: Numbers;
  /** Its place in the photo, in search pixels. */
  crop: Crop;
}

/** A grid over an upright rectangle of the photo: `x` and `y` in search pixels, sizes in cells. */
export interface Grid extends Rect {
  /** The side of a cell, in search pixels. */
  step: number;
}

/**
 * The grid over a rectangle, with this many cells on its longer side.
 * @param whole how many cells a side has that is no whole number of them
 */
export function gridOver(
  { x = 0, y = 0, width, height }: Partial<Rect> & Size,
  cells: number,
  whole: (side: number) => number = Math.round,
): Grid {
  const step = Math.max(width, height) / cells;
  return { x, y, width: Math.max(1, whole(width / step)), height: Math.max(1, whole(height / step)), step };
}

/** The smallest rectangle around all cells above a half, in search pixels; null when there are none. */
export function boundsOn({ x, y, width, step }: Grid, values: Numbers): Rect | null {
  const cells = boundsAbove(values, width, 0.5);
  if (!cells) return null;
  const box = scaled(cells, step);
  return { ...box, x: x + box.x, y: y + box.y };
}

/** Samples a mask at the cells of a grid, bilinearly; 0 outside the mask's crop. */
export function sampleMask(mask: Mask, grid: Grid): Numbers {
  const { values, width, height, crop } = mask;
  const cos = Math.cos(crop.rotation);
  const sin = Math.sin(crop.rotation);
  const out = floats(grid.width * grid.height);
  const perU = width / crop.width;
  const perV = height / crop.height;
  for (let row = 0, i = 0; row < grid.height; row++) {
    const dy = grid.y + (row + 0.5) * grid.step - crop.cy;
    const dx = grid.x + 0.5 * grid.step - crop.cx;
    let u = (dx * cos + dy * sin) * perU + width / 2 - 0.5;
    let v = (dy * cos - dx * sin) * perV + height / 2 - 0.5;
    for (let column = 0; column < grid.width; column++, i++) {
      if (u > -1 && v > -1 && u < width && v < height) {
        // Truncation rounds down here: it only differs below 0, where the first cell is the nearest.
        const left = u | 0;
        const top = v | 0;
        const fu = u > left ? u - left : 0;
        const fv = v > top ? v - top : 0;
        const at = top * width + left;
        const right = left < width - 1 ? 1 : 0;
        const below = top < height - 1 ? width : 0;
        const upper = values[at] * (1 - fu) + values[at + right] * fu;
        const lower = values[at + below] * (1 - fu) + values[at + below + right] * fu;
        out[i] = upper * (1 - fv) + lower * fv;
      }
      u += grid.step * perU * cos;
      v -= grid.step * perV * sin;
    }
  }
  return out;
}

/** The smallest rectangle around all cells above the threshold, in cells; null when there are none. */
export function boundsAbove(values: Numbers | Bytes, width: number, threshold: number): Rect | null {
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
