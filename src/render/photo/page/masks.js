/**
 * Numbers, colour channels and labels, row by row. The index signature spares every pixel loop the checks
 * against `undefined` that the compiler would otherwise require at each access.
 * @typedef {Float32Array<ArrayBuffer> & { [index: number]: any }} Numbers
 * @typedef {Uint8ClampedArray<ArrayBuffer> & { [index: number]: any }} Bytes
 * @typedef {Int32Array<ArrayBuffer> & { [index: number]: any }} Labels
 * @typedef {Uint8Array<ArrayBuffer> & { [index: number]: any }} Flags 1 where something holds, 0 elsewhere
 */

// The loops over pixels in this file call no function that is made anew for each photo: the engine would have
// to compile such a function again for every photo.

/**
 * A network's answer for a crop: how far each cell is what the network looks for, from 0 to 1, or log odds
 * where the mask's owner says so.
 * @typedef {object} Mask
 * @property {Numbers} values width x height
 * @property {number} width
 * @property {number} height
 * @property {import("./networks.js").Crop} crop its place in the photo, in search pixels
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
 * @typedef {object} Rect
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 */

/**
 * The grid over a rectangle, with this many cells on its longer side.
 * @param {{ x?: number, y?: number, width: number, height: number }} rect
 * @param {number} cells
 * @param {(side: number) => number} [whole] how many cells a side has that is no whole number of them
 * @returns {Grid}
 */
export function gridOver({ x = 0, y = 0, width, height }, cells, whole = Math.round) {
  const step = Math.max(width, height) / cells;
  return { x, y, width: Math.max(1, whole(width / step)), height: Math.max(1, whole(height / step)), step };
}

/**
 * Samples a mask at the cells of a grid, bilinearly; 0 outside the mask's crop.
 * @param {Mask} mask
 * @param {Grid} grid
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
 * @param {Numbers | Bytes} values
 * @param {number} width
 * @param {number} threshold
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

/** A pixel's Rec. 601 luma, from 0 to 255. @param {Bytes} rgba @param {number} pixel */
export const lumaOf = (rgba, pixel) =>
  0.299 * Number(rgba[4 * pixel]) + 0.587 * Number(rgba[4 * pixel + 1]) + 0.114 * Number(rgba[4 * pixel + 2]);

/** @param {Bytes} rgba @returns {Bytes} */
export function alphaOf(rgba) {
  /** @type {Bytes} */
  const alpha = new Uint8ClampedArray(rgba.length / 4);
  for (let i = 0; i < alpha.length; i++) alpha[i] = rgba[4 * i + 3];
  return alpha;
}

/**
 * Where values are above a threshold.
 * @param {Numbers | Bytes} values @param {number} threshold
 * @returns {Flags}
 */
export function above(values, threshold) {
  /** @type {Flags} */
  const flags = new Uint8Array(values.length);
  for (let i = 0; i < flags.length; i++) flags[i] = values[i] > threshold ? 1 : 0;
  return flags;
}

/**
 * Where values are below a threshold.
 * @param {Numbers | Bytes} values @param {number} threshold
 * @returns {Flags}
 */
export function below(values, threshold) {
  /** @type {Flags} */
  const flags = new Uint8Array(values.length);
  for (let i = 0; i < flags.length; i++) flags[i] = values[i] < threshold ? 1 : 0;
  return flags;
}

/**
 * Labels the four-connected patches of cells that are inside 1, 2 and so on, and all other cells 0.
 * @param {Flags} inside @param {number} width
 * @returns {{ labels: Labels, sizes: number[] }} `sizes[label]` in cells
 */
export function patches(inside, width) {
  const cells = inside.length;
  /** @type {Labels} */
  const labels = new Int32Array(cells);
  /** @type {Labels} */
  const stack = new Int32Array(cells);
  const sizes = [0];
  for (let cell = 0; cell < cells; cell++) labels[cell] = inside[cell] ? -1 : 0;
  for (let start = 0; start < cells; start++) {
    if (labels[start] !== -1) continue;
    const label = sizes.length;
    let depth = 1;
    let size = 0;
    labels[start] = label;
    stack[0] = start;
    while (depth > 0) {
      const cell = stack[--depth];
      const x = cell % width;
      size++;
      // Each neighbour is labelled as it goes onto the stack, so that it goes there once.
      if (x > 0 && labels[cell - 1] === -1) {
        labels[cell - 1] = label;
        stack[depth++] = cell - 1;
      }
      if (x < width - 1 && labels[cell + 1] === -1) {
        labels[cell + 1] = label;
        stack[depth++] = cell + 1;
      }
      if (cell >= width && labels[cell - width] === -1) {
        labels[cell - width] = label;
        stack[depth++] = cell - width;
      }
      if (cell < cells - width && labels[cell + width] === -1) {
        labels[cell + width] = label;
        stack[depth++] = cell + width;
      }
    }
    sizes.push(size);
  }
  return { labels, sizes };
}

/**
 * For each label the sum of the values in its patch.
 * @param {Labels} labels @param {number[]} sizes @param {Numbers | Flags} values
 * @returns {number[]}
 */
export function sumsOf(labels, sizes, values) {
  const sums = sizes.map(() => 0);
  for (let i = 0; i < labels.length; i++) if (labels[i]) sums[labels[i]] += values[i];
  return sums;
}

/** @type {Map<string, Numbers>} */
const spares = new Map();

/**
 * Room for values that are not needed once a function has returned, kept for its next call: the system hands
 * out new memory page by page, and a photo has some seventy such calls. Holds what the last call left.
 * @param {string} name no two of the same name are in use at the same time
 * @param {number} length
 * @returns {Numbers}
 */
function spare(name, length) {
  const kept = spares.get(name);
  if (kept && kept.length >= length) return kept.subarray(0, length);
  /** @type {Numbers} */
  const made = new Float32Array(length);
  spares.set(name, made);
  return made;
}

/**
 * For each cell the largest value within `radius` cells across and down (a grey dilation by a square).
 *
 * The van Herk algorithm: with running maxima, forwards and backwards, within blocks as long as the window,
 * the maximum of any window is the larger of just two of them. Down the columns whole rows are compared,
 * since reading memory in order is several times faster than going down each column.
 * @param {Numbers} values
 * @param {number} width
 * @param {number} radius
 * @returns {Numbers}
 */
export function dilate(values, width, radius) {
  if (radius <= 0) return values.slice();
  const across = spare("across", values.length);
  writeGreatestAcross(across, values, width, radius);
  return greatestDown(across, width, radius);
}

/** @param {Numbers} out @param {Numbers} values @param {number} width @param {number} radius */
function writeGreatestAcross(out, values, width, radius) {
  const window = 2 * radius + 1;
  const lastBlock = width - 1 - ((width - 1) % window);
  /** @type {Numbers} */
  const ahead = new Float32Array(width);
  /** @type {Numbers} */
  const back = new Float32Array(width);
  for (let row = 0; row < values.length; row += width) {
    for (let start = 0; start < width; start += window) {
      const end = Math.min(width, start + window);
      let most = values[row + start];
      for (let x = start; x < end; x++) ahead[x] = most = Math.max(most, values[row + x]);
      most = values[row + end - 1];
      for (let x = end - 1; x >= start; x--) back[x] = most = Math.max(most, values[row + x]);
    }
    for (let x = 0; x < width; x++) {
      const last = x + radius < width ? x + radius : width - 1;
      if (x < radius) out[row + x] = ahead[last];
      else if (x - radius >= lastBlock) out[row + x] = back[x - radius];
      else out[row + x] = Math.max(back[x - radius], ahead[last]);
    }
  }
}

/** @param {Numbers} values @param {number} width @param {number} radius @returns {Numbers} */
function greatestDown(values, width, radius) {
  const height = values.length / width;
  const window = 2 * radius + 1;
  const lastBlock = height - 1 - ((height - 1) % window);
  const ahead = spare("ahead", values.length);
  const back = spare("back", values.length);
  ahead.set(values);
  back.set(values);
  for (let start = 0; start < height; start += window) {
    const end = Math.min(height, start + window);
    for (let y = start + 1; y < end; y++) includeRow(ahead, y * width, (y - 1) * width, width);
    for (let y = end - 2; y >= start; y--) includeRow(back, y * width, (y + 1) * width, width);
  }
  /** @type {Numbers} */
  const out = new Float32Array(values.length);
  for (let y = 0; y < height; y++) {
    const last = Math.min(height - 1, y + radius);
    const [plane, from] = y >= radius && y - radius >= lastBlock ? [back, y - radius] : [ahead, last];
    out.set(plane.subarray(from * width, (from + 1) * width), y * width);
    if (y < radius || y - radius >= lastBlock) continue;
    for (let i = y * width, j = (y - radius) * width, end = i + width; i < end; i++, j++)
      out[i] = Math.max(out[i], back[j]);
  }
  return out;
}

/**
 * Raises a row to the larger of itself and another one.
 * @param {Numbers} plane @param {number} row where it begins @param {number} other @param {number} width
 */
function includeRow(plane, row, other, width) {
  for (let i = row, j = other, end = row + width; i < end; i++, j++) plane[i] = Math.max(plane[i], plane[j]);
}

/**
 * 0 below `low`, 1 above `high`, and a smooth step (3t^2 - 2t^3) in between.
 * @param {number} value @param {number} low @param {number} high
 */
export function smoothStep(value, low, high) {
  const t = Math.max(0, Math.min(1, (value - low) / (high - low)));
  return t * t * (3 - 2 * t);
}

/** @typedef {Uint32Array & { [index: number]: any }} Words */

/**
 * For each channel what becomes of its 256 tones, each where a pixel has the channel as little-endian
 * processors read it: alpha, blue, green, red.
 * @param {(channel: number, tone: number) => number} toneOf
 */
export const toneTables = (toneOf) =>
  [0, 1, 2].map((channel) => {
    const table = /** @type {Words} */ (new Uint32Array(256));
    for (let tone = 0; tone < table.length; tone++) table[tone] = toneOf(channel, tone) << (8 * channel);
    return table;
  });

/**
 * Gives pixels their new tones, one at once; nothing is left of the colour of transparent ones.
 * @param {Words} pixels changed in place @param {Words[]} tables @param {number} [from] @param {number} [to]
 */
export function retone(pixels, [reds, greens, blues], from = 0, to = pixels.length) {
  if (!reds || !greens || !blues) return;
  for (let i = from; i < to; i++) {
    const pixel = pixels[i];
    const alpha = pixel & 0xff000000;
    pixels[i] = alpha
      ? alpha | blues[(pixel >>> 16) & 255] | greens[(pixel >>> 8) & 255] | reds[pixel & 255]
      : 0;
  }
}
