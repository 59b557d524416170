import { boundsAbove, dilate, patches, sampleMask, smoothStep } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Grid, Mask, Numbers, Rect } from "./masks.js" */

/** The person mask's patch counts as the player when it holds this part of the pose ... */
const MIN_SHARED_PART = 0.5;
/** ... and is not so much larger that it holds other people too. */
const MAX_PATCH_TO_POSE = 2.2;

/** Patches smaller than this part of the largest are other people's hands, balls and noise. */
const MAX_ISLAND_PART = 0.08;

/**
 * The pose's mask and the player's own patch of the person mask; an empty patch when the two do not fit together.
 * @param {Finding} player @param {Grid} grid
 * @returns {{ posed: Numbers | null, patch: Numbers, fits: boolean }}
 */
export function playerMasks(player, grid) {
  const posed = player.pose && sampleMask(player.pose.mask, grid);
  const people = sampleMask(player.people, grid);
  const { labels, sizes } = patches(grid.width, grid.height, (cell) => people[cell] > 0.5);
  const shared = sizes.map(() => 0);
  let poseCells = 0;
  for (let i = 0; i < people.length; i++) {
    const inPose = posed ? posed[i] > 0.5 : true;
    if (!inPose) continue;
    poseCells++;
    if (labels[i]) shared[labels[i]] = (shared[labels[i]] ?? 0) + 1;
  }
  const best = shared.indexOf(Math.max(...shared));
  const fits =
    best > 0 &&
    (!posed ||
      ((shared[best] ?? 0) > MIN_SHARED_PART * poseCells &&
        (sizes[best] ?? 0) < MAX_PATCH_TO_POSE * poseCells));
  const patch = people.map((value, i) => (fits && labels[i] === best ? value : 0));
  return { posed, patch, fits };
}

/**
 * The rectangle that holds pose and patch, in search pixels.
 * @param {Finding} player @param {Grid} grid
 * @returns {Rect}
 */
export function playerBounds(player, grid) {
  const { posed, patch } = playerMasks(player, grid);
  const either = patch.map((value, i) => Math.max(value, posed ? posed[i] : 0));
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
 * One matte from three opinions: the salient matte has the finest edge but also takes what stands beside the player; pose
 * and person mask say where the player is. What both of them are sure of is filled.
 * @param {Finding} player @param {Mask} salient @param {Grid} grid
 * @returns {Numbers}
 */
export function fuseMatte(player, salient, grid) {
  const { posed, patch, fits } = playerMasks(player, grid);
  const fine = sampleMask(salient, grid);
  const near = patch.map((value, i) => Math.max(value, posed ? posed[i] : 0));
  const radius = Math.max(3, Math.round(0.012 * Math.max(grid.width, grid.height)));
  const support = dilate(near, grid.width, radius);
  /** @type {Numbers} */
  const matte = fine.map((value, i) => {
    const supported = value * smoothStep(support[i], 0.15, 0.6);
    if (!posed || !fits) return supported;
    return Math.max(supported, smoothStep(0.6 * posed[i] + 0.4 * patch[i], 0.7, 0.9));
  });
  dropIslands(matte, grid);
  return matte;
}

/** @param {Numbers} matte @param {Grid} grid */
function dropIslands(matte, { width, height }) {
  const { labels, sizes } = patches(width, height, (cell) => matte[cell] > 0.3);
  const largest = Math.max(...sizes);
  for (let i = 0; i < matte.length; i++) {
    const size = sizes[labels[i]] ?? 0;
    if (labels[i] && size < MAX_ISLAND_PART * largest) matte[i] = 0;
  }
}
