// What of a photo is kept in its cutout. Five maps cover the part of the photo around the player, in cells:
//
//   odds      the body parts network's log odds that the cell belongs to a person, whoever that is
//   core      the chance that it belongs to the player: a blend of the pose's mask and of that patch of the
//             person mask that fits the pose
//   salience  the chance that it stands out from the background, as the salient network sees it
//   rivals    how far other people claim it (own_parts.js)
//   own       1 where body parts may be the player's: near the core or the head, and on patches further
//             away that are small enough, nobody else's, and touch the body or stand out (own_parts.js)
//
// From these come the things outside of the body (belongings.js). A thing is held if it touches the body and
// is salient and not too large, or mostly core. Otherwise it is dropped, and always if it runs along the
// grid's upper edge or a side. A cell is kept if the sum of these log odds is above 0, and fades where it is
// near 0 (MATTE_EDGE):
//
//     odds                    less where they say nobody, but core and salience both see the player
//   + WEIGHT.core x core
//   + WEIGHT.salience x salience
//   + BONUS_AGREED            where pose and person mask are both sure
//   + BONUS_HELD              on things that are held
//   - PENALTY                 on rivals and on things that are dropped
//   - PENALTY                 outside of own and of things that are held
//
// Then holes are closed that are small, or that the core claims, and patches much smaller than the player are
// dropped. die_cut.js evens the edge out and removes haze and specks. A photo that was already cut out keeps
// its own transparency, except for patches without any of the player (cut_out.js).

import { sortBelongings } from "./belongings.js";
import { dilate } from "./dilate.js";
import { boundsAbove, sampleMask } from "./masks.js";
import { ownParts, rivalsOf } from "./own_parts.js";
import { above, below, patches, smoothStep, sumsOf } from "./pixels.js";
import { signsOf } from "./signs.js";

/** @import { CutoutSigns } from "../../../core/card.ts" */
/** @import { PartsLook } from "./body_parts.js" */
/** @import { Finding } from "./examine.js" */
/** @import { Grid, Mask } from "./masks.js" */
/** @import { Bytes, Numbers } from "./pixels.js" */
/** @import { Rect } from "./rects.js" */

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
const WEIGHT = { salience: 0.45, core: 0.35 };
const MAX_ODDS = 2.5;
/**
 * Log odds added where pose and person mask are both sure, and on things the player holds; PENALTY is
 * subtracted from whatever belongs to somebody else. Pose and person mask outvote the body parts only if the
 * salient network agrees.
 */
const BONUS_AGREED = 2;
const AGREED = { low: 0.8, high: 0.97 };
const BONUS_HELD = 6;
const PENALTY = 8;
/**
 * The body parts network learned from portraits and misses legs. Where masks and salience both see the
 * player, its "nobody" loses up to DOUBTED_PARTS of its weight: nothing while the less sure of them is below
 * `low`, all of that above `high`.
 */
const CLAIMED = { low: 0.5, high: 0.85 };
const DOUBTED_PARTS = 0.7;

/** The pose's share in the core; the person mask's patch has the rest. */
const POSE_PART = 0.6;
/** Chances below `low` are background, above `high` the player; the soft edge lies between. */
const MATTE_EDGE = { low: 0.15, high: 0.85 };

/** A picture is dark when over 99% of its pixels are no brighter than this (0 to 255). */
const BRIGHT_LEVEL = 150;

/** Patches apart from the player below this part of the player's size are dropped. */
const MIN_PATCH_PART = 0.2;
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
 * @returns {{ matte: Numbers, signs: Omit<CutoutSigns, "loose"> }} the matte from 0 to 1
 */
export function fuseMatte(player, look, salient, rgba, grid) {
  const { posed, patch, fits } = playerMasks(player, grid);
  const odds = sampleMask(look.odds, grid);
  const salience = sampleMask(salient, grid);
  /** @type {Numbers} */
  const core = (posed ?? patch).slice();
  for (let i = 0; posed && fits && i < core.length; i++)
    core[i] = POSE_PART * posed[i] + (1 - POSE_PART) * patch[i];
  const rivals = rivalsOf(player, grid, posed, look);
  const faces = sampleMask(look.face, grid);
  const hair = sampleMask(look.hair, grid);
  const own = ownParts(player, { odds, faces, hair, core, salience, rivals }, grid);
  const isTooDark = isDark(rgba);
  /** @type {Numbers} */
  const claimed = new Float32Array(core.length);
  for (let i = 0; !isTooDark && i < core.length; i++)
    claimed[i] = smoothStep(Math.min(salience[i], core[i]), CLAIMED.low, CLAIMED.high);
  const { held, dropped } = sortBelongings({ odds, own, salience, core, claimed, rivals }, grid.width);
  /** @type {Numbers} */
  const matte = new Float32Array(core.length);
  for (let i = 0; i < matte.length; i++) {
    let sum = clip(odds[i], MAX_PARTS_ODDS);
    if (sum < 0) sum *= 1 - DOUBTED_PARTS * claimed[i];
    sum +=
      WEIGHT.salience * clip(logit(salience[i]), MAX_ODDS) + WEIGHT.core * clip(logit(core[i]), MAX_ODDS);
    if (posed && fits)
      sum += BONUS_AGREED * smoothStep(Math.min(posed[i], patch[i]), AGREED.low, AGREED.high);
    sum += BONUS_HELD * held[i] - PENALTY * Math.max(dropped[i], rivals[i]);
    if (own[i] <= 0 && held[i] <= 0) sum -= PENALTY;
    matte[i] = sum;
  }
  for (let i = 0; i < matte.length; i++)
    matte[i] = smoothStep(1 / (1 + Math.exp(-matte[i])), MATTE_EDGE.low, MATTE_EDGE.high);
  closeHoles(matte, core, grid.width);
  dropPatches(matte, grid.width);
  return { matte, signs: signsOf(matte, { core, rgba }, grid, player) };
}

/**
 * Whether only the body parts network sees anything, which gets dark photos brightened.
 * @param {Bytes} rgba
 */
function isDark(rgba) {
  let bright = 0;
  for (let i = 0; i < rgba.length; i += 4)
    if (Math.max(rgba[i], rgba[i + 1], rgba[i + 2]) > BRIGHT_LEVEL) bright++;
  return bright < rgba.length / 400;
}

/**
 * Fills small holes, and larger ones that pose and person mask both claim, such as a white sleeve against a
 * white wall.
 * @param {Numbers} matte @param {Numbers} core @param {number} width
 */
function closeHoles(matte, core, width) {
  const { labels, sizes } = patches(below(matte, 0.5), width);
  const cores = sumsOf(labels, sizes, core);
  const playerCells = matte.length - sizes.reduce((cells, size) => cells + size);
  const filled = sizes.map((size, label) => {
    const small = size < MAX_FILLED_HOLE_PART * playerCells;
    return label > 0 && (small || Number(cores[label]) >= CLAIMED_HOLE * size);
  });
  for (let i = 0; i < matte.length; i++) {
    if (filled[labels[i]]) matte[i] = 1;
  }
}

/**
 * Clears small patches apart from the player, with the veil around them.
 * @param {Numbers} matte @param {number} width
 */
function dropPatches(matte, width) {
  const { labels, sizes } = patches(above(matte, 0.04), width);
  const least = MIN_PATCH_PART * Math.max(...sizes);
  for (let i = 0; i < matte.length; i++) if (Number(sizes[labels[i]]) < least) matte[i] = 0;
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
