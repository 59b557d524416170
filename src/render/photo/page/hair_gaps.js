import { above, below, boundsAbove, boxBlur, dilate, smoothStep } from "./masks.js";

/** @import { Bytes, Flags, Numbers, Rect } from "./masks.js" */

/**
 * How far the hair that is looked at reaches from the head, in the widths and heights of the rectangle around
 * it: long hair hangs down to the hips, but nothing far above or beside the head is hair.
 */
const HAIR_BESIDE = 1;
const HAIR_BELOW = 1.5;

/**
 * How far around a cell the backdrop's and the hair's colours are averaged, as a part of the head's width.
 */
const AROUND_PART = 0.3;
const MIN_AROUND_CELLS = 3;
/**
 * The hair's colour changes less than the backdrop's, and single strands fly far: its square is this many
 * times as wide.
 */
const STRANDS_REACH = 3;
/** The part of that square that must be backdrop, or hair, for its mean colour to count. */
const ENOUGH = 0.01;
/** Cells that are hair by less than this (0 to 1) are left alone: ears, collars, eyes. */
const MIN_HAIR = 0.3;
/** Between these standard deviations (all channels, each 0 to 1) the backdrop ceases to have one colour. */
const PLAIN = { low: 0.08, high: 0.13 };
/** Squared distance of the two mean colours above which they can be told apart. */
const TELLING = { low: 0.06, high: 0.14 };
/** Squared distance from the line between the two colours above which a cell is no mixture of them. */
const OFF_THE_LINE = { low: 0.008, high: 0.03 };
/**
 * Cells with less hair in their colour than SURE_GAP are gaps; up to MAX_MIXED, they are if they lie beside
 * one.
 */
const SURE_GAP = 0.3;
const MAX_MIXED = 0.7;
/** How far from the sure backdrop, in cells, mixtures begin. */
const BESIDE_CELLS = 3;
/**
 * Up to this many cells from hair the body parts network is asked whether somebody is there: it sees single
 * strands where the masks see one lump.
 */
const NEAR_HAIR_CELLS = 8;
/**
 * Squared distance from the backdrop's colour, on top of that colour's own spread, up to which the network is
 * believed.
 */
const LIKE_BACKDROP = 0.06;
/** The colour counts where the network is not sure of somebody: sun on fair hair is as white as a wall. */
const DOUBTED = { low: 0.9, high: 0.97 };
/** The hair in a cell's colour, 0 to 1, that makes it transparent, and opaque. */
const SOFT = { low: 0.08, high: 0.75 };

/**
 * Empties the gaps between curls and strands, and around them, that pose and person mask see as one lump:
 * where the body parts network sees nobody, and where hair has a plain backdrop's colour.
 * @param {Numbers} matte 0 to 1, changed in place
 * @param {{ hair: Numbers, odds: Numbers }} parts hair from 0 to 1, log odds that somebody is there
 * @param {Bytes} rgba on the same grid @param {number} width in cells
 * @param {Rect} head twice as wide as the head, in cells
 */
export function emptyHairGaps(matte, { hair, odds }, rgba, width, head) {
  const reach = Math.max(MIN_AROUND_CELLS, Math.round((AROUND_PART * head.width) / 2));
  const part = partAround(hair, width, head, reach);
  if (part.width <= 0 || part.height <= 0) return;
  const cells = part.width * part.height;
  /** @type {Numbers} */
  const own = new Float32Array(cells);
  /** @type {Numbers} */
  const strands = new Float32Array(cells);
  /** @type {Numbers} */
  const somebody = new Float32Array(cells);
  /** @type {Numbers} */
  const reds = new Float32Array(cells);
  /** @type {Numbers} */
  const greens = new Float32Array(cells);
  /** @type {Numbers} */
  const blues = new Float32Array(cells);
  for (let i = 0; i < cells; i++) {
    const from = cellAt(part, width, i);
    own[i] = matte[from];
    strands[i] = hair[from];
    somebody[i] = 1 / (1 + Math.exp(-odds[from]));
    reds[i] = rgba[4 * from] / 255;
    greens[i] = rgba[4 * from + 1] / 255;
    blues[i] = rgba[4 * from + 2] / 255;
  }
  const planes = [reds, greens, blues];
  const mixed = hairInColour(own, strands, somebody, planes, part.width, reach);
  for (const i of gapCells(own, mixed, part.width))
    matte[cellAt(part, width, i)] = Math.min(own[i], smoothStep(mixed[i], SOFT.low, SOFT.high));
}

/**
 * A cell of the grid, by its number in a part.
 * @param {Rect} part @param {number} width of the grid @param {number} i
 */
const cellAt = (part, width, i) => (part.y + Math.floor(i / part.width)) * width + part.x + (i % part.width);

/**
 * The part of the grid that holds the hair, and `reach` cells around it. Its sides are 0 or less without
 * hair.
 * @param {Numbers} hair @param {number} width @param {Rect} head @param {number} reach
 * @returns {Rect}
 */
function partAround(hair, width, head, reach) {
  const bounds = boundsAbove(hair, width, MIN_HAIR) ?? { x: 0, y: 0, width: 0, height: 0 };
  const x = Math.max(0, bounds.x - reach, Math.round(head.x - HAIR_BESIDE * head.width));
  const y = Math.max(0, bounds.y - reach, Math.round(head.y));
  const right = Math.min(width, bounds.x + bounds.width + reach, head.x + (1 + HAIR_BESIDE) * head.width);
  const bottom = Math.min(
    hair.length / width,
    bounds.y + bounds.height + reach,
    head.y + (1 + HAIR_BELOW) * head.height,
  );
  return { x, y, width: Math.floor(right) - x, height: Math.floor(bottom) - y };
}

/**
 * For each cell of hair, how much of it is hair and not backdrop, 0 to 1, as the body parts network sees it
 * or as its colour tells, whichever is less; 1 where neither can tell.
 * @param {Numbers} matte
 * @param {Numbers} hair
 * @param {Numbers} somebody
 * @param {Numbers[]} planes red, green and blue, 0 to 1
 * @param {number} width @param {number} reach in cells
 * @returns {Numbers}
 */
function hairInColour(matte, hair, somebody, planes, width, reach) {
  const backdrop = meansOf(planes, below(matte, 0.02), width, reach);
  const isHair = above(hair, 0.5);
  for (let i = 0; i < isHair.length; i++) if (!(matte[i] > 0.9 && somebody[i] > DOUBTED.low)) isHair[i] = 0;
  const strands = meansOf(planes, isHair, width, STRANDS_REACH * reach);
  /** @type {Numbers} */
  const mixed = new Float32Array(matte.length).fill(1);
  const near = dilate(hair, width, NEAR_HAIR_CELLS);
  for (let i = 0; i < mixed.length; i++) {
    const j = (Math.floor(i / width) >> 1) * backdrop.width + ((i % width) >> 1);
    if (near[i] < MIN_HAIR || backdrop.weight[j] < ENOUGH || strands.weight[j] < ENOUGH) continue;
    let [along, length, apart] = [0, 0, 0];
    for (let k = 0; k < 3; k++) {
      const from = Number(backdrop.colours[k]?.[j]);
      const step = Number(strands.colours[k]?.[j]) - from;
      const here = Number(planes[k]?.[i]) - from;
      along += here * step;
      length += step * step;
      apart += here * here;
    }
    const telling = smoothStep(length, TELLING.low, TELLING.high);
    if (telling <= 0) continue;
    const part = Math.max(0, Math.min(1, along / length));
    const isLikeBackdrop = part < 0.5 && apart < LIKE_BACKDROP + 4 * backdrop.spread[j] ** 2;
    if (isLikeBackdrop) mixed[i] -= telling * (1 - somebody[i]);
    if (hair[i] < MIN_HAIR) continue;
    const sureness =
      telling *
      (1 - smoothStep(somebody[i], DOUBTED.low, DOUBTED.high)) *
      (1 - smoothStep(backdrop.spread[j], PLAIN.low, PLAIN.high)) *
      (1 - smoothStep(apart - part * part * length, OFF_THE_LINE.low, OFF_THE_LINE.high));
    mixed[i] = Math.min(mixed[i], 1 - sureness * (1 - part));
  }
  return mixed;
}

/**
 * The gaps, and the mixtures that lie between a gap, or the backdrop, and the hair.
 * @param {Numbers} matte @param {Numbers} mixed @param {number} width
 * @returns {number[]}
 */
function gapCells(matte, mixed, width) {
  const seen = new Uint8Array(matte.length);
  /** @type {number[]} */
  const found = [];
  const beside = dilate(new Float32Array(below(matte, 0.02)), width, BESIDE_CELLS);
  for (let i = 0; i < matte.length; i++) {
    if (mixed[i] < SURE_GAP || (beside[i] > 0 && mixed[i] < MAX_MIXED)) {
      seen[i] = 1;
      found.push(i);
    }
  }
  for (let k = 0; k < found.length; k++) {
    const cell = Number(found[k]);
    const x = cell % width;
    for (const next of [x > 0 ? cell - 1 : -1, x < width - 1 ? cell + 1 : -1, cell - width, cell + width]) {
      if (next < 0 || next >= matte.length || seen[next] || mixed[next] >= MAX_MIXED) continue;
      seen[next] = 1;
      found.push(next);
    }
  }
  return found;
}

/**
 * Means around every second cell of every second row, which is enough because means are smooth.
 * @typedef {object} Means
 * @property {number} width how many there are in a row
 * @property {Numbers[]} colours
 * @property {Numbers} spread standard deviation of the colours
 * @property {Numbers} weight the part of the square that counts, 0 to 1
 */

/**
 * Mean colours of the cells that count around each cell, and how much they vary there.
 * @param {Numbers[]} planes
 * @param {Flags} counts
 * @param {number} width
 * @param {number} reach in cells
 * @returns {Means}
 */
function meansOf(planes, counts, width, reach) {
  const across = Math.ceil(width / 2);
  const cells = across * Math.ceil((planes[0]?.length ?? 0) / width / 2);
  const made = () => /** @type {Numbers} */ (new Float32Array(cells));
  const [weights, spread] = [made(), made()];
  const sums = planes.map(() => ({ once: made(), twice: made() }));
  for (let i = 0; i < cells; i++) {
    const from = 2 * Math.floor(i / across) * width + 2 * (i % across);
    if (!counts[from]) continue;
    weights[i] = 1;
    for (let k = 0; k < 3; k++) {
      const { once, twice } = /** @type {{ once: Numbers, twice: Numbers }} */ (sums[k]);
      once[i] = Number(planes[k]?.[from]);
      twice[i] = once[i] * once[i];
    }
  }
  const blurred = (/** @type {Numbers} */ values) => boxBlur(values, across, Math.ceil(reach / 2));
  const weight = blurred(weights);
  const colours = sums.map(({ once, twice }) => {
    const [mean, square] = [blurred(once), blurred(twice)];
    for (let i = 0; i < cells; i++) {
      const total = Math.max(1e-6, weight[i]);
      mean[i] /= total;
      spread[i] += Math.max(0, square[i] / total - mean[i] * mean[i]);
    }
    return mean;
  });
  for (let i = 0; i < cells; i++) spread[i] = Math.sqrt(spread[i]);
  return { width: across, colours, spread, weight };
}
