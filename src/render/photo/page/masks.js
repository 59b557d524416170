/**
 * Rows of numbers and of colour channels. The index signature spares every pixel loop a check against `undefined`,
 * which the compiler would otherwise ask for at each access.
 * @typedef {Float32Array<ArrayBuffer> & { [index: number]: any }} Numbers
 * @typedef {Uint8ClampedArray<ArrayBuffer> & { [index: number]: any }} Bytes
 * @typedef {Int32Array<ArrayBuffer> & { [index: number]: any }} Labels
 */

/**
 * What a network said about a square crop: 0 (not the player) to 1.
 * @typedef {object} Mask
 * @property {Numbers} values size x size
 * @property {number} size
 * @property {import("./networks.js").Crop} crop where the square lies, in search pixels
 */

/**
 * A grid over an upright rectangle of the photo. The rectangle is in search pixels.
 * @typedef {object} Grid
 * @property {number} x
 * @property {number} y
 * @property {number} width cells
 * @property {number} height cells
 * @property {number} step search pixels from one cell to the next
 */

/**
 * @typedef {object} Rect
 * @property {number} x
 * @property {number} y
 * @property {number} width
 * @property {number} height
 */

/**
 * Reads a mask on a grid, bilinearly; 0 outside the crop.
 * @param {Mask} mask
 * @param {Grid} grid
 * @returns {Numbers}
 */
export function sampleMask(mask, grid) {
  const { values, size, crop } = mask;
  const cos = Math.cos(crop.rotation);
  const sin = Math.sin(crop.rotation);
  const out = new Float32Array(grid.width * grid.height);
  const stepU = grid.step * (size / crop.width);
  const stepV = grid.step * (size / crop.height);
  for (let row = 0, i = 0; row < grid.height; row++) {
    const dy = grid.y + (row + 0.5) * grid.step - crop.cy;
    const dx = grid.x + 0.5 * grid.step - crop.cx;
    let u = (dx * cos + dy * sin) * (size / crop.width) + size / 2 - 0.5;
    let v = (dy * cos - dx * sin) * (size / crop.height) + size / 2 - 0.5;
    for (let column = 0; column < grid.width; column++, i++) {
      if (u > -1 && v > -1 && u < size && v < size) out[i] = bilinear(values, size, u, v);
      u += stepU * cos;
      v -= stepV * sin;
    }
  }
  return out;
}

/** @param {Numbers} values @param {number} size @param {number} u @param {number} v */
function bilinear(values, size, u, v) {
  const left = Math.max(0, Math.floor(u));
  const top = Math.max(0, Math.floor(v));
  const right = Math.min(size - 1, left + 1);
  const bottom = Math.min(size - 1, top + 1);
  const fu = Math.min(1, Math.max(0, u - left));
  const fv = Math.min(1, Math.max(0, v - top));
  const upper = values[top * size + left] * (1 - fu) + values[top * size + right] * fu;
  const lower = values[bottom * size + left] * (1 - fu) + values[bottom * size + right] * fu;
  return upper * (1 - fv) + lower * fv;
}

/**
 * The smallest rectangle of cells above the threshold, in cells; null when there is none.
 * @param {Numbers} values
 * @param {number} width
 * @param {number} threshold
 * @returns {Rect | null}
 */
export function boundsAbove(values, width, threshold) {
  const height = values.length / width;
  let left = width;
  let right = -1;
  let top = height;
  let bottom = -1;
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      if (values[i] <= threshold) continue;
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      bottom = y;
    }
  }
  return right < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/**
 * Labels the four-connected patches of cells for which `inside` holds: 1, 2, ... ; 0 elsewhere.
 * @param {number} width
 * @param {number} height
 * @param {(cell: number) => boolean} inside
 * @returns {{ labels: Labels, sizes: number[] }} `sizes[label]` in cells
 */
export function patches(width, height, inside) {
  /** @type {Labels} */
  const labels = new Int32Array(width * height);
  /** @type {Labels} */
  const stack = new Int32Array(width * height);
  const sizes = [0];
  for (let start = 0; start < labels.length; start++) {
    if (labels[start] || !inside(start)) continue;
    const label = sizes.length;
    let depth = 0;
    let cells = 0;
    const visit = (/** @type {number} */ cell) => {
      if (labels[cell] || !inside(cell)) return;
      labels[cell] = label;
      stack[depth++] = cell;
    };
    visit(start);
    while (depth > 0) {
      const cell = stack[--depth];
      const x = cell % width;
      cells++;
      if (x > 0) visit(cell - 1);
      if (x < width - 1) visit(cell + 1);
      if (cell >= width) visit(cell - width);
      if (cell < labels.length - width) visit(cell + width);
    }
    sizes.push(cells);
  }
  return { labels, sizes };
}

/**
 * The largest value within `radius` cells in both directions (a grey dilation by a square).
 * @param {Numbers} values
 * @param {number} width
 * @param {number} radius
 * @returns {Numbers}
 */
export function dilate(values, width, radius) {
  const height = values.length / width;
  const across = new Float32Array(values.length);
  const out = new Float32Array(values.length);
  slideMax(values, across, height, width, width, 1, radius);
  slideMax(across, out, width, height, 1, width, radius);
  return out;
}

/**
 * @param {Numbers} from @param {Numbers} to
 * @param {number} lines @param {number} length cells in a line
 * @param {number} lineStep @param {number} cellStep @param {number} radius
 */
function slideMax(from, to, lines, length, lineStep, cellStep, radius) {
  for (let line = 0; line < lines; line++) {
    const base = line * lineStep;
    for (let k = 0; k < length; k++) {
      let most = 0;
      const last = Math.min(length - 1, k + radius);
      for (let j = Math.max(0, k - radius); j <= last; j++) {
        const value = from[base + j * cellStep];
        if (value > most) most = value;
      }
      to[base + k * cellStep] = most;
    }
  }
}

/**
 * 0 below `low`, 1 above `high`, a smooth step between (3t^2 - 2t^3).
 * @param {number} value @param {number} low @param {number} high
 */
export function smoothStep(value, low, high) {
  const t = Math.max(0, Math.min(1, (value - low) / (high - low)));
  return t * t * (3 - 2 * t);
}
