import { SURELY_NOBODY } from "./body_parts.js";
import { above, dilate, patches } from "./masks.js";

/** @import { Bytes, Flags, Labels, Numbers } from "./masks.js" */

/**
 * A salient thing next to the body, such as a ball, is kept if it takes at most this part of the player's
 * area and its mean salience (0 to 1) is at least this.
 */
const MAX_BELONGING_PART = 0.2;
const MIN_BELONGING_SALIENCE = 0.72;
/** Cells that masks and salience both claim by more than this (0 to 1) are part of the body. */
const MIN_CLAIM = 0.1;
/** Things in a hand may be larger: rackets, bats, trophies. */
const MAX_HELD_PART = 0.6;
const MIN_HELD_SALIENCE = 0.7;
/**
 * Nobody carries a thing that no hand is near, in which the body parts network is on average surer than this
 * of nobody (log odds) and the masks see less than this of the player: a beam, a statue or a patch of wall
 * behind. Balls fly, and what the body mostly encloses, by so many cells of its outline for each that is
 * open, is carried in front of it. Of 320 photos five have such things, none a player's.
 */
const BACKDROP_ODDS = -1.7;
const MAX_BACKDROP_CORE = 0.25;
const MIN_ENCLOSED_TO_OPEN = 2;
/** Beside other people, a larger thing is not the player's but, for example, somebody with a bicycle. */
const MAX_HELD_IN_COMPANY = 0.3;
/** Patches below this part of the player's area are not things but fragments of the player's edge. */
const MIN_THING_PART = 0.003;
/**
 * Things that touch the photo's border for longer than this, in square roots of their size, are furniture or
 * ground.
 */
const MAX_BORDER = 1;
/**
 * Things that touch the body for longer than this, in square roots of their size, are carried in front of it;
 * without them the body would have a bite taken out.
 */
const MIN_CONTACT = 0.9;
/**
 * A thing below this part of the player's area that touches the body for less than this, in square roots of
 * its size, only looks out from behind it, unless the masks see the player there or it is round.
 */
const SMALL_THING_PART = 0.01;
const MIN_SMALL_CONTACT = 1.5;
/** How far the faint edge of a thing and its connection to the body extend around it, in cells. */
const REACH_CELLS = 5;

/**
 * Things that share more than this part of their colours with the background next to them are background
 * themselves. Held things may share more, because the background shows through a racket's strings.
 */
const MAX_BLENDING = 0.55;
const MAX_HELD_BLENDING = 0.85;
/**
 * Patches that touch the body for longer than this, in square roots of their size, are enclosed by it; if the
 * masks see the player there too, they are body.
 */
const MIN_ENCLOSED = 3;
const MIN_BODY_CORE = 0.3;
/**
 * A patch at the photo's edge is not enclosed on that side, so the masks must be surer: they are of a
 * shoulder, but not of a flag behind it.
 */
const MIN_BORDER_CORE = 0.8;
/**
 * Beside other people, things that the player neither holds nor has in front of the body must be balls to be
 * kept.
 */
const MAX_BALL_ASPECT = 1.3;
const MIN_BALL_FILL = 0.7;
/**
 * Things apart from the body of which more than this part is pure white are lamps; pure is from this level
 * on.
 */
const MAX_WHITE_PART = 0.9;
const WHITE_LEVEL = 250;
/**
 * A thing's colours are compared with the background's up to this many cells around it, with this many bits
 * for each channel.
 */
const AROUND_CELLS = 6;
const LEVEL_BITS = 3;
const LEVEL_SHIFT = 8 - LEVEL_BITS;
/** A thing with fewer cells of background next to it than this, in square roots of its size, is enclosed. */
const MIN_BESIDE = 1;

/**
 * Decides which salient things outside the body belong to the player. Each is kept or dropped whole: half a
 * ball is worse than none.
 * @param {{ parts: { odds: Numbers }, own: Numbers, others: Numbers, fine: Numbers, core: Numbers, claimed:
 *   Numbers, theirs: Numbers, hands: Numbers }} maps `hands` is 1 within reach of the player's hands
 * @param {Bytes} rgba on the grid
 * @param {number} width
 * @returns {{ held: Numbers, left: Numbers }} `held` is 1 on things that belong to the player and less on
 *   their soft edge, `left` 1 on things that do not
 */
export function sortBelongings({ parts, own, others, fine, core, claimed, theirs, hands }, rgba, width) {
  // Legs that the body parts network misses must not be taken for things; masks and salience do see them.
  /** @type {Flags} */
  const body = new Uint8Array(fine.length);
  const inThings = above(fine, 0.5);
  /** @type {Flags} */
  const behind = new Uint8Array(fine.length);
  for (let i = 0; i < fine.length; i++) {
    const odds = parts.odds[i];
    const isClaimed = claimed[i] > MIN_CLAIM && odds > SURELY_NOBODY;
    body[i] = (odds > 0 || isClaimed) && own[i] > 0.5 && others[i] < 0.5 ? 1 : 0;
    if (isClaimed || !(odds < 0 && theirs[i] < 0.5)) inThings[i] = 0;
    behind[i] = fine[i] < 0.4 && odds < 0 && core[i] < 0.4 ? 1 : 0;
  }
  const { labels, sizes } = patches(inThings, width);
  const maps = { body, odds: parts.odds, fine, core, hands };
  const { things, playerCells } = measureThings(labels, sizes, maps, rgba, width);
  for (const [label, blending] of blendings(labels, sizes, behind, rgba, width).entries())
    Object.assign(things[label] ?? {}, { blending });
  const isReal = (/** @type {Thing} */ { size }) => size >= MIN_THING_PART * playerCells;
  const inCompany = theirs.some((value) => value > 0.5);
  const kept = things.map(
    (thing, label) => label > 0 && isReal(thing) && belongs(thing, playerCells, inCompany),
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

/** @typedef {{ left: number, right: number, top: number, bottom: number }} Bounds in cells, inclusive */

/**
 * A salient patch outside the body. Its measures are in cells unless said otherwise.
 * @typedef {object} Thing
 * @property {number} size
 * @property {number} salience 0 to 1 a cell, summed
 * @property {number} masked how sure pose and person mask are that it is the player, 0 to 1 a cell, summed
 * @property {number} handled within reach of a hand
 * @property {number} odds of a person, as the body parts network sees it, a cell, summed
 * @property {number} touches adjacent to the body
 * @property {number} open adjacent to neither the body nor more of the thing
 * @property {number} border at the left, right or top edge
 * @property {Bounds} bounds
 * @property {number} white of pure white
 * @property {number} blending part of its colours that the background shares, 0 to 1
 */

/**
 * @param {Labels} labels @param {number[]} sizes
 * @param {{ body: Flags, odds: Numbers, fine: Numbers, core: Numbers, hands: Numbers }} maps
 * @param {Bytes} rgba @param {number} width
 * @returns {{ things: Thing[], playerCells: number }} things by label
 */
function measureThings(labels, sizes, { body, odds, fine, core, hands }, rgba, width) {
  const things = sizes.map((size) => ({
    size,
    salience: 0,
    masked: 0,
    handled: 0,
    odds: 0,
    touches: 0,
    open: 0,
    border: 0,
    bounds: { left: width, right: 0, top: labels.length, bottom: 0 },
    white: 0,
    blending: 0,
  }));
  let playerCells = 0;
  for (let i = 0; i < labels.length; i++) {
    playerCells += body[i];
    const thing = labels[i] ? things[labels[i]] : undefined;
    if (!thing) continue;
    const x = i % width;
    thing.salience += fine[i];
    thing.masked += core[i];
    thing.odds += odds[i];
    grow(thing.bounds, x, Math.floor(i / width));
    if (hands[i] > 0) thing.handled++;
    if (Math.min(rgba[4 * i], rgba[4 * i + 1], rgba[4 * i + 2]) >= WHITE_LEVEL) thing.white++;
    if (body[i - 1] || body[i + 1] || body[i - width] || body[i + width]) thing.touches++;
    else if (isBesideNone(labels, i, width)) thing.open++;
    if (x === 0 || x === width - 1 || i < width) thing.border++;
  }
  return { things, playerCells };
}

/** @param {Labels} labels @param {number} i @param {number} width */
const isBesideNone = (labels, i, width) =>
  labels[i - 1] === 0 || labels[i + 1] === 0 || labels[i - width] === 0 || labels[i + width] === 0;

/**
 * @param {Thing} thing
 * @param {number} playerCells
 * @param {boolean} inCompany whether others are beside the player
 */
function belongs(thing, playerCells, inCompany) {
  const { size, salience, border, handled, touches, masked, bounds, white, blending } = thing;
  const minCore = border === 0 ? MIN_BODY_CORE : MIN_BORDER_CORE;
  if (touches > MIN_ENCLOSED * Math.sqrt(size) && masked > minCore * size) return true;
  if (touches === 0 && white > MAX_WHITE_PART * size) return false;
  if (isBackdrop(thing)) return false;
  const isClaimed = masked >= MIN_BODY_CORE * size;
  if (inCompany && handled === 0 && !isClaimed && !isBall(bounds, size)) return false;
  if (blending > (handled > 0 ? MAX_HELD_BLENDING : MAX_BLENDING)) return false;
  if (border > MAX_BORDER * Math.sqrt(size)) return false;
  if (masked > 0.5 * size && touches > 0) return true;
  const looksOut = size < SMALL_THING_PART * playerCells && touches < MIN_SMALL_CONTACT * Math.sqrt(size);
  if (looksOut && !isBall(bounds, size)) return false;
  const isBefore = touches > MIN_CONTACT * Math.sqrt(size) && salience >= MIN_BELONGING_SALIENCE * size;
  const largest = (inCompany ? MAX_HELD_IN_COMPANY : MAX_HELD_PART) * playerCells;
  if (isBefore && size <= largest) return true;
  if (handled > 0 && size <= largest) return salience >= MIN_HELD_SALIENCE * size;
  return size <= MAX_BELONGING_PART * playerCells && salience >= MIN_BELONGING_SALIENCE * size;
}

/** Whether a thing is not worn, held, carried or played with, but behind the player. @param {Thing} thing */
function isBackdrop({ size, odds, handled, touches, open, masked, bounds }) {
  const isUnseen = odds < BACKDROP_ODDS * size && masked < MAX_BACKDROP_CORE * size;
  return isUnseen && handled === 0 && touches < MIN_ENCLOSED_TO_OPEN * open && !isBall(bounds, size);
}

/** @param {Bounds} bounds changed in place @param {number} x @param {number} y */
function grow(bounds, x, y) {
  bounds.left = Math.min(bounds.left, x);
  bounds.right = Math.max(bounds.right, x);
  bounds.top = Math.min(bounds.top, y);
  bounds.bottom = Math.max(bounds.bottom, y);
}

/**
 * Whether a patch is round: about as wide as high, and filling its box about as much as a disc does.
 * @param {Bounds} bounds @param {number} size
 */
function isBall({ left, right, top, bottom }, size) {
  const [width, height] = [right - left + 1, bottom - top + 1];
  const isEven = Math.max(width, height) <= MAX_BALL_ASPECT * Math.min(width, height);
  return isEven && size >= MIN_BALL_FILL * width * height;
}

/**
 * For each label, the part of the thing's colours that the background around it shares: the intersection of
 * the two histograms, 0 to 1.
 * @param {Labels} labels @param {number[]} sizes @param {Flags} isBehind
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
    else if (isBehind[i]) {
      behind[label * colours + colour]++;
      beside[label]++;
    }
  }
  // A gap that the body encloses has no background next to it, so it is compared with all of the background.
  const all = /** @type {Numbers} */ (new Float32Array(colours));
  let allCells = 0;
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] || !isBehind[i]) continue;
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

/** @param {Bytes} rgba @param {number} cell */
function colourOf(rgba, cell) {
  const [red, green] = [rgba[4 * cell] >> LEVEL_SHIFT, rgba[4 * cell + 1] >> LEVEL_SHIFT];
  return (((red << LEVEL_BITS) | green) << LEVEL_BITS) | (rgba[4 * cell + 2] >> LEVEL_SHIFT);
}

/**
 * Grows every label by this many cells, into cells without one.
 * @param {Labels} labels @param {number} width @param {number} cells
 * @returns {Labels}
 */
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
