import { between, distance } from "./examine.js";
import { smoothStep } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Point } from "./detectors.js" */
/** @import { Grid, Numbers } from "./masks.js" */

/**
 * Bones of arms, hands and legs: two BlazePose landmarks, and the half width as a fraction of the trunk's
 * length.
 */
const BONES = [
  [11, 13, 0.1],
  [12, 14, 0.1],
  [13, 15, 0.07],
  [14, 16, 0.07],
  [15, 19, 0.06],
  [16, 20, 0.06],
  [23, 25, 0.14],
  [24, 26, 0.14],
  [25, 27, 0.09],
  [26, 28, 0.09],
];

/** How far from a hand a thing can be held, as a part of the trunk's length. */
const HAND_REACH_PART = 0.45;
/** BlazePose's landmarks of wrists, little fingers, index fingers and thumbs. */
const HANDS = [15, 16, 17, 18, 19, 20, 21, 22];
const MIN_HAND_VISIBLE = 0.3;

/**
 * A limb of which one end is seen no more surely than `none` is left out; from `full` on, it counts fully.
 */
const CLEARLY_SEEN = { none: 0.85, full: 0.97 };

/**
 * 1 where the pose places the player's limbs, falling to 0 at twice their width; less or 0 on limbs it does
 * not clearly see.
 * @param {Finding} player
 * @param {Grid} grid
 * @returns {Numbers}
 */
export function limbMap({ pose }, grid) {
  /** @type {Numbers} */
  const map = new Float32Array(grid.width * grid.height);
  if (!pose) return map;
  const trunk = trunkLength(pose.points) / grid.step;
  for (const [from = 0, to = 0, part = 0] of BONES) {
    const a = pose.points[from];
    const b = pose.points[to];
    if (!a || !b) continue;
    const visible = Math.min(Number(pose.visibility[from]), Number(pose.visibility[to]));
    const sure = smoothStep(visible, CLEARLY_SEEN.none, CLEARLY_SEEN.full);
    if (sure > 0) drawBone(map, grid, a, b, part * trunk, sure);
  }
  return map;
}

/**
 * 1 within reach of the player's visible hands, 0 elsewhere.
 * @param {Finding} player @param {Grid} grid
 * @returns {Numbers}
 */
export function handCells({ pose }, { x, y, width, height, step }) {
  /** @type {Numbers} */
  const cells = new Float32Array(width * height);
  if (!pose) return cells;
  const radius = (HAND_REACH_PART * trunkLength(pose.points)) / step;
  for (const i of HANDS) {
    const hand = pose.points[i];
    if (!hand || Number(pose.visibility[i]) < MIN_HAND_VISIBLE) continue;
    const [cx, cy] = [(hand.x - x) / step, (hand.y - y) / step];
    for (let v = Math.max(0, Math.ceil(cy - radius)); v < Math.min(height, cy + radius); v++) {
      const reach = Math.sqrt(Math.max(0, radius * radius - (v - cy) * (v - cy)));
      const [left, right] = [Math.max(0, Math.ceil(cx - reach)), Math.min(width, Math.ceil(cx + reach))];
      if (left < right) cells.fill(1, v * width + left, v * width + right);
    }
  }
  return cells;
}

/**
 * The trunk's length in search pixels. A trunk seen from above looks too short, so its length is then
 * estimated from the width of the shoulders.
 * @param {Point[]} points
 */
function trunkLength(points) {
  const at = (/** @type {number} */ i) => points[i] ?? { x: 0, y: 0 };
  const trunk = distance(between(at(11), at(12)), between(at(23), at(24)));
  return Math.max(trunk, 1.3 * distance(at(11), at(12)));
}

/**
 * @param {Numbers} map changed in place @param {Grid} grid @param {Point} a @param {Point} b
 * @param {number} radius half the bone's width, in cells @param {number} sure the value on the bone itself
 */
function drawBone(map, grid, a, b, radius, sure) {
  const [ax, ay] = [(a.x - grid.x) / grid.step, (a.y - grid.y) / grid.step];
  const [bx, by] = [(b.x - grid.x) / grid.step, (b.y - grid.y) / grid.step];
  const [dx, dy] = [bx - ax, by - ay];
  const length = Math.max(1e-6, dx * dx + dy * dy);
  const reach = 2 * radius;
  const top = Math.max(0, Math.floor(Math.min(ay, by) - reach));
  const bottom = Math.min(grid.height - 1, Math.ceil(Math.max(ay, by) + reach));
  const left = Math.max(0, Math.floor(Math.min(ax, bx) - reach));
  const right = Math.min(grid.width - 1, Math.ceil(Math.max(ax, bx) + reach));
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      const part = Math.max(0, Math.min(1, ((x - ax) * dx + (y - ay) * dy) / length));
      const [offX, offY] = [x - ax - part * dx, y - ay - part * dy];
      const value = sure * Math.min(1, 2 - Math.sqrt(offX * offX + offY * offY) / radius);
      const cell = y * grid.width + x;
      if (value > map[cell]) map[cell] = value;
    }
  }
}
