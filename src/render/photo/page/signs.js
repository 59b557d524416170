import { dilate } from "./masks.js";

/** @import { CutoutSigns } from "../../../core/card.ts" */
/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Numbers } from "./masks.js" */

/** Cells around the player that do not count as background: the player's own edge is no clutter. */
const EDGE_CELLS = 6;
/** From this difference of a channel between two neighboring cells on (0 to 255), an edge is plain to see. */
const VISIBLE_EDGE = 24;

/**
 * Signs by which the composition of a card is chosen: how far pose and person mask agree with the matte that
 * came of all opinions (the area common to both by the area of either), how many other people stand near, and
 * which part of the background is sharp edges.
 * @param {Numbers} matte @param {Numbers} core what pose and person mask say
 * @param {Finding} player
 * @param {Bytes} rgba on the grid @param {number} width of the grid
 * @returns {Pick<CutoutSigns, "masks" | "rivals" | "clutter">}
 */
export function signsOf(matte, core, player, rgba, width) {
  let [both, either] = [0, 0];
  for (let i = 0; i < matte.length; i++) {
    const [own, masked] = [matte[i] > 0.5, core[i] > 0.5];
    if (own && masked) both++;
    if (own || masked) either++;
  }
  return {
    masks: thousandths(both, either),
    rivals: player.rivals.length,
    clutter: clutterOf(matte, rgba, width),
  };
}

/** @param {Numbers} matte @param {Bytes} rgba @param {number} width */
function clutterOf(matte, rgba, width) {
  const near = dilate(matte, width, EDGE_CELLS);
  let [cells, edges] = [0, 0];
  for (let i = 0; i + width < matte.length; i++) {
    if (near[i] > 0.1 || (i + 1) % width === 0) continue;
    cells++;
    if (isEdge(rgba, i, i + 1) || isEdge(rgba, i, i + width)) edges++;
  }
  return thousandths(edges, cells);
}

/** @param {Bytes} rgba @param {number} a @param {number} b two cells */
function isEdge(rgba, a, b) {
  for (let channel = 0; channel < 3; channel++)
    if (Math.abs(rgba[4 * a + channel] - rgba[4 * b + channel]) > VISIBLE_EDGE) return true;
  return false;
}

/** @param {number} some @param {number} all */
const thousandths = (some, all) => Math.round((1000 * some) / Math.max(1, all)) / 1000;
