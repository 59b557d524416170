import { SURELY_NOBODY } from "./body_parts.js";
import { trunkLength } from "./limbs.js";
import { dilate, patches } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Grid, Labels, Numbers } from "./masks.js" */

/** Something salient beside the body, such as a ball, is kept whole when it is clear and not too large for the player. */
const MAX_BELONGING_PART = 0.2;
const MIN_BELONGING_SALIENCE = 0.72;
/** Where masks and salience claim a cell more surely than this, it is a part of the body. */
const MIN_CLAIM = 0.1;
/** In a hand it may be larger: rackets, bats, trophies. */
const MAX_HELD_PART = 0.6;
const MIN_HELD_SALIENCE = 0.7;
/** Beside others no thing this large is the player's: it is somebody with a bicycle. */
const MAX_HELD_IN_COMPANY = 0.3;
/** Smaller ones are no things but bits of the edge. */
const MIN_THING_PART = 0.003;
/** What lies along the photo's border for longer than this, in roots of its size, is furniture or ground. */
const MAX_BORDER = 1;
/** What touches the body for longer than this, in roots of its size, is carried before it; without it the body has a bite. */
const MIN_CONTACT = 0.9;
/** How far around a thing its faint edge and its bridge to the body reach, in cells. */
const REACH_CELLS = 5;

/** Things whose colours are so far those of the background beside them are background; through strings it is seen too. */
const MAX_BLENDING = 0.55;
const MAX_HELD_BLENDING = 0.85;
/**
 * What touches the body for longer than this, in roots of its size, is enclosed by it: where the masks do not see the
 * body either, and the colours are rather those of the background, it is the gap between arms; where they do, it is body.
 */
const MIN_ENCLOSED = 3;
const MAX_GAP_CORE = 0.15;
const MIN_BODY_CORE = 0.3;
/** What reaches the photo's edge is not enclosed there: a shoulder is claimed more surely than a flag behind it. */
const MIN_BORDER_CORE = 0.8;
const MAX_GAP_BLENDING = 0.5;
/** A gap goes on into neighbours whose channels differ by this much together. */
const GAP_STEP = 14;
/** Beside other people only balls are kept that the player neither holds nor has before the body. */
const MAX_BALL_ASPECT = 1.3;
const MIN_BALL_FILL = 0.7;
/** Colours are compared with the background so many cells around a thing, in so many levels of each channel. */
const AROUND_CELLS = 6;
const LEVEL_BITS = 3;
const LEVEL_SHIFT = 8 - LEVEL_BITS;
/** With fewer cells of background around it than this, in roots of its size, a thing is enclosed. */
const MIN_BESIDE = 1;

/** How far a hand reaches, as a part of the trunk's length. */
const HAND_REACH_PART = 0.45;
/** BlazePose's wrists, little fingers, index fingers and thumbs. */
const HANDS = [15, 16, 17, 18, 19, 20, 21, 22];
const MIN_HAND_VISIBLE = 0.3;

/**
 * Salient things that are no body are taken whole or left whole: half a ball is worse than none.
 * @param {Finding} player
 * @param {{ parts: { odds: Numbers }, own: Numbers, others: Numbers, fine: Numbers, core: Numbers, claimed: Numbers, theirs: Numbers }} maps
 * @param {Bytes} rgba on the grid @param {Grid} grid
 * @returns {{ held: Numbers, left: Numbers }} 1 on what belongs to the player, and on what does not
 */
export function sortBelongings(player, { parts, own, others, fine, core, claimed, theirs }, rgba, grid) {
  const { width } = grid;
  // Legs that the body parts network does not see are no things: masks and salience see them.
  const isClaimed = (/** @type {number} */ i) => claimed[i] > MIN_CLAIM && parts.odds[i] > SURELY_NOBODY;
  const isBody = (/** @type {number} */ i) =>
    (parts.odds[i] > 0 || isClaimed(i)) && own[i] > 0.5 && others[i] < 0.5;
  const { labels, sizes } = patches(
    fine.length,
    width,
    (i) => fine[i] > 0.5 && parts.odds[i] < 0 && theirs[i] < 0.5 && !isClaimed(i),
  );
  const { things, playerCells } = measureThings(
    labels,
    sizes,
    { isBody, fine, core, inHand: handCells(player, grid) },
    width,
  );
  const isBehind = (/** @type {number} */ i) => fine[i] < 0.4 && parts.odds[i] < 0 && core[i] < 0.4;
  for (const [label, blending] of blendings(labels, sizes, isBehind, rgba, width).entries())
    Object.assign(things[label] ?? {}, { blending });
  const isReal = (/** @type {Thing} */ { size }) => size >= MIN_THING_PART * playerCells;
  const gaps = things.map((thing, label) => label > 0 && isReal(thing) && isGap(thing));
  growGaps(labels, gaps, core, rgba, width);
  const inCompany = theirs.some((value) => value > 0.5);
  const kept = things.map(
    (thing, label) => label > 0 && isReal(thing) && !gaps[label] && belongs(thing, playerCells, inCompany),
  );
  /** @type {Numbers} */
  const held = new Float32Array(fine.length);
  /** @type {Numbers} */
  const left = new Float32Array(fine.length);
  for (let i = 0; i < fine.length; i++) {
    const label = labels[i];
    if (!label) continue;
    if (kept[label]) held[i] = 1;
    else if (Number(sizes[label]) > MIN_THING_PART * playerCells) left[i] = 1;
  }
  const reach = dilate(held, width, REACH_CELLS);
  for (let i = 0; i < fine.length; i++)
    if (reach[i] > 0 && !held[i] && fine[i] > 0.15) held[i] = Math.min(1, 2 * fine[i]);
  return { held, left };
}

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Bounds in cells, all within */

/**
 * A salient patch that is no body, in cells but for the last.
 * @typedef {object} Thing
 * @property {number} size
 * @property {number} salience summed
 * @property {number} masked how far pose and person mask claim it, summed
 * @property {number} handled in reach of a hand
 * @property {number} touches beside the body
 * @property {number} border along the photo's edge
 * @property {Bounds} bounds
 * @property {number} blending how far its colours are the background's, 0 to 1
 */

/**
 * @param {Labels} labels @param {number[]} sizes
 * @param {{ isBody: (cell: number) => boolean, fine: Numbers, core: Numbers, inHand: Numbers }} maps @param {number} width
 * @returns {{ things: Thing[], playerCells: number }} things by label
 */
function measureThings(labels, sizes, { isBody, fine, core, inHand }, width) {
  const things = sizes.map((size) => ({
    size,
    salience: 0,
    masked: 0,
    handled: 0,
    touches: 0,
    border: 0,
    bounds: { left: width, right: 0, top: labels.length, bottom: 0 },
    blending: 0,
  }));
  let playerCells = 0;
  for (let i = 0; i < labels.length; i++) {
    if (isBody(i)) playerCells++;
    const thing = labels[i] ? things[labels[i]] : undefined;
    if (!thing) continue;
    const x = i % width;
    thing.salience += fine[i];
    thing.masked += core[i];
    grow(thing.bounds, x, Math.floor(i / width));
    if (inHand[i] > 0) thing.handled++;
    if ([i - 1, i + 1, i - width, i + width].some(isBody)) thing.touches++;
    if (x === 0 || x === width - 1 || i < width) thing.border++;
  }
  return { things, playerCells };
}

/** Whether the background shows through the body there. @param {Thing} thing */
function isGap({ size, touches, masked, blending }) {
  const isEnclosed = touches > MIN_ENCLOSED * Math.sqrt(size);
  return isEnclosed && masked < MAX_GAP_CORE * size && blending > MAX_GAP_BLENDING;
}

/** Whether a thing is the player's. @param {Thing} thing @param {number} playerCells @param {boolean} inCompany */
function belongs(
  { size, salience, border, handled, touches, masked, bounds, blending },
  playerCells,
  inCompany,
) {
  const minCore = border === 0 ? MIN_BODY_CORE : MIN_BORDER_CORE;
  if (touches > MIN_ENCLOSED * Math.sqrt(size) && masked > minCore * size) return true;
  if (inCompany && handled === 0 && masked < MIN_BODY_CORE * size && !isBall(bounds, size)) return false;
  if (blending > (handled > 0 ? MAX_HELD_BLENDING : MAX_BLENDING)) return false;
  if (border > MAX_BORDER * Math.sqrt(size)) return false;
  if (masked > 0.5 * size && touches > 0) return true;
  const isBefore = touches > MIN_CONTACT * Math.sqrt(size) && salience >= MIN_BELONGING_SALIENCE * size;
  const largest = (inCompany ? MAX_HELD_IN_COMPANY : MAX_HELD_PART) * playerCells;
  if (isBefore && size <= largest) return true;
  if (handled > 0 && size <= largest) return salience >= MIN_HELD_SALIENCE * size;
  return size <= MAX_BELONGING_PART * playerCells && salience >= MIN_BELONGING_SALIENCE * size;
}

/** @param {Bounds} bounds changed in place @param {number} x @param {number} y */
function grow(bounds, x, y) {
  bounds.left = Math.min(bounds.left, x);
  bounds.right = Math.max(bounds.right, x);
  bounds.top = Math.min(bounds.top, y);
  bounds.bottom = Math.max(bounds.bottom, y);
}

/** Whether a patch is round: as wide as high, and filling as much of its box as a disc does. @param {Bounds} bounds @param {number} size */
function isBall({ left, right, top, bottom }, size) {
  const [width, height] = [right - left + 1, bottom - top + 1];
  const isEven = Math.max(width, height) <= MAX_BALL_ASPECT * Math.min(width, height);
  return isEven && size >= MIN_BALL_FILL * width * height;
}

/**
 * How far the colours of things are those of the background around them: the part that two histograms share, 0 to 1.
 * @param {Labels} labels @param {number[]} sizes @param {(cell: number) => boolean} isBehind
 * @param {Bytes} rgba @param {number} width
 */
function blendings(labels, sizes, isBehind, rgba, width) {
  const colours = 1 << (3 * LEVEL_BITS);
  const histograms = () => /** @type {Numbers} */ (new Float32Array(sizes.length * colours));
  const [own, behind] = [histograms(), histograms()];
  const beside = /** @type {Numbers} */ (new Float32Array(sizes.length));
  const nearest = spreadLabels(labels, width, AROUND_CELLS);
  for (let i = 0; i < labels.length; i++) {
    const label = nearest[i];
    if (!label) continue;
    const colour = colourOf(rgba, i);
    if (labels[i]) own[label * colours + colour]++;
    else if (isBehind(i)) {
      behind[label * colours + colour]++;
      beside[label]++;
    }
  }
  // A gap that the body encloses has no background beside it and is compared with all of it.
  const all = /** @type {Numbers} */ (new Float32Array(colours));
  let allCells = 0;
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] || !isBehind(i)) continue;
    allCells++;
    all[colourOf(rgba, i)]++;
  }
  return sizes.map((size, label) => {
    const isEnclosed = beside[label] < MIN_BESIDE * Math.sqrt(size);
    const cells = isEnclosed ? allCells : beside[label];
    if (label === 0 || cells === 0) return 0;
    let shared = 0;
    for (let colour = 0; colour < colours; colour++) {
      const around = isEnclosed ? all[colour] : behind[label * colours + colour];
      shared += Math.min(own[label * colours + colour] / size, around / cells);
    }
    return shared;
  });
}

/**
 * Lets gaps go on, into what the other networks take for body, as far as the picture hardly changes and no mask sees the player.
 * @param {Labels} labels changed in place @param {boolean[]} isGap by label @param {Numbers} core
 * @param {Bytes} rgba @param {number} width
 */
function growGaps(labels, isGap, core, rgba, width) {
  /** @type {number[]} */
  const open = [];
  for (let i = 0; i < labels.length; i++) if (isGap[labels[i]]) open.push(i);
  for (let cell = open.pop(); cell !== undefined; cell = open.pop()) {
    for (const next of [cell - 1, cell + 1, cell - width, cell + width]) {
      if (next < 0 || next >= labels.length || isGap[labels[next]] || core[next] > MAX_GAP_CORE) continue;
      let apart = 0;
      for (let k = 0; k < 3; k++) apart += Math.abs(rgba[4 * cell + k] - rgba[4 * next + k]);
      if (apart > GAP_STEP) continue;
      labels[next] = labels[cell];
      open.push(next);
    }
  }
}

/** @param {Bytes} rgba @param {number} cell */
function colourOf(rgba, cell) {
  const [red, green] = [rgba[4 * cell] >> LEVEL_SHIFT, rgba[4 * cell + 1] >> LEVEL_SHIFT];
  return (((red << LEVEL_BITS) | green) << LEVEL_BITS) | (rgba[4 * cell + 2] >> LEVEL_SHIFT);
}

/** Every label grown by so many cells, into cells without one. @param {Labels} labels @param {number} width @param {number} cells @returns {Labels} */
function spreadLabels(labels, width, cells) {
  let now = labels;
  for (let round = 0; round < cells; round++) {
    /** @type {Labels} */
    const next = new Int32Array(now);
    for (let i = 0; i < now.length; i++) {
      if (!now[i]) next[i] = now[i - 1] || now[i + 1] || now[i - width] || now[i + width] || 0;
    }
    now = next;
  }
  return now;
}

/** 1 in reach of the player's hands. @param {Finding} player @param {Grid} grid @returns {Numbers} */
export function handCells({ pose }, { x, y, width, height, step }) {
  /** @type {Numbers} */
  const cells = new Float32Array(width * height);
  if (!pose) return cells;
  const radius = (HAND_REACH_PART * trunkLength(pose.points)) / step;
  for (const i of HANDS) {
    const hand = pose.points[i];
    if (!hand || Number(pose.visibility[i]) < MIN_HAND_VISIBLE) continue;
    const [cx, cy] = [(hand.x - x) / step, (hand.y - y) / step];
    for (let v = Math.max(0, Math.ceil(cy - radius)); v < Math.min(height, cy + radius); v++) {
      const reach = Math.sqrt(Math.max(0, radius * radius - (v - cy) * (v - cy)));
      const [left, right] = [Math.max(0, Math.ceil(cx - reach)), Math.min(width, Math.ceil(cx + reach))];
      if (left < right) cells.fill(1, v * width + left, v * width + right);
    }
  }
  return cells;
}
