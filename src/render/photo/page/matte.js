import { boundsAbove, dilate, patches, sampleMask, smoothStep } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Grid, Mask, Numbers, Rect } from "./masks.js" */

/** The person mask's patch counts as the player when it holds this part of the pose ... */
const MIN_SHARED_PART = 0.5;
/** ... and is not so much larger that it holds other people too. */
const MAX_PATCH_TO_POSE = 2.2;

/** The patch counts this far around the pose, as a part of the grid's longer side: what is further is somebody else's. */
const PATCH_REACH_PART = 0.04;

/** The salient matte is trusted when it agrees this far with what pose and person mask are both sure of. */
const TRUSTED_AGREEMENT = 0.75;

/** How far the matte may reach beyond pose and person mask, as a part of the grid's longer side: hair, gloves, boots. */
const REACH_PART = 0.012;

/** Something salient beside the body, such as a ball or a trophy, is kept whole when it is clear and not too large. */
const MAX_BELONGING_PART = 0.2;
/** Its bridge to the body is taken with it. */
const BELONGING_REACH_CELLS = 9;
const MIN_BELONGING_SALIENCE = 0.72;

/** Patches apart from the player are kept above this part of the player's size: a leg behind a ball, not a passer-by. */
const MAX_ISLAND_PART = 0.08;
/** Holes below this part of the player's size are mistakes; larger ones are the gaps between arms and body. */
const MAX_FILLED_HOLE_PART = 0.0025;
/** Mean of the two masks from which a hole of any size is filled. */
const CLAIMED_HOLE = 0.75;

/**
 * The pose's mask and the player's own patch of the person mask; an empty patch when the two do not fit together.
 * @param {Finding} player @param {Grid} grid
 * @returns {{ posed: Numbers | null, patch: Numbers, fits: boolean }}
 */
export function playerMasks(player, grid) {
  const posed = player.pose && sampleMask(player.pose.mask, grid);
  const people = sampleMask(player.people, grid);
  const { labels, sizes } = patches(people.length, grid.width, (cell) => people[cell] > 0.5);
  const shared = sizes.map(() => 0);
  let poseCells = 0;
  for (let i = 0; i < people.length; i++) {
    if (posed && posed[i] <= 0.5) continue;
    poseCells++;
    if (labels[i]) shared[labels[i]] = (shared[labels[i]] ?? 0) + 1;
  }
  const best = shared.indexOf(Math.max(...shared));
  const [sharedCells = 0, size = 0] = [shared[best], sizes[best]];
  const fitsPose = sharedCells > MIN_SHARED_PART * poseCells && size < MAX_PATCH_TO_POSE * poseCells;
  const fits = best > 0 && (!posed || fitsPose);
  const around =
    posed && dilate(posed, grid.width, Math.round(PATCH_REACH_PART * Math.max(grid.width, grid.height)));
  const patch = people.map((value, i) => {
    if (!fits || labels[i] !== best) return 0;
    return around ? value * smoothStep(around[i], 0.3, 0.6) : value;
  });
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
 * One matte from three opinions. The salient matte has the finest and surest edge, but also takes what stands beside the
 * player; pose and person mask say where the player is.
 * @param {Finding} player @param {Mask} salient @param {Grid} grid
 * @returns {Numbers}
 */
export function fuseMatte(player, salient, grid) {
  const { posed, patch, fits } = playerMasks(player, grid);
  const fine = sampleMask(salient, grid);
  const core = patch.map((value, i) =>
    posed && fits ? 0.6 * posed[i] + 0.4 * value : posed ? posed[i] : value,
  );
  yieldToRivals(player, grid, [fine, core], posed);
  /** @type {Numbers} */
  const near = core.map((value, i) => Math.max(value, patch[i] ?? 0, posed ? posed[i] : 0));
  const support = reachOf(near, grid);
  admitBelongings(support, fine, core, grid.width);
  const trusted = agreement(fine, core) >= TRUSTED_AGREEMENT;
  /** @type {Numbers} */
  const matte = fine.map((value, i) => {
    const byMasks = smoothStep(core[i] ?? 0, 0.7, 0.9) * (trusted ? smoothStep(value, 0.08, 0.3) : 1);
    const byPose = posed ? smoothStep(posed[i], 0.8, 0.95) * smoothStep(value, 0.25, 0.5) : 0;
    const sure = Math.max(byMasks, byPose * (support[i] ?? 0));
    return smoothStep(Math.max(value * (support[i] ?? 0), sure), 0.2, 0.8);
  });
  closeHoles(matte, core, grid.width);
  dropIslands(matte, grid.width);
  return matte;
}

/**
 * Takes from the maps what another person's pose claims more strongly than the player's.
 * @param {Finding} player @param {Grid} grid @param {Numbers[]} maps @param {Numbers | null} posed
 */
function yieldToRivals({ rivals }, grid, maps, posed) {
  for (const rival of rivals) {
    const theirs = sampleMask(rival, grid);
    for (let i = 0; i < theirs.length; i++) {
      const own = posed ? posed[i] : 0;
      if (theirs[i] < 0.3 || own > theirs[i]) continue;
      const left = 1 - smoothStep(theirs[i] - own, 0.2, 0.6);
      for (const map of maps) map[i] *= left;
    }
  }
}

/** @param {Numbers} near @param {Grid} grid */
function reachOf(near, { width, height }) {
  const radius = Math.max(3, Math.round(REACH_PART * Math.max(width, height)));
  return dilate(near, width, radius).map((value) => smoothStep(value, 0.15, 0.6));
}

/**
 * Salient things out of reach of the body are taken whole or left whole: half a ball is worse than none.
 * @param {Numbers} support changed in place @param {Numbers} fine @param {Numbers} core @param {number} width
 */
function admitBelongings(support, fine, core, width) {
  const { labels, sizes } = patches(fine.length, width, (cell) => fine[cell] > 0.5 && support[cell] < 0.5);
  if (sizes.length === 1) return;
  const salience = sizes.map(() => 0);
  let playerCells = 0;
  for (let i = 0; i < fine.length; i++) {
    const label = labels[i];
    if (core[i] > 0.5) playerCells++;
    if (!label) continue;
    salience[label] += fine[i];
  }
  const admitted = sizes.map((size, label) => {
    if (label === 0 || size > MAX_BELONGING_PART * playerCells) return false;
    return (salience[label] ?? 0) >= MIN_BELONGING_SALIENCE * size;
  });
  const extra = support.map((_, i) => (admitted[labels[i]] ? 1 : 0));
  const reach = dilate(extra, width, BELONGING_REACH_CELLS);
  for (let i = 0; i < support.length; i++) support[i] = Math.max(support[i], reach[i]);
}

/** The salient matte's mean where pose and person mask are both sure. @param {Numbers} fine @param {Numbers} core */
function agreement(fine, core) {
  let sum = 0;
  let cells = 0;
  for (let i = 0; i < core.length; i++) {
    if (core[i] < 0.85) continue;
    sum += fine[i];
    cells++;
  }
  return cells > 0 ? sum / cells : 1;
}

/**
 * Fills small holes, and larger ones that pose and person mask both claim: a white sleeve before a white wall.
 * @param {Numbers} matte @param {Numbers} core @param {number} width
 */
function closeHoles(matte, core, width) {
  const { labels, sizes } = patches(matte.length, width, (cell) => matte[cell] < 0.5);
  const claimed = sizes.map(() => 0);
  let playerCells = 0;
  for (let i = 0; i < matte.length; i++) {
    if (matte[i] >= 0.5) playerCells++;
    if (labels[i]) claimed[labels[i]] += core[i];
  }
  const filled = sizes.map((size, label) => {
    const small = size < MAX_FILLED_HOLE_PART * playerCells;
    return label > 0 && (small || (claimed[label] ?? 0) >= CLAIMED_HOLE * size);
  });
  for (let i = 0; i < matte.length; i++) {
    if (filled[labels[i]]) matte[i] = 1;
  }
}

/** Clears small patches apart from the player together with the veil around them. @param {Numbers} matte @param {number} width */
function dropIslands(matte, width) {
  const { labels, sizes } = patches(matte.length, width, (cell) => matte[cell] > 0.04);
  const largest = Math.max(...sizes);
  for (let i = 0; i < matte.length; i++) {
    if (labels[i] && (sizes[labels[i]] ?? 0) < MAX_ISLAND_PART * largest) matte[i] = 0;
  }
}
