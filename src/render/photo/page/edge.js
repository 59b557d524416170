import { boxBlur, fitLinearMatte } from "./guided_filter.js";
import { smoothStep } from "./masks.js";

/** @import { Bytes, Numbers } from "./masks.js" */

/** Reach and smoothness of the guided filter on the small picture; about 7 px on a photo of 1,200 px. */
const FILTER_RADIUS_CELLS = 3;
const FILTER_SMOOTHNESS = 1e-4;

/** The filter leaves a faint veil outside and a faint transparency inside; this stretches both away. */
const VEIL = 0.04;
const SOLID = 0.94;

/** Reach of the mean colours of player and background; the widest is only used where the narrower ones found none. */
const COLOUR_RADII_CELLS = [2, 6, 18];

/**
 * Makes the large cutout: the matte's edge follows the photo's own edges, and the edge's pixels get the player's colour
 * instead of the mixture with the old background.
 * @param {{ rgba: Bytes, width: number, height: number }} large changed in place: colour and alpha
 * @param {{ rgba: Bytes, matte: Numbers, width: number, height: number }} small the same picture on the matte's grid
 */
export function refineEdge(large, small) {
  const linear = fitLinearMatte(small.rgba, small.matte, small.width, FILTER_RADIUS_CELLS, FILTER_SMOOTHNESS);
  const refined = smallMatte(linear, small);
  const colours = edgeColours(small.rgba, refined, small.width);
  const mixed = mixedCells(small.matte, refined, small.width);
  const stepX = small.width / large.width;
  const stepY = small.height / large.height;
  const at = { i00: 0, i10: 0, i01: 0, i11: 0, fx: 0, fy: 0 };
  const read = (/** @type {Numbers} */ plane) =>
    (plane[at.i00] * (1 - at.fx) + plane[at.i10] * at.fx) * (1 - at.fy) +
    (plane[at.i01] * (1 - at.fx) + plane[at.i11] * at.fx) * at.fy;
  for (let y = 0, to = 0; y < large.height; y++) {
    const v = Math.min(small.height - 1, Math.max(0, (y + 0.5) * stepY - 0.5));
    const top = Math.floor(v);
    const upper = top * small.width;
    const lower = Math.min(small.height - 1, top + 1) * small.width;
    at.fy = v - top;
    for (let x = 0; x < large.width; x++, to += 4) {
      const u = Math.min(small.width - 1, Math.max(0, (x + 0.5) * stepX - 0.5));
      const left = Math.floor(u);
      const right = Math.min(small.width - 1, left + 1);
      at.fx = u - left;
      at.i00 = upper + left;
      at.i10 = upper + right;
      at.i01 = lower + left;
      at.i11 = lower + right;
      if (!mixed[at.i00] && !mixed[at.i11] && !mixed[at.i10] && !mixed[at.i01]) {
        large.rgba[to + 3] = refined[at.i00] > 0.5 ? 255 : 0;
        continue;
      }
      const r = large.rgba[to] / 255;
      const g = large.rgba[to + 1] / 255;
      const b = large.rgba[to + 2] / 255;
      const alpha = stretch(
        read(linear.r) * r + read(linear.g) * g + read(linear.b) * b + read(linear.offset),
      );
      large.rgba[to + 3] = Math.round(255 * alpha);
      if (alpha <= 0 || alpha >= 1) continue;
      const own = (
        /** @type {number} */ seen,
        /** @type {Numbers} */ player,
        /** @type {Numbers} */ behind,
      ) => {
        const f = read(player);
        return Math.round(255 * (f + alpha * (seen - alpha * f - (1 - alpha) * read(behind))));
      };
      large.rgba[to] = own(r, colours.player[0], colours.behind[0]);
      large.rgba[to + 1] = own(g, colours.player[1], colours.behind[1]);
      large.rgba[to + 2] = own(b, colours.player[2], colours.behind[2]);
    }
  }
}

/** @param {number} alpha */
function stretch(alpha) {
  return Math.max(0, Math.min(1, (alpha - VEIL) / (SOLID - VEIL)));
}

/**
 * @param {import("./guided_filter.js").LinearMatte} linear
 * @param {{ rgba: Bytes, width: number }} small
 * @returns {Numbers}
 */
function smallMatte(linear, { rgba }) {
  /** @type {Numbers} */
  const out = new Float32Array(rgba.length / 4);
  for (let i = 0; i < out.length; i++) {
    const mixed = linear.r[i] * rgba[4 * i] + linear.g[i] * rgba[4 * i + 1] + linear.b[i] * rgba[4 * i + 2];
    out[i] = stretch(mixed / 255 + linear.offset[i]);
  }
  return out;
}

/**
 * Cells at or beside which the matte is neither clearly 0 nor clearly 1.
 * @param {Numbers} before @param {Numbers} after @param {number} width
 */
function mixedCells(before, after, width) {
  const mixed = new Uint8Array(after.length);
  for (let i = 0; i < after.length; i++) {
    const outside = after[i] <= 0 && before[i] < 0.02;
    const inside = after[i] >= 1 && before[i] > 0.98;
    if (outside || inside) continue;
    for (const near of [i, i - 1, i + 1, i - width, i + width])
      if (near >= 0 && near < mixed.length) mixed[near] = 1;
  }
  return mixed;
}

/**
 * The mean colours of player and background around every cell, from cells that are surely the one or the other: the two
 * ends of the mixture seen at the edge. After M. Forte, "Approximate Fast Foreground Colour Estimation", ICIP 2021.
 * @param {Bytes} rgba @param {Numbers} matte @param {number} width
 */
function edgeColours(rgba, matte, width) {
  /** @type {Numbers} */
  const playerWeight = matte.map((alpha) => smoothStep(alpha, 0.85, 1));
  /** @type {Numbers} */
  const behindWeight = matte.map((alpha) => smoothStep(1 - alpha, 0.85, 1));
  return { player: meanColours(rgba, playerWeight, width), behind: meanColours(rgba, behindWeight, width) };
}

/**
 * Weighted means, narrow where the narrow square holds enough weight, wider elsewhere.
 * @param {Bytes} rgba @param {Numbers} weight @param {number} width
 * @returns {[Numbers, Numbers, Numbers]}
 */
function meanColours(rgba, weight, width) {
  /** @type {[Numbers, Numbers, Numbers]} */
  const sums = [
    new Float32Array(weight.length),
    new Float32Array(weight.length),
    new Float32Array(weight.length),
  ];
  /** @type {Numbers} */
  const missing = new Float32Array(weight.length).fill(1);
  for (const radius of COLOUR_RADII_CELLS) {
    const weights = boxBlur(weight, width, radius);
    const planes = [0, 1, 2].map((channel) => {
      /** @type {Numbers} */
      const plane = new Float32Array(weight.length);
      for (let i = 0; i < plane.length; i++) plane[i] = (rgba[4 * i + channel] / 255) * weight[i];
      return boxBlur(plane, width, radius);
    });
    for (let i = 0; i < weights.length; i++) {
      if (weights[i] <= 1e-6) continue;
      const taken = missing[i] * Math.min(1, weights[i] / 0.1);
      sums.forEach((sum, channel) => {
        sum[i] += (taken * planes[channel]?.[i]) / weights[i];
      });
      missing[i] -= taken;
    }
  }
  for (let i = 0; i < missing.length; i++) {
    const have = 1 - missing[i];
    for (const [channel, sum] of sums.entries())
      sum[i] = have > 1e-3 ? sum[i] / have : rgba[4 * i + channel] / 255;
  }
  return sums;
}
