/**
 * Numbers, colour channels and labels, row by row. The index signature spares every pixel loop the checks
 * against `undefined` that the compiler would otherwise require at each access.
 * @typedef {Float32Array<ArrayBuffer> & { [index: number]: any }} Numbers
 * @typedef {Uint8ClampedArray<ArrayBuffer> & { [index: number]: any }} Bytes
 * @typedef {Int32Array<ArrayBuffer> & { [index: number]: any }} Labels
 * @typedef {Uint8Array<ArrayBuffer> & { [index: number]: any }} Flags 1 where something holds, 0 elsewhere
 * @typedef {Uint32Array & { [index: number]: any }} Words a pixel's four channels in one
 * @typedef {number[] & { [index: number]: any }} Sums one for each label
 */

// The loops over pixels in this file call no function that is made anew for each photo: the engine would have
// to compile such a function again for every photo.

/** As many zeros. @param {number} length @returns {Numbers} */
export const floats = (length) => new Float32Array(length);

/** Flags of which none is set. @param {number} length @returns {Flags} */
export const flags = (length) => new Uint8Array(length);

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
  const cells = flags(values.length);
  for (let i = 0; i < cells.length; i++) cells[i] = values[i] > threshold ? 1 : 0;
  return cells;
}

/**
 * Where values are below a threshold.
 * @param {Numbers | Bytes} values @param {number} threshold
 * @returns {Flags}
 */
export function below(values, threshold) {
  const cells = flags(values.length);
  for (let i = 0; i < cells.length; i++) cells[i] = values[i] < threshold ? 1 : 0;
  return cells;
}

/**
 * Labels the four-connected patches of cells that are inside 1, 2 and so on, and all other cells 0.
 * @param {Flags} inside @param {number} width
 * @returns {{ labels: Labels, sizes: Sums, sums: (values: Numbers | Flags) => Sums }} `sizes[label]` in
 *   cells, and what sums the values in each patch
 */
export function patches(inside, width) {
  const cells = inside.length;
  /** @type {Labels} */
  const labels = new Int32Array(cells);
  /** @type {Labels} */
  const stack = new Int32Array(cells);
  const sizes = /** @type {Sums} */ ([0]);
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
  return { labels, sizes, sums: (values) => sumsOf(labels, sizes, values) };
}

/**
 * For each label the sum of the values in its patch.
 * @param {Labels} labels @param {Sums} sizes @param {Numbers | Flags} values
 * @returns {Sums}
 */
function sumsOf(labels, sizes, values) {
  const sums = sizes.map(() => 0);
  for (let i = 0; i < labels.length; i++) if (labels[i]) sums[labels[i]] += values[i];
  return sums;
}

/**
 * 0 below `low`, 1 above `high`, and a smooth step (3t^2 - 2t^3) in between.
 * @param {number} value @param {number} low @param {number} high
 */
export function smoothStep(value, low, high) {
  const t = Math.max(0, Math.min(1, (value - low) / (high - low)));
  return t * t * (3 - 2 * t);
}

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
