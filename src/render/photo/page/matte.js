import { sortBelongings } from "./belongings.js";
import { partsOnGrid, SURELY_NOBODY } from "./body_parts.js";
import { nearestSeed } from "./geodesic.js";
import { handCells, limbMap } from "./limbs.js";
import { above, below, boundsAbove, dilate, patches, sampleMask, smoothStep, sumsOf } from "./masks.js";
import { ownParts, rivalsOf } from "./own_parts.js";
import { signsOf } from "./signs.js";

/** @import { CutoutSigns } from "../../../core/card.ts" */
/** @import { Parts, PartsLook } from "./body_parts.js" */
/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Grid, Labels, Mask, Numbers, Rect } from "./masks.js" */

/** A patch of the person mask counts as the player when it covers more than this fraction of the pose ... */
const MIN_SHARED_PART = 0.5;
/** ... and is less than this many times as large: larger patches include other people. */
const MAX_PATCH_TO_POSE = 2.2;

/**
 * How far around the pose the patch counts, as a fraction of the grid's longer side: anything further away
 * belongs to somebody else.
 */
const PATCH_REACH_PART = 0.04;

/**
 * Opinions are log odds. Those of the body parts network are limited to MAX_PARTS_ODDS either way and count
 * in full; the others are limited to MAX_ODDS and multiplied by their weight.
 */
const MAX_PARTS_ODDS = 3.5;
const WEIGHT = { salience: 0.45, masks: 0.35 };
const MAX_ODDS = 2.5;
/**
 * Log odds added where pose and person mask are both sure, on things the player holds and on limbs; PENALTY
 * is subtracted from whatever belongs to somebody else. Pose and person mask outvote the body parts only if
 * the salient network agrees.
 */
const BONUS_AGREED = 2;
const BONUS_HELD = 6;
const BONUS_LIMB = 1.5;
const PENALTY = 8;
/**
 * The body parts network learned from portraits and misses legs. Where masks and salience both see the
 * player, its "nobody" loses up to DOUBTED_PARTS of its weight: nothing while the less sure of them is below
 * `low`, all of that above `high`.
 */
const CLAIMED = { low: 0.5, high: 0.85 };
const DOUBTED_PARTS = 0.7;

/**
 * Where opinions disagree, the probability lies between these. Wide patches of such cells go to the player or
 * to the background, whichever is nearer without an edge in between.
 */
const UNSETTLED = { low: 0.1, high: 0.9 };
/** Bands no wider than this to either side, in cells, are the player's soft edge. */
const EDGE_CELLS = 2;
/** Cells that the masks claim more surely than this are never sure background. */
const MAX_BEHIND_CORE = 0.8;
const SURE_CORE = 0.9;
/** How far single strands reach beyond what the body parts network sees as hair. */
const HAIR_CELLS = 8;
/** A picture is dark when 99 of 100 pixels are below this brightness, of 255. */
const BRIGHT_LEVEL = 150;
/** Log odds added to cells settled as the player, and subtracted from cells settled as background. */
const BONUS_SETTLED = 3;

/**
 * Patches apart from the player are kept from this fraction of the player's size: no loose leg behind a
 * bicycle.
 */
const MAX_ISLAND_PART = 0.2;
/** Patches with a mean salience above SURE_ISLAND are kept from this fraction. */
const MIN_SURE_ISLAND_PART = 0.1;
const SURE_ISLAND = 0.85;
/**
 * Holes below this fraction of the player's size are mistakes; larger ones are gaps between arms and body.
 */
const MAX_FILLED_HOLE_PART = 0.0025;
/** A hole of any size is filled when pose and person mask claim it at least this surely on average. */
const CLAIMED_HOLE = 0.75;

/**
 * The pose's mask, and the patch of the person mask that is the player; `fits` is false and the patch empty
 * when the two contradict each other.
 * @param {Finding} player @param {Grid} grid
 * @returns {{ posed: Numbers | null, patch: Numbers, fits: boolean }}
 */
function playerMasks(player, grid) {
  const posed = player.pose && sampleMask(player.pose.mask, grid);
  const people = sampleMask(player.people, grid);
  const { labels, sizes } = patches(above(people, 0.5), grid.width);
  const shared = posed ? sumsOf(labels, sizes, above(posed, 0.5)) : sizes;
  const poseCells = posed ? above(posed, 0.5).reduce((cells, flag) => cells + flag, 0) : 0;
  const best = shared.indexOf(Math.max(...shared));
  const fitsPose =
    Number(shared[best]) > MIN_SHARED_PART * poseCells && Number(sizes[best]) < MAX_PATCH_TO_POSE * poseCells;
  const fits = best > 0 && (!posed || fitsPose);
  const around =
    posed && dilate(posed, grid.width, Math.round(PATCH_REACH_PART * Math.max(grid.width, grid.height)));
  /** @type {Numbers} */
  const patch = new Float32Array(people.length);
  for (let i = 0; fits && i < patch.length; i++) {
    if (labels[i] === best) patch[i] = around ? people[i] * smoothStep(around[i], 0.3, 0.6) : people[i];
  }
  return { posed, patch, fits };
}

/**
 * The rectangle around the player's pose and patch, in search pixels.
 * @param {Finding} player @param {Grid} grid
 * @returns {Rect}
 */
export function playerBounds(player, grid) {
  const { posed, patch } = playerMasks(player, grid);
  /** @type {Numbers} */
  const either = patch.slice();
  for (let i = 0; posed && i < either.length; i++) if (posed[i] > either[i]) either[i] = posed[i];
  const cells = boundsAbove(either, grid.width, 0.5);
  if (!cells) return player.body;
  return {
    x: grid.x + cells.x * grid.step,
    y: grid.y + cells.y * grid.step,
    width: cells.width * grid.step,
    height: cells.height * grid.step,
  };
}

/**
 * Combines four opinions into one matte by adding their log odds. The body parts network has the most
 * accurate edges but sees everyone; pose and person mask tell which person is the player; the salient network
 * sees what the player holds.
 * @param {Finding} player
 * @param {PartsLook} look
 * @param {Mask} salient
 * @param {Bytes} rgba on the grid
 * @param {Grid} grid
 * @returns {{ matte: Numbers, parts: Parts, signs: Omit<CutoutSigns, "loose"> }} the matte
 *   from 0 to 1
 */
export function fuseMatte(player, look, salient, rgba, grid) {
  const { posed, patch, fits } = playerMasks(player, grid);
  const parts = partsOnGrid(look, grid);
  const fine = sampleMask(salient, grid);
  /** @type {Numbers} */
  const core = (posed ?? patch).slice();
  for (let i = 0; posed && fits && i < core.length; i++) core[i] = 0.6 * posed[i] + 0.4 * patch[i];
  const theirs = rivalsOf(player, grid, posed, parts);
  const limbs = limbMap(player, grid);
  const hands = handCells(player, grid);
  const nearHair = dilate(parts.hair, grid.width, HAIR_CELLS);
  const { own, left: strangers } = ownParts(player, parts, { posed: core, limbs, hands, fine, theirs }, grid);
  const clear = brightened(rgba);
  // Only the body parts network gets dark photos brightened, so there it knows better than the others.
  const isDark = clear !== rgba;
  /** @type {Numbers} */
  const claimed = new Float32Array(core.length);
  for (let i = 0; !isDark && i < core.length; i++)
    claimed[i] = smoothStep(Math.min(fine[i], core[i]), CLAIMED.low, CLAIMED.high);
  const { held, left } = sortBelongings(
    { parts, own, others: strangers, fine, core, claimed, theirs, hands },
    rgba,
    grid.width,
  );
  /** @type {Numbers} */
  const matte = new Float32Array(core.length);
  for (let i = 0; i < matte.length; i++) {
    const seen = clip(logit(fine[i]), MAX_ODDS);
    const masked = clip(logit(core[i]), MAX_ODDS);
    const ownParts = clip(parts.odds[i], MAX_PARTS_ODDS);
    let odds = ownParts < 0 ? ownParts * (1 - DOUBTED_PARTS * claimed[i]) : ownParts;
    odds += WEIGHT.salience * seen + WEIGHT.masks * masked;
    if (posed && fits) odds += BONUS_AGREED * smoothStep(Math.min(posed[i], patch[i]), 0.8, 0.97);
    odds +=
      BONUS_LIMB * limbs[i] + BONUS_HELD * held[i] - PENALTY * Math.max(strangers[i], left[i], theirs[i]);
    if (own[i] <= 0 && held[i] <= 0) odds -= PENALTY;
    matte[i] = odds;
  }
  settle(matte, { core, fine, limbs, nearHair, parts: parts.odds }, clear, grid.width);
  for (let i = 0; i < matte.length; i++) matte[i] = smoothStep(1 / (1 + Math.exp(-matte[i])), 0.15, 0.85);
  closeHoles(matte, core, grid.width);
  dropIslands(matte, { held, fine }, grid.width);
  return { matte, parts, signs: signsOf(matte, { core, rgba: clear }, grid, player) };
}

/**
 * Settles wide patches where the opinions disagree: each cell goes to the sure player or to the sure
 * background, whichever is nearer without crossing an edge in the picture.
 * @param {Numbers} odds changed in place
 * @param {{ core: Numbers, fine: Numbers, limbs: Numbers, nearHair: Numbers, parts: Numbers }} opinions
 * @param {Bytes} rgba @param {number} width
 */
function settle(odds, { core, fine, limbs, nearHair, parts }, rgba, width) {
  const low = logit(UNSETTLED.low);
  const high = logit(UNSETTLED.high);
  /** @type {Labels} */
  const seeds = new Int32Array(odds.length);
  /** @type {Numbers} */
  const sure = new Float32Array(odds.length);
  /** @type {Numbers} */
  const none = new Float32Array(odds.length);
  for (let i = 0; i < odds.length; i++) {
    if (odds[i] > high) sure[i] = seeds[i] = 1;
    else if (odds[i] < low && core[i] < MAX_BEHIND_CORE) {
      none[i] = 1;
      seeds[i] = 2;
    }
  }
  const besideSure = dilate(sure, width, EDGE_CELLS);
  const besideNone = dilate(none, width, EDGE_CELLS);
  const owners = nearestSeed(seeds, rgba, width);
  for (let i = 0; i < odds.length; i++) {
    if (seeds[i] || (besideSure[i] && besideNone[i]) || odds[i] < -PENALTY / 2) continue;
    // Curls and strands keep their soft edge, except where the masks see the head itself.
    if (nearHair[i] > 0.3 && core[i] < MAX_BEHIND_CORE) continue;
    // An arm in front of people in the same colours has no edge, but masks and pose agree on it.
    const isLimb = core[i] > SURE_CORE && limbs[i] > 0.5;
    const votes = Number(parts[i] > 0) + Number(fine[i] > 0.5) + Number(core[i] > 0.5);
    const isSeen = votes >= 2 || (core[i] > MAX_BEHIND_CORE && parts[i] > SURELY_NOBODY);
    if (isSeen && (owners[i] === 1 || isLimb)) odds[i] += BONUS_SETTLED;
    else if (owners[i] === 2 && votes < 2) odds[i] -= BONUS_SETTLED;
  }
}

/**
 * Brightens a dark picture until its brightest hundredth is nearly white, so that edges in the dark count
 * too.
 * @param {Bytes} rgba
 * @returns {Bytes} `rgba` itself when it is not dark
 */
function brightened(rgba) {
  const counts = new Uint32Array(256);
  for (let i = 0; i < rgba.length; i += 4) {
    const light = Math.max(rgba[i], rgba[i + 1], rgba[i + 2]);
    counts[light] = (counts[light] ?? 0) + 1;
  }
  let level = 255;
  for (let brighter = 0; level > 1 && brighter < rgba.length / 400; level--)
    brighter += Number(counts[level]);
  if (level > BRIGHT_LEVEL) return rgba;
  const gain = 230 / level;
  /** @type {Bytes} */
  const bright = new Uint8ClampedArray(rgba.length);
  for (let i = 0; i < bright.length; i++) bright[i] = rgba[i] * gain;
  return bright;
}

/**
 * Fills small holes, and larger ones that pose and person mask both claim, such as a white sleeve against a
 * white wall.
 * @param {Numbers} matte @param {Numbers} core @param {number} width
 */
function closeHoles(matte, core, width) {
  const { labels, sizes } = patches(below(matte, 0.5), width);
  const claimed = sumsOf(labels, sizes, core);
  const playerCells = matte.length - sizes.reduce((cells, size) => cells + size);
  const filled = sizes.map((size, label) => {
    const small = size < MAX_FILLED_HOLE_PART * playerCells;
    return label > 0 && (small || Number(claimed[label]) >= CLAIMED_HOLE * size);
  });
  for (let i = 0; i < matte.length; i++) {
    if (filled[labels[i]]) matte[i] = 1;
  }
}

/**
 * Clears small patches apart from the player, with the faint veil around them. Things the player holds are
 * kept, and so are large, surely salient patches, such as a raised hand whose arm is in the dark.
 * @param {Numbers} matte @param {{ held: Numbers, fine: Numbers }} maps @param {number} width
 */
function dropIslands(matte, { held, fine }, width) {
  const { labels, sizes } = patches(above(matte, 0.04), width);
  const largest = Math.max(...sizes);
  const [kept, salience] = [sumsOf(labels, sizes, held), sumsOf(labels, sizes, fine)];
  const isDropped = sizes.map((size, label) => {
    const isSure = Number(salience[label]) > SURE_ISLAND * size;
    if (size >= (isSure ? MIN_SURE_ISLAND_PART : MAX_ISLAND_PART) * largest) return false;
    return label > 0 && Number(kept[label]) < 0.5 * size;
  });
  for (let i = 0; i < matte.length; i++) if (isDropped[labels[i]]) matte[i] = 0;
}

/** @param {number} p */
function logit(p) {
  const q = Math.min(0.999, Math.max(0.001, p));
  return Math.log(q / (1 - q));
}

/** @param {number} value @param {number} most */
function clip(value, most) {
  return Math.max(-most, Math.min(most, value));
}
