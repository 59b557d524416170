import { boxBlur, smoothStep } from "./masks.js";

/** @import { Bytes, Numbers } from "./masks.js" */

/**
 * Radii of the squares over which colours are averaged, in pairs of cells; a wider one only counts where the
 * narrower ones hold too few sure cells.
 */
const REACHES = [1, 3, 9, 27];
/** The part of a square that must be sure for its mean to count fully. */
const ENOUGH_WEIGHT = 0.1;

/**
 * The mean colours of player and background around each cell, taken from cells that are surely one or the
 * other: the two colours that are mixed at the edge. After M. Forte, "Approximate Fast Foreground Colour
 * Estimation", ICIP 2021, with several radii instead of two passes. Computed at half the size, which is
 * enough because means are smooth.
 * @param {Bytes} rgba @param {Numbers} matte 0 to 1 @param {number} width of both, in cells
 * @returns {{ player: Numbers[], behind: Numbers[] }} three channels each, 0 to 1
 */
export function edgeColours(rgba, matte, width) {
  const half = halved(rgba, matte, width);
  /** @type {Numbers} */
  const player = half.matte.map((alpha) => smoothStep(alpha, 0.85, 1));
  /** @type {Numbers} */
  const behind = half.matte.map((alpha) => smoothStep(1 - alpha, 0.85, 1));
  const spread = (/** @type {Numbers} */ weight) =>
    meanColours(half.colours, weight, half.width).map((plane) =>
      doubled(plane, half.width, width, matte.length),
    );
  return { player: spread(player), behind: spread(behind) };
}

/** Averages blocks of two by two cells. @param {Bytes} rgba @param {Numbers} matte @param {number} width */
function halved(rgba, matte, width) {
  const height = matte.length / width;
  const halfWidth = Math.ceil(width / 2);
  const cells = halfWidth * Math.ceil(height / 2);
  /** @type {Numbers[]} */
  const planes = [0, 1, 2, 3].map(() => new Float32Array(cells));
  const [r, g, b, halfMatte] = /** @type {[Numbers, Numbers, Numbers, Numbers]} */ (planes);
  for (let to = 0; to < cells; to++) {
    const x = 2 * (to % halfWidth);
    const y = 2 * Math.floor(to / halfWidth);
    const first = y * width + x;
    const right = x + 1 < width ? 1 : 0;
    const below = y + 1 < height ? width : 0;
    for (let k = 0; k < 4; k++) {
      const cell = first + (k & 1) * right + (k >> 1) * below;
      r[to] += rgba[4 * cell] / (4 * 255);
      g[to] += rgba[4 * cell + 1] / (4 * 255);
      b[to] += rgba[4 * cell + 2] / (4 * 255);
      halfMatte[to] += matte[cell] / 4;
    }
  }
  return { colours: [r, g, b], matte: halfMatte, width: halfWidth };
}

/**
 * @param {Numbers} plane
 * @param {number} halfWidth
 * @param {number} width
 * @param {number} cells
 * @returns {Numbers}
 */
function doubled(plane, halfWidth, width, cells) {
  /** @type {Numbers} */
  const out = new Float32Array(cells);
  for (let i = 0; i < cells; i++)
    out[i] = plane[(Math.floor(i / width) >> 1) * halfWidth + ((i % width) >> 1)];
  return out;
}

/**
 * Weighted means: over a narrow square where it holds enough weight, over wider ones elsewhere.
 * @param {Numbers[]} colours @param {Numbers} weight @param {number} width
 * @returns {Numbers[]}
 */
function meanColours(colours, weight, width) {
  /** @type {Numbers[]} */
  const sums = colours.map((plane) => new Float32Array(plane.length));
  /** @type {Numbers} */
  const missing = new Float32Array(weight.length).fill(1);
  const weighted = colours.map((plane) => plane.map((value, i) => value * (weight[i] ?? 0)));
  for (const reach of REACHES) {
    const weights = boxBlur(weight, width, reach);
    /** @type {Numbers} */
    const taken = weights.map((value, i) =>
      value < 1e-4 ? 0 : missing[i] * Math.min(1, value / ENOUGH_WEIGHT),
    );
    for (const [channel, sum] of sums.entries()) {
      const mean = boxBlur(/** @type {Numbers} */ (weighted[channel]), width, reach);
      for (let i = 0; i < sum.length; i++) if (taken[i] > 0) sum[i] += (taken[i] * mean[i]) / weights[i];
    }
    for (let i = 0; i < missing.length; i++) missing[i] -= taken[i];
  }
  for (const [channel, sum] of sums.entries()) {
    const own = /** @type {Numbers} */ (colours[channel]);
    // With nothing sure anywhere near, the cell's own colour stands in.
    for (let i = 0; i < sum.length; i++) sum[i] = missing[i] < 0.999 ? sum[i] / (1 - missing[i]) : own[i];
  }
  return sums;
}
