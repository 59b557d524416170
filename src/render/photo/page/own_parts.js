import { headBox } from "./framing.js";
import { above, dilate, patches, sampleMask, smoothStep } from "./masks.js";

/** @import { Parts } from "./body_parts.js" */
/** @import { Finding } from "./find_player.js" */
/** @import { Flags, Grid, Labels, Numbers, Rect } from "./masks.js" */

/**
 * Body parts within this distance of pose and person mask are the player's, as a fraction of the grid's
 * longer side.
 */
const OWN_REACH_PART = 0.02;
/**
 * Connected parts further away are the player's or not as a whole: at most this fraction of the player's size
 * ...
 */
const MAX_EXTRA_PART = 0.4;
/** ... or this fraction when other people are near. */
const MAX_EXTRA_IN_COMPANY = 0.2;
/** Such a part needs at least this mean salience to be taken in full. */
const MIN_EXTRA_SALIENCE = 0.35;
/** Or at least these mean log odds, such as a trophy in the dark. */
const SURE_EXTRA_ODDS = 3.1;
/**
 * A part this near to somebody else, in the player's head heights, may be that person's hand: it is the
 * player's only if the player's hand is in it.
 */
const ARM_REACH_HEADS = 0.6;
/** Of a part with too little salience, only cells with more than this are taken. */
const SALIENT = 0.6;
/** A part that does not touch the body needs at least this mean salience: something the player holds out. */
const SURE_SALIENCE = 0.85;
/** A part with a larger fraction of face than this is somebody else's. */
const MAX_EXTRA_HEAD = 0.06;
/**
 * With a larger fraction of hair than this, it may be somebody who turns their back: it is judged as in
 * company.
 */
const MAX_EXTRA_HAIR = 0.1;
/** The player's own hair lies within three quarters of this many head heights of the head's centre. */
const OWN_HAIR_HEADS = 1.3;
/** Parts within this distance of the player's body touch it. */
const BESIDE_CELLS = 4;
/** Parts below this fraction of the player's size are bits of the edge. */
const MIN_EXTRA_PART = 0.003;

/**
 * Where a face was seen, hair and face are at least this fraction of the person; less means a raised hand.
 */
const MIN_FACE_PARTS = 0.2;

/**
 * Cells that another person's pose claims more strongly than the player's, from 0 to 1.
 * @param {Finding} player @param {Grid} grid @param {Numbers | null} posed
 * @param {Parts} parts
 * @returns {Numbers}
 */
export function rivalsOf({ rivals }, grid, posed, parts) {
  /** @type {Numbers} */
  const claims = new Float32Array(grid.width * grid.height);
  for (const rival of rivals) {
    const theirs = sampleMask(rival, grid);
    if (rival.byFace && !isHead(rival.byFace, grid, parts)) continue;
    for (let i = 0; i < theirs.length; i++) {
      const own = posed ? posed[i] : 0;
      if (theirs[i] < 0.3 || own > theirs[i]) continue;
      claims[i] = Math.max(claims[i], smoothStep(theirs[i] - own, 0.2, 0.6));
    }
  }
  return claims;
}

/**
 * Whether the body parts in the box of a detected face are those of a head.
 * @param {Rect} box @param {Grid} grid @param {Parts} parts
 */
function isHead(box, { x, y, width, height, step }, { odds, hair, face }) {
  const cell = (/** @type {number} */ at, /** @type {number} */ from, /** @type {number} */ most) =>
    Math.max(0, Math.min(most, Math.round((at - from) / step)));
  let [person, heads] = [0, 0];
  for (let v = cell(box.y, y, height); v < cell(box.y + box.height, y, height); v++) {
    for (let u = cell(box.x, x, width); u < cell(box.x + box.width, x, width); u++) {
      const i = v * width + u;
      if (odds[i] < 0) continue;
      person++;
      heads += hair[i] + face[i];
    }
  }
  return person > 0 && heads >= MIN_FACE_PARTS * person;
}

/**
 * Separates the player's body parts from other people's.
 * @param {Finding} player @param {Parts} parts
 * @param {{ posed: Numbers, limbs: Numbers, hands: Numbers, fine: Numbers, theirs: Numbers }} maps `hands` is
 *   1 within reach of the player's hands
 * @param {Grid} grid
 * @returns {{ own: Numbers, left: Numbers }} own: 1 where the player may be; left: 1 on other people's parts
 */
export function ownParts(player, { odds, face, hair }, { posed, limbs, hands, fine, theirs }, grid) {
  const { width, height } = grid;
  const radius = Math.max(3, Math.round(OWN_REACH_PART * Math.max(width, height)));
  const near = dilate(posed, width, radius);
  const around = ownHair(player, grid);
  /** @type {Numbers} */
  const own = new Float32Array(odds.length);
  /** @type {Numbers} */
  const left = new Float32Array(odds.length);
  /** @type {Numbers} */
  const body = new Float32Array(odds.length);
  const elsewhere = above(odds, 0);
  const inCompany = theirs.some((value) => value > 0.5);
  const reach = Math.round((ARM_REACH_HEADS * headBox(player).height) / grid.step);
  const nearTheirs = inCompany ? dilate(theirs, width, reach) : theirs;
  let playerCells = 0;
  for (let i = 0; i < own.length; i++) {
    if (near[i] > 0.4 || around[i] > 0.5 || limbs[i] > 0) own[i] = 1;
    if (own[i] > 0.5) elsewhere[i] = 0;
    if (own[i] && odds[i] > 0 && theirs[i] < 0.5) body[i] = 1;
    playerCells += body[i];
  }
  const besideBody = dilate(body, width, BESIDE_CELLS);
  const { labels, sizes } = patches(elsewhere, width);
  const extras = measureExtras(
    labels,
    sizes,
    { odds, head: face, hair, salience: fine, rival: theirs },
    { touches: above(besideBody, 0), handled: above(hands, 0), beside: above(nearTheirs, 0.5) },
  );
  const isSure = extras.map((extra) => extra.odds >= SURE_EXTRA_ODDS * extra.size);
  const isOwn = extras.map(
    ({ size, head: heads, hair, salience, rival, touches, handled, beside }, label) =>
      label > 0 &&
      (beside === 0 || handled > 0) &&
      (touches > 0 || salience >= SURE_SALIENCE * size) &&
      size <=
        (inCompany || hair > MAX_EXTRA_HAIR * size ? MAX_EXTRA_IN_COMPANY : MAX_EXTRA_PART) * playerCells &&
      heads <= MAX_EXTRA_HEAD * size &&
      rival <= 0.3 * size,
  );
  const isSalient = extras.map(
    ({ size, salience }, label) => isSure[label] || salience >= MIN_EXTRA_SALIENCE * size,
  );
  for (let i = 0; i < own.length; i++) {
    const label = labels[i];
    if (!label) continue;
    // Parts in the shade are often salient only in places: an elbow between a lit arm and a lit hand.
    if (isOwn[label] && (isSalient[label] || fine[i] > SALIENT)) own[i] = 1;
    else if (Number(sizes[label]) > MIN_EXTRA_PART * playerCells) left[i] = 1;
  }
  return { own: dilate(own, width, 1), left };
}

/**
 * For each patch its size, the sum of each map over its cells, and in how many of them each flag is set.
 * @template {string} Map @template {string} Test
 * @param {Labels} labels @param {number[]} sizes
 * @param {Record<Map, Numbers>} maps @param {Record<Test, Flags>} tests
 * @returns {(Record<Map | Test, number> & { size: number })[]} by label
 */
function measureExtras(labels, sizes, maps, tests) {
  const names = /** @type {Map[]} */ (Object.keys(maps));
  const questions = /** @type {Test[]} */ (Object.keys(tests));
  /** @type {Record<string, number>} */
  const zeros = Object.fromEntries([...names, ...questions].map((name) => [name, 0]));
  const extras = sizes.map((size) => ({ ...zeros, size }));
  for (let i = 0; i < labels.length; i++) {
    /** @type {Record<string, number> | undefined} */
    const extra = labels[i] ? extras[labels[i]] : undefined;
    if (!extra) continue;
    for (const name of names) extra[name] = Number(extra[name]) + maps[name][i];
    for (const name of questions) if (tests[name][i]) extra[name] = Number(extra[name]) + 1;
  }
  return /** @type {(Record<Map | Test, number> & { size: number })[]} */ (extras);
}

/**
 * 1 around the player's head, as far as hair reaches.
 * @param {Finding} player
 * @param {Grid} grid
 * @returns {Numbers}
 */
function ownHair(player, grid) {
  const head = headBox(player);
  const [cx, cy] = [head.x + head.width / 2, head.y + head.height / 2];
  /** @type {Numbers} */
  const map = new Float32Array(grid.width * grid.height);
  const radius = 0.75 * OWN_HAIR_HEADS * head.height;
  const top = Math.max(0, Math.floor((cy - radius - grid.y) / grid.step));
  const bottom = Math.min(grid.height, Math.ceil((cy + radius - grid.y) / grid.step));
  for (let row = top; row < bottom; row++) {
    const dy = grid.y + (row + 0.5) * grid.step - cy;
    for (let column = 0, i = row * grid.width; column < grid.width; column++, i++) {
      const dx = grid.x + (column + 0.5) * grid.step - cx;
      if (dx * dx + dy * dy < radius * radius) map[i] = 1;
    }
  }
  return map;
}
