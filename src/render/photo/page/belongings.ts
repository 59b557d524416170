import { dilate } from "./dilate.ts";
import { above, type Flags, flags, floats, type Labels, type Numbers, patches, type Sums } from "./pixels.ts";

/** A thing that touches the body is the player's up to this part of its area, from this salience on. */
const MAX_PART = 0.3;
const MIN_SALIENCE = 0.72;
/** Where the core is above this on average, it is body. */
const MIN_BODY_CORE = 0.5;
/** What runs along the grid's edges for more than so many square roots of its size is background. */
const MAX_BORDER = 1;
/** Smaller patches, as parts of the player's area, are fragments of the player's edge. */
const MIN_THING_PART = 0.003;
/** Cells that core and salience both claim by more than this are part of the body. */
const MIN_CLAIM = 0.1;
/** Below these log odds the body parts network is sure that nobody is there. */
const SURELY_NOBODY = -2;
/** How far the faint edge of a thing and its connection to the body extend around it, in cells. */
const REACH_CELLS = 5;

/**
 * Decides which salient things outside the body belong to the player, by their size and by what they touch.
 * Each is held or dropped whole: half a ball is worse than none. The maps are those of `MatteJob`.
 * @returns `held`: 1 on the player's things and less on their soft edge; `dropped`: 1 on all others
 */
export function sortBelongings(
  maps: Record<"logOdds" | "own" | "salience" | "core" | "claimed" | "rivals", Numbers>,
  width: number,
): { held: Numbers; dropped: Numbers } {
  const { logOdds, own, salience, core, claimed, rivals } = maps;
  // Legs that the body parts network misses must not be taken for things; core and salience do see them.
  const body = flags(salience.length);
  const inThings = above(salience, 0.5);
  let playerCells = 0;
  for (let i = 0; i < salience.length; i++) {
    const isClaimed = claimed[i] > MIN_CLAIM && logOdds[i] > SURELY_NOBODY;
    body[i] = (logOdds[i] > 0 || isClaimed) && own[i] > 0.5 ? 1 : 0;
    playerCells += body[i];
    if (isClaimed || logOdds[i] >= 0 || rivals[i] >= 0.5) inThings[i] = 0;
  }
  const { labels, sizes, sums } = patches(inThings, width);
  const total = { salience: sums(salience), core: sums(core) };
  const touches = sums(beside(body, width));
  const border = cellsAtBorder(labels, sizes, width);
  const isReal = sizes.map((size, label) => label > 0 && size >= MIN_THING_PART * playerCells);
  const isHeld = sizes.map((size, label) => {
    if (touches[label] === 0 || border[label] > MAX_BORDER * Math.sqrt(size)) return false;
    if (total.core[label] > MIN_BODY_CORE * size) return true;
    return size <= MAX_PART * playerCells && total.salience[label] >= MIN_SALIENCE * size;
  });
  const held = floats(salience.length);
  const dropped = floats(salience.length);
  for (let i = 0; i < salience.length; i++) {
    const label = labels[i];
    if (!isReal[label]) continue;
    if (isHeld[label]) held[i] = 1;
    else dropped[i] = 1;
  }
  const reach = dilate(held, width, REACH_CELLS);
  for (let i = 0; i < salience.length; i++)
    if (reach[i] > 0 && !held[i] && salience[i] > 0.15) held[i] = Math.min(1, 2 * salience[i]);
  return { held, dropped };
}

/** The cells with a cell of the body next to them. */
function beside(body: Flags, width: number): Flags {
  const cells = flags(body.length);
  for (let i = 0; i < cells.length; i++) {
    const x = i % width;
    const inRow = (x > 0 && body[i - 1]) || (x < width - 1 && body[i + 1]);
    cells[i] = inRow || body[i - width] || body[i + width] ? 1 : 0;
  }
  return cells;
}

/** How many cells of each patch are at the grid's upper, left or right edge. */
function cellsAtBorder(labels: Labels, sizes: Sums, width: number): Sums {
  const cells: Sums = sizes.map(() => 0);
  for (let x = 0; x < width; x++) cells[labels[x]]++;
  for (let row = width; row < labels.length; row += width) {
    cells[labels[row]]++;
    cells[labels[row + width - 1]]++;
  }
  return cells;
}
