import { dilate, patches } from "./masks.js";

/** @import { Bytes, Labels, Numbers } from "./masks.js" */

/** A scrap is at least this many cells wide somewhere; anything narrower is the player's soft edge. */
const WIDER_THAN_EDGE = 5;
/**
 * Cells of a scrap are less salient than this, and the body parts network is not surer than this of a person
 * there.
 */
const UNSALIENT = 0.15;
const MAX_CELL_ODDS = 1;
/**
 * Things in a hand and limbs that the pose sees are never scraps; nor is anything next to this much hair (0
 * to 1).
 */
const MAX_LIMB = 0.5;
const MAX_HAIR = 0.3;
/**
 * A scrap is at most this part of the player's area, and a person there is on average not likelier than this.
 */
const MAX_SCRAP_PART = 0.04;
const MAX_SCRAP_ODDS = 0.25;
/** A veil is so faint (alpha) and so surely nobody (log odds) on average that its colours do not matter. */
const VEIL = { alpha: 0.6, odds: -1.5, part: 0.1 };

/**
 * How far around a scrap player and background are looked at for their colours, in cells, and how many of
 * them.
 */
const AROUND_CELLS = 6;
const MAX_SAMPLES = 200;
/**
 * A scrap is background when its colours (channels 0 to 255) are nearer the background's than the player's by
 * this much ...
 */
const CLEARLY_NEARER = 8;
/** ... or at least this far from the player's, and no farther from the background's. */
const FOREIGN = 40;
/** Cells this opaque, where the body parts network is this sure of a person, show the player's colours. */
const SURE_ALPHA = 0.9;
const SURE_ODDS = 0.5;

/**
 * Drops scraps of background that are connected to the player: wide, half-sure patches at the edge that
 * nothing but pose or person mask claims, in colours of the background. A scrap goes whole, with its soft
 * edge.
 * @param {Numbers} matte 0 to 1, changed in place
 * @param {{ odds: Numbers, fine: Numbers, held: Numbers, limbs: Numbers, nearHair: Numbers }} maps
 * @param {Bytes} rgba @param {number} width
 */
export function dropFringes(matte, { odds, fine, held, limbs, nearHair }, rgba, width) {
  const isDoubted = (/** @type {number} */ i) =>
    matte[i] > 0.04 &&
    fine[i] < UNSALIENT &&
    odds[i] < MAX_CELL_ODDS &&
    held[i] <= 0 &&
    limbs[i] < MAX_LIMB &&
    nearHair[i] <= MAX_HAIR;
  const { labels, sizes } = patches(matte.length, width, isDoubted);
  if (!sizes.some(mayBeWide)) return;
  const scraps = measureScraps(labels, sizes, matte, odds, width);
  const playerCells = matte.reduce((cells, alpha) => cells + (alpha > 0.5 ? 1 : 0), 0);
  const isDropped = scraps.map((scrap) => {
    if (!scrap.wide) return false;
    const isVeil = scrap.alpha < VEIL.alpha * scrap.size && scrap.odds < VEIL.odds * scrap.size;
    if (isVeil) return scrap.size <= VEIL.part * playerCells;
    if (scrap.size > MAX_SCRAP_PART * playerCells || scrap.odds > MAX_SCRAP_ODDS * scrap.size) return false;
    const { player, behind } = coloursAround(scrap, labels, { matte, odds }, rgba, width);
    return player - behind > CLEARLY_NEARER || (player > FOREIGN && player >= behind);
  });
  for (let i = 0; i < matte.length; i++) if (isDropped[labels[i]]) matte[i] = 0;
}

/** Whether a patch has enough cells to be wider than an edge. @param {number} size */
function mayBeWide(size) {
  return size >= WIDER_THAN_EDGE ** 2;
}

/**
 * A patch of doubted cells.
 * @typedef {object} Scrap
 * @property {number} label
 * @property {number} size in cells
 * @property {boolean} wide whether a square of WIDER_THAN_EDGE fits into it
 * @property {number} alpha 0 to 1 a cell, summed
 * @property {number} odds of a person, as the body parts network sees it, a cell, summed
 * @property {{ left: number, right: number, top: number, bottom: number }} bounds in cells, inclusive
 */

/**
 * @param {Labels} labels
 * @param {number[]} sizes
 * @param {Numbers} matte
 * @param {Numbers} odds
 * @param {number} width
 * @returns {Scrap[]} by label
 */
function measureScraps(labels, sizes, matte, odds, width) {
  const scraps = sizes.map((size, label) => ({
    label,
    size,
    wide: false,
    alpha: 0,
    odds: 0,
    bounds: { left: width, right: 0, top: labels.length, bottom: 0 },
  }));
  /** @type {Numbers} */
  const outside = new Float32Array(labels.length);
  for (let i = 0; i < labels.length; i++) outside[i] = mayBeWide(Number(sizes[labels[i]])) ? 0 : 1;
  const others = dilate(outside, width, WIDER_THAN_EDGE >> 1);
  for (let i = 0; i < labels.length; i++) {
    const scrap = scraps[labels[i]];
    if (!scrap || !mayBeWide(scrap.size)) continue;
    scrap.alpha += matte[i];
    scrap.odds += odds[i];
    if (others[i] === 0) scrap.wide = true;
    const [x, y] = [i % width, Math.floor(i / width)];
    const { bounds } = scrap;
    bounds.left = Math.min(bounds.left, x);
    bounds.right = Math.max(bounds.right, x);
    bounds.top = Math.min(bounds.top, y);
    bounds.bottom = Math.max(bounds.bottom, y);
  }
  return scraps;
}

/**
 * How far a scrap's colours are from the player's and the background's, as far as both are seen around it.
 * @param {Scrap} scrap @param {Labels} labels @param {{ matte: Numbers, odds: Numbers }} maps
 * @param {Bytes} rgba @param {number} width
 */
function coloursAround({ label, size, bounds }, labels, { matte, odds }, rgba, width) {
  /** @type {number[]} */
  const own = [];
  /** @type {number[]} */
  const player = [];
  /** @type {number[]} */
  const behind = [];
  const isPlayer = (/** @type {number} */ i) =>
    matte[i] > SURE_ALPHA && odds[i] > SURE_ODDS && labels[i] === 0;
  for (const i of cellsAround(bounds, width, matte.length / width)) {
    if (labels[i] === label) own.push(i);
    else if (isPlayer(i)) player.push(i);
    else if (matte[i] < 0.02) behind.push(i);
  }
  // The player may enclose a scrap: then the whole background shows what it may look like.
  if (behind.length < Math.sqrt(size)) {
    for (let i = 0; i < matte.length; i++) if (matte[i] < 0.02) behind.push(i);
  }
  const samples = thinned(own);
  return {
    player: colourDistance(samples, thinned(player), rgba),
    behind: colourDistance(samples, thinned(behind), rgba),
  };
}

/**
 * The cells of a scrap's box, AROUND_CELLS larger on all sides.
 * @param {{ left: number, right: number, top: number, bottom: number }} bounds
 * @param {number} width
 * @param {number} height
 * @returns {number[]}
 */
function cellsAround({ left, right, top, bottom }, width, height) {
  /** @type {number[]} */
  const cells = [];
  for (let y = Math.max(0, top - AROUND_CELLS); y <= Math.min(height - 1, bottom + AROUND_CELLS); y++) {
    for (let x = Math.max(0, left - AROUND_CELLS); x <= Math.min(width - 1, right + AROUND_CELLS); x++)
      cells.push(y * width + x);
  }
  return cells;
}

/** At most MAX_SAMPLES of the cells, evenly spread. @param {number[]} cells */
function thinned(cells) {
  const step = Math.max(1, cells.length / MAX_SAMPLES);
  return Array.from({ length: Math.min(cells.length, MAX_SAMPLES) }, (_, k) =>
    Number(cells[Math.floor(k * step)]),
  );
}

/**
 * How far the colours of some cells are from those of others: the mean distance to the three nearest of them.
 * @param {number[]} cells @param {number[]} others @param {Bytes} rgba
 * @returns {number} 0 to 442; Infinity when there are not three others
 */
function colourDistance(cells, others, rgba) {
  let sum = 0;
  for (const cell of cells) {
    let [first, second, third] = [
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ];
    for (const other of others) {
      let square = 0;
      for (let k = 0; k < 3; k++) square += (rgba[4 * cell + k] - rgba[4 * other + k]) ** 2;
      if (square >= third) continue;
      if (square < first) [first, second, third] = [square, first, second];
      else if (square < second) [second, third] = [square, second];
      else third = square;
    }
    sum += (Math.sqrt(first) + Math.sqrt(second) + Math.sqrt(third)) / 3;
  }
  return sum / cells.length;
}
