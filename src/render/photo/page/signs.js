import { dilate } from "./dilate.js";
import { faceBox } from "./head.js";
import { lumaOf } from "./pixels.js";

/** @import { CutoutSigns } from "../../../core/card.ts" */
/** @import { Finding } from "./examine.js" */
/** @import { Grid } from "./masks.js" */
/** @import { Bytes, Numbers } from "./pixels.js" */

/**
 * Signs by which the composition of a card is chosen: how far the core, the blend of pose and person mask,
 * agrees with the matte (the area common to both by the area of either), how clean the crown's edge is, and
 * how many other people stand near.
 * @param {Numbers} matte
 * @param {{ core: Numbers, rgba: Bytes }} grids the core, and the picture
 * @param {Grid} grid @param {Finding} player
 * @returns {Omit<CutoutSigns, "loose">}
 */
export function signsOf(matte, { core, rgba }, grid, player) {
  let [both, either] = [0, 0];
  for (let i = 0; i < matte.length; i++) {
    const [inMatte, inCore] = [matte[i] > 0.5, core[i] > 0.5];
    if (inMatte && inCore) both++;
    if (inMatte || inCore) either++;
  }
  return {
    masks: thousandths(both / Math.max(1, either)),
    crown: thousandths(crownOnEdge(matte, rgba, grid, player)),
    rivals: player.rivals.length,
  };
}

/** @param {number} value */
const thousandths = (value) => Math.round(1000 * value) / 1000;

/**
 * Around the crown is what lies so far beside the face, in its widths, and above a line so far below the
 * face's upper edge, in its heights.
 */
const CROWN = { beside: 0.6, below: 0.15 };
/** How far from the matte's edge the picture's own is looked for, in heights of the face. */
const EDGE_REACH = 0.065;
/** An edge of fewer cells says nothing. */
const MIN_EDGE_CELLS = 10;

/**
 * How far the matte's edge around the crown lies where the picture has one: the picture's slope there by the
 * steepest near it, on average. Where hair ends elsewhere, the cutout has some of the background, or lacks
 * hair.
 * @param {Numbers} matte @param {Bytes} rgba @param {Grid} grid @param {Finding} player
 * @returns {number} 0 to 1
 */
function crownOnEdge(matte, rgba, grid, player) {
  const { width, height, step } = grid;
  const face = faceBox(player);
  const left = Math.max(1, Math.round((face.x - CROWN.beside * face.width - grid.x) / step));
  const right = Math.min(width - 2, Math.round((face.x + (1 + CROWN.beside) * face.width - grid.x) / step));
  const bottom = Math.min(height - 2, Math.round((face.y + CROWN.below * face.height - grid.y) / step));
  const reach = Math.max(2, Math.round((EDGE_REACH * face.height) / step));
  const from = Math.max(1, left - reach);
  const columns = Math.max(0, Math.min(width - 2, right + reach) - from + 1);
  const rows = Math.max(0, Math.min(height - 2, bottom + reach));
  const slopes = new Float32Array(columns * rows);
  for (let k = 0; k < slopes.length; k++)
    slopes[k] = slope(rgba, width, (1 + Math.floor(k / columns)) * width + from + (k % columns));
  const steepest = dilate(slopes, columns, reach);
  let [cells, sum] = [0, 0];
  for (let y = 1; y <= bottom; y++)
    for (let x = left; x <= right; x++) {
      const i = y * width + x;
      if (matte[i] <= 0.5 || (matte[i - 1] > 0.5 && matte[i + 1] > 0.5 && matte[i - width] > 0.5)) continue;
      const k = (y - 1) * columns + x - from;
      cells++;
      sum += Number(slopes[k]) / Math.max(1, Number(steepest[k]));
    }
  return cells < MIN_EDGE_CELLS ? 1 : sum / cells;
}

/** How steeply the brightness rises at a cell. @param {Bytes} rgba @param {number} width @param {number} i */
const slope = (rgba, width, i) =>
  Math.hypot(lumaOf(rgba, i + 1) - lumaOf(rgba, i - 1), lumaOf(rgba, i + width) - lumaOf(rgba, i - width));
