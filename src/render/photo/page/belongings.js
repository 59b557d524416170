import { trunkLength } from "./limbs.js";
import { dilate, patches } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Grid, Labels, Numbers } from "./masks.js" */

/** Something salient beside the body, such as a ball, is kept whole when it is clear and not too large for the player. */
const MAX_BELONGING_PART = 0.2;
const MIN_BELONGING_SALIENCE = 0.72;
/** In a hand it may be larger: rackets, bats, trophies. */
const MAX_HELD_PART = 0.6;
const MIN_HELD_SALIENCE = 0.6;
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
/** Colours are compared with the background so many cells around a thing, in so many levels of each channel. */
const AROUND_CELLS = 6;
const LEVEL_SHIFT = 5;

/** How far a hand reaches, as a part of the trunk's length. */
const HAND_REACH_PART = 0.45;
/** BlazePose's wrists, little fingers, index fingers and thumbs. */
const HANDS = [15, 16, 17, 18, 19, 20, 21, 22];
const MIN_HAND_VISIBLE = 0.3;

/**
 * Salient things that are no body are taken whole or left whole: half a ball is worse than none.
 * @param {Finding} player
 * @param {{ parts: { odds: Numbers }, own: Numbers, others: Numbers, fine: Numbers, core: Numbers, theirs: Numbers }} maps
 * @param {Bytes} rgba on the grid @param {Grid} grid
 * @returns {{ held: Numbers, left: Numbers }} 1 on what belongs to the player, and on what does not
 */
export function sortBelongings(player, { parts, own, others, fine, core, theirs }, rgba, grid) {
  const { width } = grid;
  const isBody = (/** @type {number} */ i) => parts.odds[i] > 0 && own[i] > 0.5 && others[i] < 0.5;
  const { labels, sizes } = patches(
    fine.length,
    width,
    (i) => fine[i] > 0.5 && parts.odds[i] < 0 && theirs[i] < 0.5,
  );
  const inHand = handCells(player, grid);
  const things = sizes.map((size) => ({ size, salience: 0, border: 0, handled: 0, touches: 0, masked: 0 }));
  let playerCells = 0;
  for (let i = 0; i < fine.length; i++) {
    if (isBody(i)) playerCells++;
    const thing = labels[i] ? things[labels[i]] : undefined;
    if (!thing) continue;
    const x = i % width;
    thing.salience += fine[i];
    thing.masked += core[i];
    if (inHand[i] > 0) thing.handled++;
    if ([i - 1, i + 1, i - width, i + width].some(isBody)) thing.touches++;
    if (x === 0 || x === width - 1 || i < width) thing.border++;
  }
  const blends = blendings(labels, sizes, (i) => fine[i] < 0.4 && parts.odds[i] < 0, rgba, width);
  const kept = things.map(({ size, salience, border, handled, touches, masked }, label) => {
    if (label === 0 || size < MIN_THING_PART * playerCells) return false;
    if (Number(blends[label]) > (handled > 0 ? MAX_HELD_BLENDING : MAX_BLENDING)) return false;
    if (border > MAX_BORDER * Math.sqrt(size)) return false;
    if (masked > 0.5 * size && touches > 0) return true;
    const isBefore = touches > MIN_CONTACT * Math.sqrt(size) && salience >= MIN_BELONGING_SALIENCE * size;
    if (isBefore && size <= MAX_HELD_PART * playerCells) return true;
    if (handled > 0 && size <= MAX_HELD_PART * playerCells) return salience >= MIN_HELD_SALIENCE * size;
    return size <= MAX_BELONGING_PART * playerCells && salience >= MIN_BELONGING_SALIENCE * size;
  });
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

/**
 * How far the colours of things are those of the background around them: the part that two histograms share, 0 to 1.
 * @param {Labels} labels @param {number[]} sizes @param {(cell: number) => boolean} isBehind
 * @param {Bytes} rgba @param {number} width
 */
function blendings(labels, sizes, isBehind, rgba, width) {
  const bits = 8 - LEVEL_SHIFT;
  const colours = 1 << (3 * bits);
  const histograms = () => /** @type {Numbers} */ (new Float32Array(sizes.length * colours));
  const [own, behind] = [histograms(), histograms()];
  const beside = /** @type {Numbers} */ (new Float32Array(sizes.length));
  const nearest = spreadLabels(labels, width, AROUND_CELLS);
  for (let i = 0; i < labels.length; i++) {
    const label = nearest[i];
    if (!label) continue;
    const red = rgba[4 * i] >> LEVEL_SHIFT;
    const green = rgba[4 * i + 1] >> LEVEL_SHIFT;
    const colour = (((red << bits) | green) << bits) | (rgba[4 * i + 2] >> LEVEL_SHIFT);
    if (labels[i]) own[label * colours + colour]++;
    else if (isBehind(i)) {
      behind[label * colours + colour]++;
      beside[label]++;
    }
  }
  return sizes.map((size, label) => {
    if (label === 0 || beside[label] === 0) return 0;
    let shared = 0;
    for (let at = label * colours; at < (label + 1) * colours; at++)
      shared += Math.min(own[at] / size, behind[at] / beside[label]);
    return shared;
  });
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
