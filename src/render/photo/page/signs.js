import { lumaOf } from "./masks.js";

/** @import { CutoutSigns } from "../../../core/card.ts" */
/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Numbers } from "./masks.js" */

/**
 * Up to this much player a cell belongs to the background, which is looked at in every so many cells, across
 * and down.
 */
const GROUND_MATTE = 0.05;
const GROUND_STEP = 4;

/**
 * Signs by which the composition of a card is chosen: how far pose and person mask agree with the matte that
 * came of all opinions (the area common to both by the area of either), and how many other people stand near.
 * @param {Numbers} matte @param {Numbers} core what pose and person mask say
 * @param {Finding} player
 * @returns {Pick<CutoutSigns, "masks" | "rivals">}
 */
export function signsOf(matte, core, player) {
  let [both, either] = [0, 0];
  for (let i = 0; i < matte.length; i++) {
    const [own, masked] = [matte[i] > 0.5, core[i] > 0.5];
    if (own && masked) both++;
    if (own || masked) either++;
  }
  return { masks: Math.round((1000 * both) / Math.max(1, either)) / 1000, rivals: player.rivals.length };
}

/**
 * How plain the background around the player is: see CutoutSigns.
 * @param {Bytes} rgba @param {Numbers} matte @param {number} width
 * @returns {Pick<CutoutSigns, "spread" | "grain">}
 */
export function groundOf(rgba, matte, width) {
  const height = matte.length / width;
  let [cells, sum, squares, pairs, steps] = [0, 0, 0, 0, 0];
  for (let y = 0; y < height; y += GROUND_STEP)
    for (let x = 0; x < width; x += GROUND_STEP) {
      const i = y * width + x;
      if (matte[i] > GROUND_MATTE) continue;
      const value = lumaOf(rgba, i);
      cells++;
      sum += value;
      squares += value * value;
      if (x + GROUND_STEP >= width || matte[i + GROUND_STEP] > GROUND_MATTE) continue;
      pairs++;
      steps += Math.abs(lumaOf(rgba, i + GROUND_STEP) - value);
    }
  const mean = sum / Math.max(1, cells);
  return {
    spread: Math.round(10 * Math.sqrt(Math.max(0, squares / Math.max(1, cells) - mean * mean))) / 10,
    grain: Math.round((10 * steps) / Math.max(1, pairs)) / 10,
  };
}
