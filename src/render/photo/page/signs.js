/** @import { CutoutSigns } from "../../../core/card.ts" */
/** @import { Finding } from "./find_player.js" */
/** @import { Numbers } from "./masks.js" */

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
