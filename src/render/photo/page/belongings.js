import { above, dilate, patches, sumsOf } from "./masks.js";

/** @import { Flags, Numbers } from "./masks.js" */

/**
 * A thing that touches the body is the player's if it takes at most this part of the player's area and its
 * mean salience (0 to 1) is at least that, such as a ball, a racket or a trophy.
 */
const MAX_PART = 0.3;
const MIN_SALIENCE = 0.72;
/** Where masks see more of the player than this (0 to 1), on average, it is body. */
const MIN_BODY_CORE = 0.5;
/**
 * What touches the photo's border for longer than this, in square roots of its size, is furniture or ground.
 */
const MAX_BORDER = 1;
/** Patches below this part of the player's area are not things but fragments of the player's edge. */
const MIN_THING_PART = 0.003;
/** Cells that masks and salience both claim by more than this (0 to 1) are part of the body. */
const MIN_CLAIM = 0.1;
/** Below these log odds the body parts network is sure that nobody is there; its lowest are about -2.4. */
const SURELY_NOBODY = -2;
/** How far the faint edge of a thing and its connection to the body extend around it, in cells. */
const REACH_CELLS = 5;

/**
 * Decides which salient things outside the body belong to the player, by their size and by what they touch.
 * Each is kept or dropped whole: half a ball is worse than none.
 * @param {{ odds: Numbers, own: Numbers, fine: Numbers, core: Numbers, claimed: Numbers,
 *   theirs: Numbers }} maps `odds` of a person, as the body parts network sees it
 * @param {number} width
 * @returns {{ held: Numbers, left: Numbers }} `held` is 1 on things that belong to the player and less on
 *   their soft edge, `left` 1 on things that do not
 */
export function sortBelongings({ odds, own, fine, core, claimed, theirs }, width) {
  // Legs that the body parts network misses must not be taken for things; masks and salience do see them.
  /** @type {Flags} */
  const body = new Uint8Array(fine.length);
  const inThings = above(fine, 0.5);
  let playerCells = 0;
  for (let i = 0; i < fine.length; i++) {
    const isClaimed = claimed[i] > MIN_CLAIM && odds[i] > SURELY_NOBODY;
    body[i] = (odds[i] > 0 || isClaimed) && own[i] > 0.5 ? 1 : 0;
    playerCells += body[i];
    if (isClaimed || odds[i] >= 0 || theirs[i] >= 0.5) inThings[i] = 0;
  }
  const { labels, sizes } = patches(inThings, width);
  const sums = (/** @type {Numbers | Flags} */ values) => sumsOf(labels, sizes, values);
  const [salience, masked, touches, border] = [
    sums(fine),
    sums(core),
    sums(beside(body, width)),
    sums(borderOf(body, width)),
  ];
  const isReal = sizes.map((size, label) => label > 0 && size >= MIN_THING_PART * playerCells);
  const kept = sizes.map((size, label) => {
    if (touches[label] === 0 || Number(border[label]) > MAX_BORDER * Math.sqrt(size)) return false;
    if (Number(masked[label]) > MIN_BODY_CORE * size) return true;
    return size <= MAX_PART * playerCells && Number(salience[label]) >= MIN_SALIENCE * size;
  });
  /** @type {Numbers} */
  const held = new Float32Array(fine.length);
  /** @type {Numbers} */
  const left = new Float32Array(fine.length);
  for (let i = 0; i < fine.length; i++) {
    const label = labels[i];
    if (!isReal[label]) continue;
    if (kept[label]) held[i] = 1;
    else left[i] = 1;
  }
  const reach = dilate(held, width, REACH_CELLS);
  for (let i = 0; i < fine.length; i++)
    if (reach[i] > 0 && !held[i] && fine[i] > 0.15) held[i] = Math.min(1, 2 * fine[i]);
  return { held, left };
}

/** The cells with a cell of the body next to them. @param {Flags} body @param {number} width */
function beside(body, width) {
  /** @type {Flags} */
  const cells = new Uint8Array(body.length);
  for (let i = 0; i < cells.length; i++) {
    const x = i % width;
    const inRow = (x > 0 && body[i - 1]) || (x < width - 1 && body[i + 1]);
    cells[i] = inRow || body[i - width] || body[i + width] ? 1 : 0;
  }
  return cells;
}

/** The cells at the left, right and upper edge. @param {Flags} body @param {number} width */
function borderOf(body, width) {
  /** @type {Flags} */
  const cells = new Uint8Array(body.length);
  for (let i = 0; i < cells.length; i++)
    cells[i] = i < width || i % width === 0 || i % width === width - 1 ? 1 : 0;
  return cells;
}
