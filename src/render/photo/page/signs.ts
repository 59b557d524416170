import type { CutoutSigns } from "../../../core/card.ts";
import { dilate } from "./dilate.ts";
import type { Subject } from "./examine.ts";
import { faceBox } from "./head.ts";
import type { Grid } from "./masks.ts";
import { type Bytes, lumaOf, type Numbers } from "./pixels.ts";

/**
 * Signs by which the composition of a card is chosen: how far the core agrees with the matte (the area common
 * to both by the area of either), how clean the crown's edge is, and how many other people stand near.
 */
export function signsOf(
  matte: Numbers,
  { core, rgba }: { core: Numbers; rgba: Bytes },
  grid: Grid,
  player: Subject,
): Omit<CutoutSigns, "loose"> {
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

const thousandths = (value: number) => Math.round(1000 * value) / 1000;

/**
 * The area of the crown: `beside` the face in its widths, and down to `below` its upper edge in its heights.
 */
const CROWN = { beside: 0.6, below: 0.15 };
/** How far from the matte's edge the picture's own is looked for, in heights of the face. */
const EDGE_REACH = 0.065;
/** An edge of fewer cells says nothing. */
const MIN_EDGE_CELLS = 10;

/**
 * How far the matte's edge around the crown lies where the picture has one, 0 to 1: the picture's slope there
 * by the steepest near it, on average. Where hair ends elsewhere, the cutout has some of the background, or
 * lacks hair.
 */
function crownOnEdge(matte: Numbers, rgba: Bytes, grid: Grid, player: Subject): number {
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

/** How steeply the brightness rises at a cell. */
const slope = (rgba: Bytes, width: number, i: number) =>
  Math.hypot(lumaOf(rgba, i + 1) - lumaOf(rgba, i - 1), lumaOf(rgba, i + width) - lumaOf(rgba, i - width));
