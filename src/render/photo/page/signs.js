/** @import { CutoutSigns } from "../../../core/card.ts" */
/** @import { Finding } from "./find_player.js" */
/** @import { Grid, Numbers } from "./masks.js" */

/** BlazePose's landmarks of elbows, wrists, hands, knees and ankles. */
const LIMBS = [13, 14, 15, 16, 17, 18, 19, 20, 25, 26, 27, 28];
const MIN_LIMB_VISIBLE = 0.6;

/**
 * Signs by which the composition of a card is chosen: how far each network's opinion agrees with the matte that came of all (the area
 * common to both by the area of either), how many limbs the pose sees outside it, and how many other people stand near.
 * @param {Numbers} matte @param {{ fine: Numbers, core: Numbers, odds: Numbers }} opinions
 * @param {Finding} player @param {Grid} grid
 * @returns {CutoutSigns}
 */
export function signsOf(matte, { fine, core, odds }, player, grid) {
  const agreement = (/** @type {(cell: number) => boolean} */ claims) => {
    let [both, either] = [0, 0];
    for (let i = 0; i < matte.length; i++) {
      const [own, other] = [matte[i] > 0.5, claims(i)];
      if (own && other) both++;
      if (own || other) either++;
    }
    return Math.round((1000 * both) / Math.max(1, either)) / 1000;
  };
  return {
    salient: agreement((i) => fine[i] > 0.5),
    parts: agreement((i) => odds[i] > 0),
    masks: agreement((i) => core[i] > 0.5),
    limbsOutside: limbsOutside(matte, player, grid),
    rivals: player.rivals.length,
  };
}

/** @param {Numbers} matte @param {Finding} player @param {Grid} grid */
function limbsOutside(matte, { pose }, { x, y, width, height, step }) {
  return LIMBS.filter((landmark) => {
    const point = pose?.points[landmark];
    if (!point || Number(pose?.visibility[landmark]) < MIN_LIMB_VISIBLE) return false;
    const [column, row] = [Math.floor((point.x - x) / step), Math.floor((point.y - y) / step)];
    const isInside = column >= 0 && row >= 0 && column < width && row < height;
    return isInside && matte[row * width + column] < 0.5;
  }).length;
}
