import { colourOdds } from "./colour_evidence.js";
import { trunkLength } from "./limbs.js";
import { dilate, patches } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Grid, Numbers } from "./masks.js" */
/** @import { Salience } from "./opinions.js" */

/** Something salient beside the body, such as a ball, is kept whole when it is clear and not too large for the player. */
const MAX_BELONGING_PART = 0.2;
const MIN_BELONGING_SALIENCE = 0.72;
/** In a hand it may be larger: rackets, bats, trophies. */
const MAX_HELD_PART = 0.45;
/** Smaller ones are no things but bits of the edge. */
const MIN_THING_PART = 0.002;
/** Its bridge to the body is taken with it. */
const BELONGING_REACH_CELLS = 9;
/** What lies along the photo's border for longer than this, in roots of its size, is furniture or ground. */
const MAX_BORDER = 1;

/** How far a hand reaches, as a part of the trunk's length. */
const HAND_REACH_PART = 0.6;
/** BlazePose's wrists, little fingers, index fingers and thumbs. */
const HANDS = [15, 16, 17, 18, 19, 20, 21, 22];
const MIN_HAND_VISIBLE = 0.3;

/** Mean log odds of a part's colours from which it is the player's. */
const OWN_COLOURS = 0.3;

/**
 * 1 where the player is to the left and to the right, or above and below, and the cell itself is not the player: the gaps
 * between arms and body and between the legs.
 * @param {Numbers} body @param {Grid} grid
 * @returns {Numbers}
 */
export function gapsIn(body, { width, height }) {
  /** @type {Numbers} */
  const gaps = new Float32Array(body.length);
  const mark = (/** @type {number} */ first, /** @type {number} */ stride, /** @type {number} */ length) => {
    let last = -1;
    for (let k = 0; k < length; k++) {
      if (body[first + k * stride] <= 0.5) continue;
      if (last >= 0) for (let gap = last + 1; gap < k; gap++) gaps[first + gap * stride] = 1;
      last = k;
    }
  };
  for (let y = 0; y < height; y++) mark(y * width, 1, width);
  for (let x = 0; x < width; x++) mark(x, width, height);
  return gaps;
}

/**
 * Salient parts between limbs that pose and person mask have missed are the player's when they have the player's colours:
 * a skirt's hem, but not the gap between arm and body.
 * @param {Salience} salience @param {Numbers} support changed in place @param {Numbers} core @param {Numbers} gaps
 * @param {Bytes} rgba @param {number} width
 */
export function admitOwnColours({ least }, support, core, gaps, rgba, width) {
  const { labels, sizes } = patches(
    core.length,
    width,
    (cell) => least[cell] > 0.5 && support[cell] < 0.5 && gaps[cell] > 0.5,
  );
  if (sizes.length === 1) return;
  /** @type {Numbers} */
  const seeds = core.map((value, i) => (value > 0.7 ? 1 : support[i] > 0 || least[i] > 0.3 ? 0.5 : 0));
  const colours = colourOdds(seeds, rgba, width, (cell) => Number(labels[cell]) > 0);
  const sums = sizes.map(() => 0);
  for (let i = 0; i < colours.length; i++) if (labels[i]) sums[labels[i]] += colours[i];
  for (let i = 0; i < colours.length; i++) {
    if (labels[i] && Number(sums[labels[i]]) > OWN_COLOURS * Number(sizes[labels[i]])) support[i] = 1;
  }
}

/**
 * Salient things out of reach of the body are taken whole or left whole: half a ball is worse than none.
 * @param {Salience} salience @param {Numbers} support changed in place @param {Numbers} body @param {Numbers} gaps
 * @param {Finding} player @param {Grid} grid
 * @returns {{ held: Numbers, left: Numbers }} 1 on what belongs to the player, and 1 on and beside what does not
 */
export function sortBelongings({ most }, support, body, gaps, player, grid) {
  const inHand = handCells(player, grid);
  const nearBody = dilate(support, grid.width, BELONGING_REACH_CELLS);
  const { labels, things, playerCells } = thingsOf({ most, support, body, gaps, inHand, nearBody }, grid);
  const admitted = things.map(({ size, salience, border, handled, near }) => {
    if (!near) return false;
    const limit = handled ? MAX_HELD_PART : MAX_BELONGING_PART;
    const goesOn = border > MAX_BORDER * Math.sqrt(size);
    return !goesOn && size <= limit * playerCells && salience >= MIN_BELONGING_SALIENCE * size;
  });
  const anyInHand = things.some(({ handled }, label) => label > 0 && handled && admitted[label]);
  /** @type {Numbers} */
  const held = support.map((_, i) => (labels[i] && admitted[labels[i]] ? 1 : 0));
  /** @type {Numbers} */
  const left = support.map((_, i) => {
    const isThing = Number(things[labels[i]]?.size) > MIN_THING_PART * playerCells;
    return labels[i] && !admitted[labels[i]] && isThing ? 1 : 0;
  });
  const reach = dilate(held, grid.width, BELONGING_REACH_CELLS);
  for (let i = 0; i < support.length; i++) {
    support[i] = Math.max(support[i], reach[i] * (1 - gaps[i]));
    // Its bridge to the hand is held with it.
    const isBridge = reach[i] > 0 || (anyInHand && inHand[i] > 0);
    if (isBridge && most[i] > 0.5 && support[i] > 0.5) held[i] = 1;
  }
  return { held, left: dilate(left, grid.width, BELONGING_REACH_CELLS) };
}

/**
 * The salient patches beside the body and between no limbs; the first stands for everything else.
 * @param {Record<"most" | "support" | "body" | "gaps" | "inHand" | "nearBody", Numbers>} maps @param {Grid} grid
 */
function thingsOf({ most, support, body, gaps, inHand, nearBody }, { width, height }) {
  const { labels, sizes } = patches(
    most.length,
    width,
    (cell) => most[cell] > 0.5 && support[cell] < 0.5 && gaps[cell] < 0.5,
  );
  const things = sizes.map((size) => ({ size, salience: 0, border: 0, handled: false, near: false }));
  let playerCells = 0;
  for (let i = 0; i < most.length; i++) {
    if (body[i] > 0.5) playerCells++;
    const thing = labels[i] ? things[labels[i]] : undefined;
    if (!thing) continue;
    const x = i % width;
    thing.salience += most[i];
    if (inHand[i] > 0) thing.handled = true;
    if (nearBody[i] > 0.5) thing.near = true;
    if (x === 0 || x === width - 1 || i < width || i >= width * (height - 1)) thing.border++;
  }
  return { labels, things, playerCells };
}

/** 1 in reach of the player's hands. @param {Finding} player @param {Grid} grid @returns {Numbers} */
function handCells({ pose }, { x, y, width, height, step }) {
  /** @type {Numbers} */
  const cells = new Float32Array(width * height);
  if (!pose) return cells;
  const radius = (HAND_REACH_PART * trunkLength(pose.points)) / step;
  for (const i of HANDS) {
    const hand = pose.points[i];
    if (!hand || hand.visible < MIN_HAND_VISIBLE) continue;
    const [cx, cy] = [(hand.x - x) / step, (hand.y - y) / step];
    for (let v = Math.max(0, Math.ceil(cy - radius)); v < Math.min(height, cy + radius); v++) {
      const reach = Math.sqrt(Math.max(0, radius * radius - (v - cy) * (v - cy)));
      const [left, right] = [Math.max(0, Math.ceil(cx - reach)), Math.min(width, Math.ceil(cx + reach))];
      if (left < right) cells.fill(1, v * width + left, v * width + right);
    }
  }
  return cells;
}
