import { dilate } from "./dilate.ts";
import type { Subject } from "./examine.ts";
import { boundsOn, type Grid, sampleMask } from "./masks.ts";
import { above, floats, type Numbers, patches, smoothStep } from "./pixels.ts";
import type { Rect } from "./rects.ts";

/** A patch of the person mask counts as the player when it covers more than this fraction of the pose ... */
const MIN_SHARED_PART = 0.5;
/** ... and is less than this many times as large: larger patches include other people. */
const MAX_PATCH_TO_POSE = 2.2;
/** How far around the pose the patch counts, as a part of the grid's longer side. */
const PATCH_REACH_PART = 0.04;
/** The pose's share in the core; the person mask's patch has the rest. */
const POSE_PART = 0.6;

/**
 * The pose's mask, the patch of the person mask that is the player, and the core, a blend of both. The patch
 * is empty when the two contradict each other, and the core is then the pose's mask.
 */
export function playerMasks(
  player: Subject,
  grid: Grid,
): { posed: Numbers | null; patch: Numbers; core: Numbers } {
  const { width, height } = grid;
  const posed = player.pose && sampleMask(player.pose.mask, grid);
  const people = sampleMask(player.people, grid);
  const { labels, sizes, sums } = patches(above(people, 0.5), width);
  const inPose = posed && above(posed, 0.5);
  const shared = inPose ? sums(inPose) : sizes;
  const poseCells = inPose ? inPose.reduce((cells, flag) => cells + flag, 0) : 0;
  const best = shared.indexOf(Math.max(...shared));
  const fitsPose = shared[best] > MIN_SHARED_PART * poseCells && sizes[best] < MAX_PATCH_TO_POSE * poseCells;
  const fits = best > 0 && (!posed || fitsPose);
  const around = posed && dilate(posed, width, Math.round(PATCH_REACH_PART * Math.max(width, height)));
  const patch = floats(people.length);
  for (let i = 0; fits && i < patch.length; i++)
    if (labels[i] === best) patch[i] = around ? people[i] * smoothStep(around[i], 0.3, 0.6) : people[i];
  const core = (posed ?? patch).slice();
  for (let i = 0; posed && fits && i < core.length; i++)
    core[i] = POSE_PART * posed[i] + (1 - POSE_PART) * patch[i];
  return { posed, patch, core };
}

/** The rectangle around the player's pose and patch, in search pixels. */
export function playerBounds(player: Subject, grid: Grid): Rect {
  const { posed, patch } = playerMasks(player, grid);
  for (let i = 0; posed && i < patch.length; i++) patch[i] = Math.max(patch[i], posed[i]);
  return boundsOn(grid, patch) ?? player.body;
}
