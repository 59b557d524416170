import { admitOwnColours, gapsIn, sortBelongings } from "./belongings.js";
import { colourOdds } from "./colour_evidence.js";
import { faceMap, limbMap } from "./limbs.js";
import { boundsAbove, boxBlur, dilate, patches, sampleMask, smoothStep } from "./masks.js";
import { opinions, weighSalience } from "./opinions.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Grid, Mask, Numbers, Rect } from "./masks.js" */

/** The person mask's patch counts as the player when it holds this part of the pose ... */
const MIN_SHARED_PART = 0.5;
/** ... and is not so much larger that it holds other people too. */
const MAX_PATCH_TO_POSE = 2.2;

/**
 * The patch counts this far around the pose, as a part of the grid's longer side: what is further is somebody else's. The
 * part of the photo that is cut is taken more widely than the matte.
 */
const PATCH_REACH_PART = 0.025;
const BOUNDS_REACH_PART = 0.04;

/** How far the matte may reach beyond pose and person mask, as a part of the grid's longer side: hair, gloves, boots. */
const REACH_PART = 0.012;

/** Patches apart from the player are kept above this part of the player's size: a leg behind a ball, not a passer-by. */
const MAX_ISLAND_PART = 0.08;
/** Holes below this part of the player's size are mistakes; larger ones are the gaps between arms and body. */
const MAX_FILLED_HOLE_PART = 0.0025;
/** Mean of the two masks from which a hole of any size is filled. */
const CLAIMED_HOLE = 0.75;

/**
 * The pose's mask and the player's own patch of the person mask; an empty patch when the two do not fit together.
 * @param {Finding} player @param {Grid} grid @param {number} reachPart
 * @returns {{ posed: Numbers | null, patch: Numbers, fits: boolean }}
 */
export function playerMasks(player, grid, reachPart) {
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
    posed && dilate(posed, grid.width, Math.round(reachPart * Math.max(grid.width, grid.height)));
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
  const { posed, patch } = playerMasks(player, grid, BOUNDS_REACH_PART);
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

/** Rounds in which beliefs and the colours seen with them settle, and how much colours count. */
const ROUNDS = 2;
const COLOUR_WEIGHT = 0.7;
/** Noise in colours is smoothed over so many cells to each side. */
const COLOUR_BLUR_CELLS = 2;
/** Log odds that no colour can turn. */
const SETTLED = 6;

/**
 * One matte from several opinions: the salient network's on two scales, pose mask, person mask, limbs and colours. The
 * salient network has the finest edge, but also takes what stands beside the player; pose and person mask say where the
 * player is. Where they contradict each other, the colours nearby decide.
 * @param {Finding} player @param {Mask[]} salients @param {Bytes} rgba on the grid @param {Grid} grid
 * @returns {Numbers}
 */
export function fuseMatte(player, salients, rgba, grid) {
  const { posed, patch, fits } = playerMasks(player, grid, PATCH_REACH_PART);
  const limbs = limbMap(player, grid);
  /** @type {Numbers} */
  const core = patch.map((value, i) =>
    posed && fits ? 0.6 * posed[i] + 0.4 * value : posed ? posed[i] : value,
  );
  const fines = salients.map((salient) => sampleMask(salient, grid));
  yieldToRivals(player, grid, [...fines, core, patch, limbs], posed);
  const headPx = salients.map(({ height, crop }) => (player.head.height * height) / crop.height);
  const salience = weighSalience(fines, core, headPx);
  const known = knownTo(player.people, grid);
  const support = supportOf([core, patch, limbs, ...(posed ? [posed] : [])], grid);
  if (!posed) for (let i = 0; i < support.length; i++) if (known[i] < 1) support[i] = 1;
  /** @type {Numbers} */
  const body = core.map((value, i) => Math.max(value, limbs[i]));
  const gaps = gapsIn(body, grid);
  admitOwnColours(salience, support, core, gaps, rgba, grid.width);
  const belongings = sortBelongings(salience, support, body, gaps, player, grid);
  const places = { known, limbs, face: faceMap(player, grid), support, gaps, ...belongings };
  const masks = { core, posed, patch: fits ? patch : null };
  const matte = settle(opinions({ salience, ...masks, ...places }), rgba, grid.width);
  closeHoles(matte, core, grid.width);
  dropIslands(matte, belongings.held, grid.width);
  return matte;
}

/**
 * From log odds to a matte: beliefs and the colours that are seen with them settle.
 * @param {Numbers} opinion @param {Bytes} rgba @param {number} width
 * @returns {Numbers}
 */
function settle(opinion, rgba, width) {
  const isOpen = (/** @type {number} */ cell) => Math.abs(opinion[cell]) < SETTLED;
  /** @type {Numbers} */
  const belief = new Float32Array(opinion.length);
  for (let i = 0; i < belief.length; i++) {
    belief[i] = isOpen(i) ? 1 / (1 + Math.exp(-opinion[i])) : opinion[i] > 0 ? 1 : 0;
  }
  for (let round = 0; round < ROUNDS; round++) {
    const colours = boxBlur(colourOdds(belief, rgba, width, isOpen), width, COLOUR_BLUR_CELLS);
    for (let i = 0; i < belief.length; i++) {
      if (isOpen(i)) belief[i] = 1 / (1 + Math.exp(-opinion[i] - COLOUR_WEIGHT * colours[i]));
    }
  }
  for (let i = 0; i < belief.length; i++) belief[i] = smoothStep(belief[i], 0.2, 0.8);
  return belief;
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

/** 1 where an upright mask has an opinion: not at its crop's border and beyond. @param {Mask} mask @param {Grid} grid */
function knownTo({ crop }, { x, y, width, height, step }) {
  /** @type {Numbers} */
  const known = new Float32Array(width * height);
  for (let i = 0; i < known.length; i++) {
    const dx = Math.abs(x + ((i % width) + 0.5) * step - crop.cx) / crop.width;
    const dy = Math.abs(y + (Math.floor(i / width) + 0.5) * step - crop.cy) / crop.height;
    known[i] = Math.max(dx, dy) < 0.48 ? 1 : 0;
  }
  return known;
}

/** 1 within reach of what any of the maps takes for the player. @param {Numbers[]} maps @param {Grid} grid @returns {Numbers} */
function supportOf(maps, { width, height }) {
  /** @type {Numbers} */
  const near = new Float32Array(width * height);
  for (const map of maps) for (let i = 0; i < near.length; i++) if (map[i] > near[i]) near[i] = map[i];
  const radius = Math.max(3, Math.round(REACH_PART * Math.max(width, height)));
  return dilate(near, width, radius).map((value) => smoothStep(value, 0.15, 0.6));
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

/**
 * Clears small patches apart from the player together with the veil around them, and things that nothing connects with
 * the player.
 * @param {Numbers} matte @param {Numbers} held @param {number} width
 */
function dropIslands(matte, held, width) {
  const { labels, sizes } = patches(matte.length, width, (cell) => matte[cell] > 0.04);
  const things = sizes.map(() => 0);
  for (let i = 0; i < matte.length; i++) if (labels[i]) things[labels[i]] += held[i];
  const largest = Math.max(...sizes);
  const isDropped = sizes.map((size, label) => {
    const isThing = Number(things[label]) > 0.5 * size && size < largest;
    return label > 0 && (isThing || size < MAX_ISLAND_PART * largest);
  });
  for (let i = 0; i < matte.length; i++) if (isDropped[labels[i]]) matte[i] = 0;
}
