/** @import { Bytes, Labels } from "./masks.js" */

/** An outline is looked at over this many cells to either side of where the mask has it. */
const REACH_CELLS = 6;
/** Where inside and outside differ less than this (channels 0 to 255), there is no edge to judge. */
const MIN_CONTRAST = 30;
/** An outline with fewer such places than this tells nothing. */
const MIN_PLACES = 20;

/**
 * How sharply each patch is set off from what lies around it: the steepest step of two cells across its
 * outline, as a part of the whole difference between inside and outside. In focus it is 0.75 to 0.9; the
 * wider the blur, the less.
 * @param {Labels} labels 0 around the patches
 * @param {number} count how many labels there are, 0 included
 * @param {(cell: number) => boolean} isHidden whether a cell is neither the patch nor behind it; no outline
 *   leads there
 * @param {Bytes} rgba @param {number} width in cells
 * @returns {(number | null)[]} by label, 0 to 1; null where the outline tells nothing
 */
export function outlineFocus(labels, count, isHidden, rgba, width) {
  const height = labels.length / width;
  const sums = Array.from({ length: count }, () => ({ steps: 0, differences: 0, places: 0 }));
  for (let i = 0; i < labels.length; i++) {
    const sum = labels[i] ? sums[labels[i]] : undefined;
    if (!sum) continue;
    const [x, y] = [i % width, Math.floor(i / width)];
    for (const [dx = 0, dy = 0] of DIRECTIONS) {
      if (!isWithin(x, dx, width) || !isWithin(y, dy, height)) continue;
      const step = dx + dy * width;
      if (labels[i + step] || leadsInto(isHidden, i, step)) continue;
      const difference = colourDistance(rgba, i + REACH_CELLS * step, i - REACH_CELLS * step);
      if (difference < MIN_CONTRAST) continue;
      sum.steps += Math.min(difference, steepest(rgba, i, step));
      sum.differences += difference;
      sum.places++;
    }
  }
  return sums.map(({ steps, differences, places }) => (places < MIN_PLACES ? null : steps / differences));
}

const DIRECTIONS = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
];

/**
 * Whether there are REACH_CELLS to either side.
 * @param {number} at
 * @param {number} step
 * @param {number} size
 */
function isWithin(at, step, size) {
  return step === 0 || (at >= REACH_CELLS && at < size - REACH_CELLS);
}

/** @param {(cell: number) => boolean} isHidden @param {number} cell @param {number} step */
function leadsInto(isHidden, cell, step) {
  for (let k = 1; k <= REACH_CELLS; k++) if (isHidden(cell + k * step)) return true;
  return false;
}

/**
 * The largest difference between cells two apart, across the outline.
 * @param {Bytes} rgba
 * @param {number} cell
 * @param {number} step
 */
function steepest(rgba, cell, step) {
  let most = 0;
  for (let k = 1 - REACH_CELLS; k < REACH_CELLS; k++)
    most = Math.max(most, colourDistance(rgba, cell + (k + 1) * step, cell + (k - 1) * step));
  return most;
}

/** @param {Bytes} rgba @param {number} one @param {number} other */
function colourDistance(rgba, one, other) {
  let square = 0;
  for (let k = 0; k < 3; k++) square += (rgba[4 * one + k] - rgba[4 * other + k]) ** 2;
  return Math.sqrt(square);
}
