import { colourOdds } from "./colour_evidence.js";
import { limbMap, trunkLength } from "./limbs.js";
import { boundsAbove, boxBlur, dilate, patches, sampleMask, smoothStep } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Bytes, Grid, Mask, Numbers, Rect } from "./masks.js" */

/** The person mask's patch counts as the player when it holds this part of the pose ... */
const MIN_SHARED_PART = 0.5;
/** ... and is not so much larger that it holds other people too. */
const MAX_PATCH_TO_POSE = 2.2;

/** The patch counts this far around the pose, as a part of the grid's longer side: what is further is somebody else's. */
const PATCH_REACH_PART = 0.025;

/** How far the matte may reach beyond pose and person mask, as a part of the grid's longer side: hair, gloves, boots. */
const REACH_PART = 0.012;

/** Something salient beside the body, such as a ball or a trophy, is kept whole when it is clear and not too large. */
const MAX_BELONGING_PART = 0.2;
/** In a hand it may be larger: rackets, bats, trophies. */
const MAX_HELD_PART = 0.45;
const HAND_REACH_PART = 0.6;
/** BlazePose's wrists, little fingers, index fingers and thumbs. */
const HANDS = [15, 16, 17, 18, 19, 20, 21, 22];
/** Mean log odds of a part's colours from which it is the player's. */
const OWN_COLOURS = 0.3;
/** A head's height in the salient network's picture from which, and up to which, its answer counts less. */
const LARGE_HEAD_PX = { low: 130, high: 220 };
/** An answer that counts less in the mean is not asked otherwise. */
const MIN_SHARE = 0.2;
/** Its bridge to the body is taken with it. */
const BELONGING_REACH_CELLS = 9;
const MIN_BELONGING_SALIENCE = 0.72;

/** Patches apart from the player are kept above this part of the player's size: a leg behind a ball, not a passer-by. */
const MAX_ISLAND_PART = 0.08;
/** Holes below this part of the player's size are mistakes; larger ones are the gaps between arms and body. */
const MAX_FILLED_HOLE_PART = 0.0025;
/** Mean of the two masks from which a hole of any size is filled. */
const CLAIMED_HOLE = 0.75;

/**
 * The pose's mask and the player's own patch of the person mask; an empty patch when the two do not fit together.
 * @param {Finding} player @param {Grid} grid
 * @returns {{ posed: Numbers | null, patch: Numbers, fits: boolean }}
 */
export function playerMasks(player, grid) {
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
    posed && dilate(posed, grid.width, Math.round(PATCH_REACH_PART * Math.max(grid.width, grid.height)));
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
  const { posed, patch } = playerMasks(player, grid);
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

/**
 * One matte from several opinions: the salient network's on two scales, pose mask, person mask, limbs and colours. The
 * salient network has the finest edge, but also takes what stands beside the player; pose and person mask say where the
 * player is. Where they contradict each other, the colours nearby decide.
 * @param {Finding} player @param {Mask[]} salients @param {Bytes} rgba on the grid @param {Grid} grid
 * @returns {Numbers}
 */
export function fuseMatte(player, salients, rgba, grid) {
  const { posed, patch, fits } = playerMasks(player, grid);
  const limbs = limbMap(player, grid);
  const core = patch.map((value, i) =>
    posed && fits ? 0.6 * posed[i] + 0.4 * value : posed ? posed[i] : value,
  );
  const fines = salients.map((salient) => sampleMask(salient, grid));
  const known = knownTo(player.people, grid);
  yieldToRivals(player, grid, [...fines, core, patch, limbs], posed);
  const headPx = salients.map(({ height, crop }) => (player.head.height * height) / crop.height);
  const { fine, trust, trusted } = weightedMean(fines, core, headPx);
  /** @type {Numbers} */
  const near = core.map((value, i) => Math.max(value, patch[i] ?? 0, posed ? posed[i] : 0, limbs[i] ?? 0));
  const support = reachOf(near, grid);
  if (!posed) for (let i = 0; i < support.length; i++) if (known[i] < 1) support[i] = 1;
  /** @type {Numbers} */
  const bodied = core.map((value, i) => Math.max(value, limbs[i]));
  const between = gapsIn(bodied, grid);
  admitOwnColours(trusted, support, core, between, rgba, grid.width);
  const { held, left } = sortBelongings(trusted, support, bodied, player, grid, between);
  const head = headMap(player, grid);
  /** @type {Numbers} */
  const opinion = fine.map((value, i) => {
    const own = posed ? posed[i] : core[i];
    const patched = (known[i] ?? 0) * odds(patch[i] ?? 0);
    const masks = fits && posed ? 0.9 * odds(own) + 0.7 * patched : posed ? 1.4 * odds(own) : 1.4 * patched;
    const most = Math.max(...trusted.map((one) => one[i]));
    const least = Math.min(...trusted.map((one) => one[i]));
    const onLimb = (limbs[i] ?? 0) * smoothStep(own, 0.6, 0.9);
    const agreed = 0.4 * smoothStep(least, 0.6, 0.9) + 0.25 * (1 - smoothStep(most, 0.08, 0.25));
    const seen = odds(held[i] ? most : value) * (1 + agreed);
    const salience = seen * (0.6 + trust) * (seen < 0 ? 1 - 0.75 * onLimb : 1);
    const where =
      Math.max(masks, 3 * (held[i] ?? 0) - 1) + (limbs[i] ?? 0) * smoothStep(own, 0.2, 0.6) + 2.5 * onLimb + 2 * (head[i] ?? 0);
    const unlikely =
      2.5 * (between[i] ?? 0) * (1 - Math.max(own, patch[i] ?? 0)) * (1 - smoothStep(least, 0.8, 0.98)) +
      4 * (left[i] ?? 0) * (1 - smoothStep(core[i] ?? 0, 0.3, 0.7));
    return salience + where - unlikely - 10 * (1 - (support[i] ?? 0));
  });
  const matte = settle(opinion, rgba, grid.width);
  closeHoles(matte, core, grid.width);
  dropIslands(matte, grid.width);
  return matte;
}

/** @param {number} probability @returns {number} log odds, at most 3 either way */
function odds(probability) {
  const p = 0.0474 + 0.9052 * probability;
  return Math.log(p / (1 - p));
}

/** Rounds in which beliefs and the colours seen with them settle, and how much colours count. */
const ROUNDS = 2;
const COLOUR_WEIGHT = 0.7;

/**
 * From log odds to a matte.
 * @param {Numbers} opinion @param {Bytes} rgba @param {number} width
 * @returns {Numbers}
 */
function settle(opinion, rgba, width) {
  /** @type {Numbers} */
  const belief = opinion.map((value) => 1 / (1 + Math.exp(-value)));
  for (let round = 0; round < ROUNDS; round++) {
    const colours = boxBlur(colourOdds(belief, rgba, width), width, 2);
    for (let i = 0; i < belief.length; i++) {
      belief[i] = 1 / (1 + Math.exp(-opinion[i] - COLOUR_WEIGHT * colours[i]));
    }
  }
  return belief.map((value) => smoothStep(value, 0.2, 0.8));
}

/**
 * The salient answers' mean, each weighted by how far it agrees with what pose and person mask are sure of. A network
 * trained on whole things does not see the player in a picture that a head fills.
 * @param {Numbers[]} fines @param {Numbers} core @param {number[]} headPx the head's height in each of their pictures
 */
function weightedMean(fines, core, headPx) {
  const weights = fines.map((fine, k) => {
    const agreed = Math.max(0, 2 * agreement(fine, core) - 1) ** 4;
    return 0.01 + agreed * (1 - 0.9 * smoothStep(Number(headPx[k]), LARGE_HEAD_PX.low, LARGE_HEAD_PX.high));
  });
  const sum = weights.reduce((total, weight) => total + weight, 0);
  /** @type {Numbers} */
  const mean = new Float32Array(core.length);
  for (const [k, fine] of fines.entries()) {
    const share = Number(weights[k]) / sum;
    for (let i = 0; i < mean.length; i++) mean[i] += share * fine[i];
  }
  const trusted = fines.filter((_, k) => Number(weights[k]) > MIN_SHARE * sum);
  return { fine: mean, trust: smoothStep(agreement(mean, core), 0.5, 0.95), trusted };
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

/** @param {Numbers} near @param {Grid} grid */
function reachOf(near, { width, height }) {
  const radius = Math.max(3, Math.round(REACH_PART * Math.max(width, height)));
  return dilate(near, width, radius).map((value) => smoothStep(value, 0.15, 0.6));
}

/**
 * Salient things out of reach of the body are taken whole or left whole: half a ball is worse than none.
 * @param {Numbers[]} fines @param {Numbers} support changed in place @param {Numbers} core
 * @param {Finding} player @param {Grid} grid @param {Numbers} between
 * @returns {{ held: Numbers, left: Numbers }} 1 on what belongs to the player, and 1 on and beside what does not
 */
function sortBelongings(fines, support, core, player, grid, between) {
  /** @type {Numbers} */
  const most = core.map((_, i) => Math.max(...fines.map((fine) => fine[i])));
  const { labels, sizes } = patches(
    most.length,
    grid.width,
    (cell) => most[cell] > 0.5 && support[cell] < 0.5 && between[cell] < 0.5,
  );
  const salience = sizes.map(() => 0);
  const inHand = handCells(player, grid);
  const handled = sizes.map(() => false);
  const atBorder = sizes.map(() => 0);
  let playerCells = 0;
  for (let i = 0; i < most.length; i++) {
    const label = labels[i];
    if (core[i] > 0.5) playerCells++;
    if (!label) continue;
    salience[label] += most[i];
    if (inHand[i] > 0) handled[label] = true;
    if (isBorder(i, grid)) atBorder[label]++;
  }
  const admitted = sizes.map((size, label) => {
    const limit = handled[label] ? MAX_HELD_PART : MAX_BELONGING_PART;
    const goesOn = (atBorder[label] ?? 0) > Math.sqrt(size);
    return !goesOn && size <= limit * playerCells && (salience[label] ?? 0) >= MIN_BELONGING_SALIENCE * size;
  });
  const notable = sizes.map((size) => size > 0.002 * playerCells);
  const held = support.map((_, i) => (labels[i] && admitted[labels[i]] ? 1 : 0));
  const left = support.map((_, i) => (labels[i] && !admitted[labels[i]] && notable[labels[i]] ? 1 : 0));
  const reach = dilate(held, grid.width, BELONGING_REACH_CELLS);
  const anyInHand = sizes.some((_, label) => label > 0 && admitted[label] && handled[label]);
  for (let i = 0; i < support.length; i++) {
    support[i] = Math.max(support[i], reach[i] * (1 - between[i]));
    // Its bridge to the hand is held with it.
    if ((reach[i] > 0 || (anyInHand && inHand[i] > 0)) && most[i] > 0.5 && support[i] > 0.5) held[i] = 1;
  }
  return { held, left: dilate(left, grid.width, BELONGING_REACH_CELLS) };
}

/** @param {number} cell @param {Grid} grid */
function isBorder(cell, { width, height }) {
  const x = cell % width;
  return x === 0 || x === width - 1 || cell < width || cell >= width * (height - 1);
}

/**
 * Salient parts between limbs that pose and person mask have missed are the player's when they have the player's colours:
 * a skirt's hem, but not the gap between arm and body.
 * @param {Numbers[]} fines @param {Numbers} support changed in place @param {Numbers} core @param {Numbers} between
 * @param {Bytes} rgba @param {number} width
 */
function admitOwnColours(fines, support, core, between, rgba, width) {
  /** @type {Numbers} */
  const least = core.map((_, i) => Math.min(...fines.map((fine) => fine[i])));
  const { labels, sizes } = patches(
    core.length,
    width,
    (cell) => least[cell] > 0.5 && support[cell] < 0.5 && between[cell] > 0.5,
  );
  if (sizes.length === 1) return;
  /** @type {Numbers} */
  const seeds = core.map((value, i) => (value > 0.7 ? 1 : support[i] > 0 || least[i] > 0.3 ? 0.5 : 0));
  const colours = colourOdds(seeds, rgba, width);
  const sums = sizes.map(() => 0);
  for (let i = 0; i < colours.length; i++) if (labels[i]) sums[labels[i]] += colours[i];
  for (let i = 0; i < colours.length; i++) {
    if (labels[i] && Number(sums[labels[i]]) > OWN_COLOURS * Number(sizes[labels[i]])) support[i] = 1;
  }
}

/** 1 in the face, brow to chin and ear to ear. @param {Finding} player @param {Grid} grid @returns {Numbers} */
function headMap({ face }, { x, y, width, height, step }) {
  /** @type {Numbers} */
  const map = new Float32Array(width * height);
  if (!face) return map;
  const [cx, cy] = [(face.x + face.width / 2 - x) / step, (face.y + face.height / 2 - y) / step];
  const [rx, ry] = [face.width / 2 / step, face.height / 2 / step];
  for (let i = 0; i < map.length; i++) {
    const distance = Math.hypot(((i % width) - cx) / rx, (Math.floor(i / width) - cy) / ry);
    map[i] = 1 - smoothStep(distance, 0.8, 1);
  }
  return map;
}

/** 1 in reach of the player's hands. @param {Finding} player @param {Grid} grid @returns {Numbers} */
function handCells({ pose }, { x, y, width, height, step }) {
  /** @type {Numbers} */
  const cells = new Float32Array(width * height);
  if (!pose) return cells;
  const radius = (HAND_REACH_PART * trunkLength(pose.points)) / step;
  for (const i of HANDS) {
    const hand = pose.points[i];
    if (!hand || hand.visible < 0.3) continue;
    const [cx, cy] = [(hand.x - x) / step, (hand.y - y) / step];
    for (let cell = 0; cell < cells.length; cell++) {
      if (Math.hypot((cell % width) - cx, Math.floor(cell / width) - cy) < radius) cells[cell] = 1;
    }
  }
  return cells;
}

/**
 * 1 where the player is to the left and to the right, or above and below, and the cell itself is not the player: the gaps
 * between arms and body and between the legs.
 * @param {Numbers} core @param {Grid} grid
 * @returns {Numbers}
 */
function gapsIn(core, { width, height }) {
  /** @type {Numbers} */
  const gaps = new Float32Array(core.length);
  const mark = (/** @type {number} */ first, /** @type {number} */ stride, /** @type {number} */ length) => {
    let last = -1;
    for (let k = 0; k < length; k++) {
      if (core[first + k * stride] <= 0.5) continue;
      if (last >= 0) for (let gap = last + 1; gap < k; gap++) gaps[first + gap * stride] = 1;
      last = k;
    }
  };
  for (let y = 0; y < height; y++) mark(y * width, 1, width);
  for (let x = 0; x < width; x++) mark(x, width, height);
  return gaps;
}

/** The salient matte's mean where pose and person mask are both sure. @param {Numbers} fine @param {Numbers} core */
function agreement(fine, core) {
  let sum = 0;
  let cells = 0;
  for (let i = 0; i < core.length; i++) {
    if (core[i] < 0.85) continue;
    sum += fine[i];
    cells++;
  }
  return cells > 0 ? sum / cells : 1;
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

/** Clears small patches apart from the player together with the veil around them. @param {Numbers} matte @param {number} width */
function dropIslands(matte, width) {
  const { labels, sizes } = patches(matte.length, width, (cell) => matte[cell] > 0.04);
  const largest = Math.max(...sizes);
  for (let i = 0; i < matte.length; i++) {
    if (labels[i] && (sizes[labels[i]] ?? 0) < MAX_ISLAND_PART * largest) matte[i] = 0;
  }
}
