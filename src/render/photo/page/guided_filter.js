import { boxBlur } from "./masks.js";

/** @import { Bytes, Numbers } from "./masks.js" */

/**
 * For each cell, the linear map from colour to matte that best fits its surroundings: matte = r R + g G + b B
 * + offset.
 * @typedef {object} LinearMatte
 * @property {Numbers} r
 * @property {Numbers} g
 * @property {Numbers} b
 * @property {Numbers} offset
 */

/**
 * The colour guided filter: K. He, J. Sun, X. Tang, "Guided Image Filtering", PAMI 2013, equations 14 to 16.
 * It returns the smoothed coefficients instead of the filtered matte, so that they can be computed on a small
 * picture and applied to the large one (K. He, J. Sun, "Fast Guided Filter", 2015).
 * @param {Bytes} rgba @param {Numbers} matte 0 to 1 @param {number} width
 * @param {number} radius in cells @param {number} smoothness the paper's epsilon, for colours from 0 to 1
 * @returns {LinearMatte}
 */
export function fitLinearMatte(rgba, matte, width, radius, smoothness) {
  const blur = (/** @type {Numbers} */ values) => boxBlur(values, width, radius);
  const [r, g, b] = colourPlanes(rgba);
  const product = (/** @type {Numbers} */ p, /** @type {Numbers} */ q) => {
    /** @type {Numbers} */
    const out = new Float32Array(p.length);
    for (let i = 0; i < out.length; i++) out[i] = p[i] * q[i];
    return blur(out);
  };
  const means = { r: blur(r), g: blur(g), b: blur(b), matte: blur(matte) };
  const withMatte = { r: product(r, matte), g: product(g, matte), b: product(b, matte) };
  const squares = {
    rr: product(r, r),
    rg: product(r, g),
    rb: product(r, b),
    gg: product(g, g),
    gb: product(g, b),
    bb: product(b, b),
  };
  const fit = solveCells(means, withMatte, squares, smoothness);
  return { r: blur(fit.r), g: blur(fit.g), b: blur(fit.b), offset: blur(fit.offset) };
}

/**
 * Solves (covariance + epsilon I) a = covariance with the matte in each cell, using the adjugate matrix.
 * @param {{ r: Numbers, g: Numbers, b: Numbers, matte: Numbers }} mean
 * @param {{ r: Numbers, g: Numbers, b: Numbers }} withMatte
 * @param {{ rr: Numbers, rg: Numbers, rb: Numbers, gg: Numbers, gb: Numbers, bb: Numbers }} square
 * @param {number} epsilon
 * @returns {LinearMatte}
 */
function solveCells(mean, withMatte, square, epsilon) {
  const { length } = mean.matte;
  /** @type {LinearMatte} */
  const out = {
    r: new Float32Array(length),
    g: new Float32Array(length),
    b: new Float32Array(length),
    offset: new Float32Array(length),
  };
  for (let i = 0; i < length; i++) {
    const [mr, mg, mb, mm] = [mean.r[i], mean.g[i], mean.b[i], mean.matte[i]];
    const rr = square.rr[i] - mr * mr + epsilon;
    const rg = square.rg[i] - mr * mg;
    const rb = square.rb[i] - mr * mb;
    const gg = square.gg[i] - mg * mg + epsilon;
    const gb = square.gb[i] - mg * mb;
    const bb = square.bb[i] - mb * mb + epsilon;
    const adjRR = gg * bb - gb * gb;
    const adjRG = gb * rb - rg * bb;
    const adjRB = rg * gb - gg * rb;
    const determinant = rr * adjRR + rg * adjRG + rb * adjRB || 1e-12;
    const cr = withMatte.r[i] - mr * mm;
    const cg = withMatte.g[i] - mg * mm;
    const cb = withMatte.b[i] - mb * mm;
    const ar = (adjRR * cr + adjRG * cg + adjRB * cb) / determinant;
    const ag = (adjRG * cr + (rr * bb - rb * rb) * cg + (rb * rg - rr * gb) * cb) / determinant;
    const ab = (adjRB * cr + (rb * rg - rr * gb) * cg + (rr * gg - rg * rg) * cb) / determinant;
    out.r[i] = ar;
    out.g[i] = ag;
    out.b[i] = ab;
    out.offset[i] = mm - ar * mr - ag * mg - ab * mb;
  }
  return out;
}

/** @param {Bytes} rgba @returns {[Numbers, Numbers, Numbers]} red, green and blue, each from 0 to 1 */
export function colourPlanes(rgba) {
  const cells = rgba.length / 4;
  /** @type {[Numbers, Numbers, Numbers]} */
  const planes = [new Float32Array(cells), new Float32Array(cells), new Float32Array(cells)];
  for (let i = 0; i < cells; i++) {
    planes[0][i] = rgba[4 * i] / 255;
    planes[1][i] = rgba[4 * i + 1] / 255;
    planes[2][i] = rgba[4 * i + 2] / 255;
  }
  return planes;
}
