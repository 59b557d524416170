import { dilate } from "./dilate.js";
import { above, flags, floats, patches } from "./pixels.js";

/** @import { Flags, Labels, Numbers, Sums } from "./pixels.js" */

/**
 * A thing that touches the body is the player's if it takes at most this part of the player's area and its
 * mean salience (0 to 1) is at least MIN_SALIENCE, such as a ball, a racket or a trophy.
 */
const MAX_PART = 0.3;
const MIN_SALIENCE = 0.72;
/** Where the core (pose and person mask, 0 to 1) is above this on average, it is body. */
const MIN_BODY_CORE = 0.5;
/**
 * What runs along the grid's border, but for the lower one, for longer than this is furniture or background:
 * it leaves the part of the photo around the player. In square roots of its size.
 */
const MAX_BORDER = 1;
/** Patches below this part of the player's area are not things but fragments of the player's edge. */
const MIN_THING_PART = 0.003;
/** Cells that core and salience both claim by more than this (0 to 1) are part of the body. */
const MIN_CLAIM = 0.1;
/** Below these log odds the body parts network is sure that nobody is there (PartsLook). */
const SURELY_NOBODY = -2;
/** How far the faint edge of a thing and its connection to the body extend around it, in cells. */
const REACH_CELLS = 5;

/**
 * Decides which salient things outside the body belong to the player, by their size and by what they touch.
 * Each is held or dropped whole: half a ball is worse than none.
 * @param {{ odds: Numbers, own: Numbers, salience: Numbers, core: Numbers, claimed: Numbers,
 *   rivals: Numbers }} maps as in matte.js
 * @param {number} width
 * @returns {{ held: Numbers, dropped: Numbers }} `held` is 1 on things that belong to the player and less on
 *   their soft edge, `dropped` 1 on things that do not
 */
export function sortBelongings({ odds, own, salience, core, claimed, rivals }, width) {
  // Legs that the body parts network misses must not be taken for things; core and salience do see them.
  const body = flags(salience.length);
  const inThings = above(salience, 0.5);
  let playerCells = 0;
  for (let i = 0; i < salience.length; i++) {
    const isClaimed = claimed[i] > MIN_CLAIM && odds[i] > SURELY_NOBODY;
    body[i] = (odds[i] > 0 || isClaimed) && own[i] > 0.5 ? 1 : 0;
    playerCells += body[i];
    if (isClaimed || odds[i] >= 0 || rivals[i] >= 0.5) inThings[i] = 0;
  }
  const { labels, sizes, sums } = patches(inThings, width);
  const total = { salience: sums(salience), core: sums(core) };
  const touches = sums(beside(body, width));
  const border = cellsAtBorder(labels, sizes, width);
  const isReal = sizes.map((size, label) => label > 0 && size >= MIN_THING_PART * playerCells);
  const isHeld = sizes.map((size, label) => {
    if (touches[label] === 0 || border[label] > MAX_BORDER * Math.sqrt(size)) return false;
    if (total.core[label] > MIN_BODY_CORE * size) return true;
    return size <= MAX_PART * playerCells && total.salience[label] >= MIN_SALIENCE * size;
  });
  const held = floats(salience.length);
  const dropped = floats(salience.length);
  for (let i = 0; i < salience.length; i++) {
    const label = labels[i];
    if (!isReal[label]) continue;
    if (isHeld[label]) held[i] = 1;
    else dropped[i] = 1;
  }
  const reach = dilate(held, width, REACH_CELLS);
  for (let i = 0; i < salience.length; i++)
    if (reach[i] > 0 && !held[i] && salience[i] > 0.15) held[i] = Math.min(1, 2 * salience[i]);
  return { held, dropped };
}

/** The cells with a cell of the body next to them. @param {Flags} body @param {number} width */
function beside(body, width) {
  const cells = flags(body.length);
  for (let i = 0; i < cells.length; i++) {
    const x = i % width;
    const inRow = (x > 0 && body[i - 1]) || (x < width - 1 && body[i + 1]);
    cells[i] = inRow || body[i - width] || body[i + width] ? 1 : 0;
  }
  return cells;
}

/**
 * How many cells of each patch are at the grid's upper, left or right edge.
 * @param {Labels} labels @param {Sums} sizes @param {number} width
 */
function cellsAtBorder(labels, sizes, width) {
  const cells = /** @type {Sums} */ (sizes.map(() => 0));
  for (let x = 0; x < width; x++) cells[labels[x]]++;
  for (let row = width; row < labels.length; row += width) {
    cells[labels[row]]++;
    cells[labels[row + width - 1]]++;
  }
  return cells;
}
