import { smoothStep } from "./masks.js";

/** @import { Finding } from "./find_player.js" */
/** @import { Point } from "./detectors.js" */
/** @import { Grid, Numbers } from "./masks.js" */

/**
 * Bones between BlazePose's landmarks and their half widths as parts of the trunk's length: shoulders, sides, arms,
 * hands, legs, feet.
 */
const BONES = [
  [11, 12, 0.12],
  [11, 23, 0.12],
  [12, 24, 0.12],
  [11, 13, 0.13],
  [12, 14, 0.13],
  [13, 15, 0.1],
  [14, 16, 0.1],
  [15, 19, 0.09],
  [16, 20, 0.09],
  [23, 25, 0.18],
  [24, 26, 0.18],
  [25, 27, 0.13],
  [26, 28, 0.13],
  [27, 31, 0.1],
  [28, 32, 0.1],
];

/**
 * 1 on the player's limbs as the pose has them, falling to 0 at twice their width.
 * @param {Finding} player @param {Grid} grid
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
    const sure = smoothStep(Math.min(a.visible, b.visible), 0.85, 0.97);
    if (sure > 0) drawBone(map, grid, a, b, part * trunk, sure);
  }
  return map;
}

/** The trunk's length, or what the shoulders' width makes it when the body is seen from above. @param {Point[]} points */
export function trunkLength(points) {
  const at = (/** @type {number} */ i) => points[i] ?? { x: 0, y: 0 };
  const middle = (/** @type {number} */ i, /** @type {number} */ k) => ({
    x: (at(i).x + at(k).x) / 2,
    y: (at(i).y + at(k).y) / 2,
  });
  const [shoulders, hips] = [middle(11, 12), middle(23, 24)];
  const trunk = Math.hypot(shoulders.x - hips.x, shoulders.y - hips.y);
  return Math.max(trunk, 1.3 * Math.hypot(at(11).x - at(12).x, at(11).y - at(12).y));
}

/** @param {Numbers} map @param {Grid} grid @param {Point} a @param {Point} b @param {number} radius cells @param {number} sure */
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
      const distance = Math.sqrt(offX * offX + offY * offY);
      const value = sure * Math.min(1, 2 - distance / radius);
      const cell = y * grid.width + x;
      if (value > map[cell]) map[cell] = value;
    }
  }
}

/** 1 in the face, brow to chin and ear to ear. @param {Finding} player @param {Grid} grid @returns {Numbers} */
export function faceMap({ face }, { x, y, width, height, step }) {
  /** @type {Numbers} */
  const map = new Float32Array(width * height);
  if (!face) return map;
  const [left, top] = [(face.x - x) / step, (face.y - y) / step];
  const [rx, ry] = [face.width / 2 / step, face.height / 2 / step];
  for (let v = Math.max(0, Math.floor(top)); v < Math.min(height, top + 2 * ry); v++) {
    for (let u = Math.max(0, Math.floor(left)); u < Math.min(width, left + 2 * rx); u++) {
      const [dx, dy] = [(u - left) / rx - 1, (v - top) / ry - 1];
      map[v * width + u] = 1 - smoothStep(Math.sqrt(dx * dx + dy * dy), 0.8, 1);
    }
  }
  return map;
}
