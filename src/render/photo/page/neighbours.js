import { dilate, patches } from "./masks.js";

/** @import { Numbers } from "./masks.js" */

/**
 * Cells may be a neighbour's when pose and person mask claim them less surely than this, and the body parts
 * network too (log odds).
 */
const UNMASKED = 0.4;
const HALF_SURE_ODDS = 1.5;
const MAX_LIMB = 0.5;
/**
 * A patch of them is a neighbour's when the photo's side cuts it along at least MIN_SIDE square roots of its
 * size, the body parts network sees half a person there (mean log odds), and neither the masks nor a hand of
 * the player's are in it: sleeves and shoulders at the edge. Of 280 photos no player's own part and no thing
 * is so.
 */
const MIN_SIDE = 1;
const HALF_SURE = { least: -1.5, most: 1 };
const MAX_MASKED = 0.12;
/**
 * Patches below this part of the player's area are bits of the edge; larger ones than the other would be half
 * the player.
 */
const PART = { least: 0.004, most: 0.15 };
/** The patch's soft edge. */
const EDGE_CELLS = 2;

/**
 * Clears what is seen of somebody beside the player whom the photo cuts, when it sticks to the player: such a
 * scrap has no face, and kit of the same colours.
 * @param {Numbers} matte 0 to 1, changed in place
 * @param {{ odds: Numbers, core: Numbers, limbs: Numbers, hands: Numbers }} maps `hands` is above 0 within
 *   the player's reach
 * @param {number} width
 */
export function dropNeighbours(matte, { odds, core, limbs, hands }, width) {
  const { labels, sizes } = patches(
    matte.length,
    width,
    (i) => matte[i] > 0.5 && core[i] < UNMASKED && odds[i] < HALF_SURE_ODDS && limbs[i] < MAX_LIMB,
  );
  const scraps = sizes.map((size) => ({ size, side: 0, odds: 0, masked: 0, handled: 0 }));
  let playerCells = 0;
  for (let i = 0; i < matte.length; i++) {
    if (matte[i] > 0.5) playerCells++;
    const scrap = labels[i] ? scraps[labels[i]] : undefined;
    if (!scrap) continue;
    const x = i % width;
    if (x < 2 || x >= width - 2) scrap.side++;
    scrap.odds += odds[i];
    scrap.masked += core[i];
    if (hands[i] > 0) scrap.handled++;
  }
  const isNeighbour = scraps.map(
    ({ size, side, odds: sum, masked, handled }, label) =>
      label > 0 &&
      size >= PART.least * playerCells &&
      size <= PART.most * playerCells &&
      side >= MIN_SIDE * Math.sqrt(size) &&
      sum >= HALF_SURE.least * size &&
      sum <= HALF_SURE.most * size &&
      masked <= MAX_MASKED * size &&
      handled === 0,
  );
  if (!isNeighbour.includes(true)) return;
  const dropped = matte.map((_, i) => (isNeighbour[labels[i]] ? 1 : 0));
  const around = dilate(dropped, width, EDGE_CELLS);
  for (let i = 0; i < matte.length; i++) if (dropped[i] || (around[i] > 0 && matte[i] <= 0.5)) matte[i] = 0;
}
