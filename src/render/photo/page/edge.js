import { edgeColours } from "./edge_colours.js";
import { fitLinearMatte } from "./guided_filter.js";
import { boxBlur, dilate, smoothStep } from "./masks.js";

/** @import { Bytes, Numbers, Rect } from "./masks.js" */

/**
 * Radius and smoothness of the guided filter on the small picture; the radius is about 7 px on a photo of
 * 1,200 px.
 */
const FILTER_RADIUS_CELLS = 2;
const FILTER_SMOOTHNESS = 1e-4;

/**
 * The filter leaves a faint veil outside and a faint transparency inside. To remove both, alpha is stretched
 * so that these values become 0 and 1.
 */
const VEIL = 0.06;
const SOLID = 0.92;

/** How far beyond the cells with a mixed matte the edge is refined. */
const EDGE_REACH_CELLS = 1;
/**
 * Around hair the edge reaches further, because single strands lie outside the matte and gaps between curls
 * inside it: by this part of the head's width.
 */
const HAIR_REACH_PART = 0.06;
const MAX_HAIR_REACH_CELLS = 7;

/**
 * A backdrop with lines, letters or leaves has pixels that look like strands too. How much of it would be
 * taken for hair shows just beyond the hair's reach, where there is none: outside the matte, strands are
 * believed fully up to `low`, and from `high` on not at all. Both are roots of mean squares, 0 to 1, so that
 * thin lines count.
 */
const FALSE_STRANDS = { low: 0.015, high: 0.05 };

/** Squared colour distance (each channel 0 to 1) above which colour tells player and background apart. */
const TELLING_COLOURS = { low: 0.03, high: 0.12 };
/** Squared distance from the line between the two colours above which a pixel is not a mixture of them. */
const OFF_THE_LINE = { low: 0.006, high: 0.03 };

/**
 * A picture with its matte, on the matte's grid.
 * @typedef {object} SmallPicture
 * @property {Bytes} rgba
 * @property {Numbers} matte
 * @property {number} width
 * @property {number} height
 * @property {Rect} head where hair may be, twice as wide as the head, in cells
 * @property {Numbers} hair how much of a cell is hair, 0 to 1
 */

/**
 * Makes the large cutout: fits the matte's edge to the photo's own edges, and gives the edge's pixels the
 * player's colour instead of its mixture with the old background.
 * @param {{ rgba: Bytes, width: number, height: number }} large changed in place: colour and alpha
 * @param {SmallPicture} small the same picture, reduced
 */
export function refineEdge(large, small) {
  const linear = fitLinearMatte(small.rgba, small.matte, small.width, FILTER_RADIUS_CELLS, FILTER_SMOOTHNESS);
  const refined = refinedMatte(linear, small);
  const hair = hairWeights(small, refined);
  const edge = edgeCells(small, refined, hair);
  const colours = edgeColours(small.rgba, refined, small.width);
  doubtStrands(hair, refined, colours, small);
  // Interleaved, so that a cell's values lie side by side in memory.
  const cells = interleave([
    linear.r,
    linear.g,
    linear.b,
    linear.offset,
    hair,
    ...colours.player,
    ...colours.behind,
  ]);
  const columns = edgeColumns(large.width, small.width);
  for (let y = 0; y < large.height; y++) refineRow(y, large, small, { cells, edge, refined, columns });
}

/** How many planes `refineEdge` interleaves. */
const PLANES = 11;

/** @param {Numbers[]} planes @returns {Numbers} */
function interleave(planes) {
  /** @type {Numbers} */
  const out = new Float32Array(planes.length * (planes[0]?.length ?? 0));
  for (const [k, plane] of planes.entries()) {
    for (let i = 0, to = k; i < plane.length; i++, to += planes.length) out[to] = plane[i];
  }
  return out;
}

/**
 * For each column of the large picture, the two cells it lies between, and how far it is from the left one to
 * the right one (0 to 1).
 * @param {number} width @param {number} cells
 */
function edgeColumns(width, cells) {
  return Array.from({ length: width }, (_, x) => {
    const u = Math.min(cells - 1, Math.max(0, ((x + 0.5) * cells) / width - 0.5));
    const left = Math.floor(u);
    return { left, right: Math.min(cells - 1, left + 1), part: u - left };
  });
}

const here = new Float32Array(PLANES);

/**
 * @param {number} y @param {{ rgba: Bytes, width: number, height: number }} large @param {SmallPicture} small
 * @param {{ cells: Numbers, edge: Uint8Array, refined: Numbers, columns: { left: number, right: number, part:
 *   number }[] }} maps
 */
function refineRow(y, { rgba, width, height }, small, { cells, edge, refined, columns }) {
  const v = Math.min(small.height - 1, Math.max(0, ((y + 0.5) * small.height) / height - 0.5));
  const upper = Math.floor(v) * small.width;
  const lower = Math.min(small.height - 1, Math.floor(v) + 1) * small.width;
  const partY = v - Math.floor(v);
  /** @type {Numbers} */
  const at = here;
  for (let x = 0, to = y * width * 4; x < width; x++, to += 4) {
    const column = columns[x];
    if (!column) continue;
    const { left, right, part } = column;
    if (!edge[upper + left] && !edge[upper + right] && !edge[lower + left] && !edge[lower + right]) {
      rgba[to + 3] = refined[upper + left] > 0.5 ? 255 : 0;
      continue;
    }
    const weights = [(1 - part) * (1 - partY), part * (1 - partY), (1 - part) * partY, part * partY];
    const [w00 = 0, w10 = 0, w01 = 0, w11 = 0] = weights;
    const [a, b, c, d] = [
      (upper + left) * PLANES,
      (upper + right) * PLANES,
      (lower + left) * PLANES,
      (lower + right) * PLANES,
    ];
    for (let k = 0; k < PLANES; k++) {
      at[k] = cells[a + k] * w00 + cells[b + k] * w10 + cells[c + k] * w01 + cells[d + k] * w11;
    }
    refinePixel(rgba, to, at);
  }
}

/**
 * @param {Bytes} rgba @param {number} to the pixel's offset in it
 * @param {Numbers} at linear matte (4), hair weight, player's colour (3), background's colour (3)
 */
function refinePixel(rgba, to, at) {
  const r = rgba[to] / 255;
  const g = rgba[to + 1] / 255;
  const b = rgba[to + 2] / 255;
  let alpha = stretch(at[0] * r + at[1] * g + at[2] * b + at[3]);
  if (at[4] > 0)
    alpha +=
      at[4] *
      mixtureStep(alpha, r - at[8], g - at[9], b - at[10], at[5] - at[8], at[6] - at[9], at[7] - at[10]);
  rgba[to + 3] = Math.round(255 * alpha);
  if (alpha <= 0 || alpha >= 1) return;
  // The pixel's own detail is its difference from the mixture of the two means (Forte 2021, equation 4).
  rgba[to] = 255 * (at[5] + alpha * (r - alpha * at[5] - (1 - alpha) * at[8]));
  rgba[to + 1] = 255 * (at[6] + alpha * (g - alpha * at[6] - (1 - alpha) * at[9]));
  rgba[to + 2] = 255 * (at[7] + alpha * (b - alpha * at[7] - (1 - alpha) * at[10]));
}

/**
 * The change that moves alpha towards the pixel's place on the line from the background's colour to the
 * player's: all the way if the two differ clearly and the pixel lies on that line, less otherwise.
 * @param {number} alpha
 * @param {number} r the pixel's colour minus the background's @param {number} g @param {number} b
 * @param {number} dr the player's colour minus the background's @param {number} dg @param {number} db
 */
function mixtureStep(alpha, r, g, b, dr, dg, db) {
  const length = dr * dr + dg * dg + db * db;
  const part = Math.max(0, (r * dr + g * dg + b * db) / Math.max(1e-6, length));
  const off = (r - part * dr) ** 2 + (g - part * dg) ** 2 + (b - part * db) ** 2;
  const telling = smoothStep(length, TELLING_COLOURS.low, TELLING_COLOURS.high);
  const onLine = 1 - smoothStep(off, OFF_THE_LINE.low, OFF_THE_LINE.high);
  return telling * onLine * (smoothStep(part, 0.05, 0.8) - alpha);
}

/** @param {number} alpha */
function stretch(alpha) {
  return Math.max(0, Math.min(1, (alpha - VEIL) / (SOLID - VEIL)));
}

/** @param {import("./guided_filter.js").LinearMatte} linear @param {SmallPicture} small @returns {Numbers} */
function refinedMatte(linear, { rgba }) {
  /** @type {Numbers} */
  const out = new Float32Array(rgba.length / 4);
  for (let i = 0; i < out.length; i++) {
    const mixed = linear.r[i] * rgba[4 * i] + linear.g[i] * rgba[4 * i + 1] + linear.b[i] * rgba[4 * i + 2];
    out[i] = stretch(mixed / 255 + linear.offset[i]);
  }
  return out;
}

/**
 * 1 at the matte's edge where hair is near, falling to 0 with the distance from the edge, the hair and the
 * head.
 * @param {SmallPicture} small @param {Numbers} refined
 * @returns {Numbers}
 */
function hairWeights({ head, hair, width }, refined) {
  /** @type {Numbers} */
  const weights = new Float32Array(refined.length);
  const reach = Math.min(MAX_HAIR_REACH_CELLS, Math.round((HAIR_REACH_PART * head.width) / 2));
  const inside = dilate(refined, width, reach);
  const outside = dilate(
    refined.map((value) => 1 - value),
    width,
    reach,
  );
  const nearHair = dilate(hair, width, reach);
  for (let i = 0; i < weights.length; i++) {
    const dx = Math.abs((i % width) - head.x - head.width / 2) / (head.width / 2);
    const dy = Math.abs(Math.floor(i / width) - head.y - head.height / 2) / (head.height / 2);
    const near = (1 - smoothStep(Math.max(dx, dy), 0.85, 1)) * smoothStep(nearHair[i], 0.2, 0.6);
    if (near > 0) weights[i] = near * smoothStep(Math.min(inside[i], outside[i]), 0.3, 0.9);
  }
  return weights;
}

/**
 * Takes hair's weight away outside the matte where the backdrop itself would pass for strands.
 * @param {Numbers} weights changed in place @param {Numbers} refined
 * @param {{ player: Numbers[], behind: Numbers[] }} colours @param {SmallPicture} small
 */
function doubtStrands(weights, refined, { player, behind }, { head, rgba, width }) {
  const reach = Math.min(MAX_HAIR_REACH_CELLS, Math.round((HAIR_REACH_PART * head.width) / 2));
  const around = dilate(weights, width, reach);
  /** @type {Numbers} */
  const beyond = new Float32Array(weights.length);
  /** @type {Numbers} */
  const falsely = new Float32Array(weights.length);
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] > 0 || around[i] <= 0 || refined[i] > 0.02) continue;
    beyond[i] = 1;
    const off = (/** @type {number} */ k) => rgba[4 * i + k] / 255 - Number(behind[k]?.[i]);
    const apart = (/** @type {number} */ k) => Number(player[k]?.[i]) - Number(behind[k]?.[i]);
    falsely[i] = mixtureStep(0, off(0), off(1), off(2), apart(0), apart(1), apart(2)) ** 2;
  }
  const cells = boxBlur(beyond, width, 2 * reach);
  const strands = boxBlur(falsely, width, 2 * reach);
  for (let i = 0; i < weights.length; i++) {
    if (weights[i] > 0 && refined[i] < 0.5 && cells[i] > 0)
      weights[i] *= 1 - smoothStep(Math.sqrt(strands[i] / cells[i]), FALSE_STRANDS.low, FALSE_STRANDS.high);
  }
}

/**
 * 1 in and next to cells whose alpha is neither surely 0 nor surely 1.
 * @param {SmallPicture} small @param {Numbers} refined @param {Numbers} hair
 */
function edgeCells({ matte, width }, refined, hair) {
  /** @type {Numbers} */
  const mixed = new Float32Array(refined.length);
  for (let i = 0; i < mixed.length; i++) {
    const outside = refined[i] <= 0 && matte[i] < 0.02;
    const inside = refined[i] >= 1 && matte[i] > 0.98;
    mixed[i] = hair[i] > 0 || !(outside || inside) ? 1 : 0;
  }
  return Uint8Array.from(dilate(mixed, width, EDGE_REACH_CELLS));
}
