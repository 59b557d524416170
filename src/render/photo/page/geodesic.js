/** @import { Bytes, Labels, Numbers } from "./masks.js" */

/**
 * A step between cells costs STEP_COST, plus 1 for each COLOUR_PER_STEP by which the channels differ (of 3 x
 * 255).
 */
const STEP_COST = 1;
const COLOUR_PER_STEP = 8;
/**
 * Size of the ring of buckets, each of which holds one unit of distance; steps are capped to be shorter than
 * the ring.
 */
const BUCKETS = 128;

/**
 * Assigns disputed cells to the seed from which the path to them is shortest, where crossing an edge in the
 * picture makes a path long (P. Toivanen, "New geodesic distance transforms", 1996).
 * @param {Labels} seeds 1, 2, ... where the owner is known, 0 elsewhere
 * @param {Bytes} rgba @param {number} width in cells
 * @returns {Labels} the owner of each seed and each cell reached, 0 elsewhere
 */
export function nearestSeed(seeds, rgba, width) {
  /** @type {Labels} */
  const owners = new Int32Array(seeds.length);
  /** @type {Numbers} */
  const distances = new Float32Array(seeds.length).fill(Number.POSITIVE_INFINITY);
  /** Cells by distance; buckets are reused, since no step is as long as the ring. @type {number[][]} */
  const ring = Array.from({ length: BUCKETS }, () => []);
  let waiting = 0;
  for (let cell = 0; cell < seeds.length; cell++) {
    if (!seeds[cell]) continue;
    owners[cell] = seeds[cell];
    distances[cell] = 0;
  }
  for (let cell = 0; cell < seeds.length; cell++) {
    // Paths start only from seeds next to a cell that is another's or nobody's.
    const owner = seeds[cell];
    if (!owner) continue;
    const [left, right, up, down] = [
      seeds[cell - 1],
      seeds[cell + 1],
      seeds[cell - width],
      seeds[cell + width],
    ];
    if (left === owner && right === owner && up === owner && down === owner) continue;
    ring[0]?.push(cell);
    waiting++;
  }
  for (let now = 0; waiting > 0; now++) {
    const bucket = ring[now % BUCKETS] ?? [];
    for (let cell = bucket.pop(); cell !== undefined; cell = bucket.pop()) {
      waiting--;
      if (Math.floor(distances[cell]) < now) continue;
      const x = cell % width;
      for (const next of [x > 0 ? cell - 1 : -1, x < width - 1 ? cell + 1 : -1, cell - width, cell + width]) {
        if (next < 0 || next >= seeds.length || seeds[next]) continue;
        const distance = distances[cell] + stepCost(rgba, cell, next);
        if (distance >= distances[next]) continue;
        distances[next] = distance;
        owners[next] = owners[cell];
        ring[Math.floor(distance) % BUCKETS]?.push(next);
        waiting++;
      }
    }
  }
  return owners;
}

/** @param {Bytes} rgba @param {number} one @param {number} other */
function stepCost(rgba, one, other) {
  let apart = 0;
  for (let k = 0; k < 3; k++) apart += Math.abs(rgba[4 * one + k] - rgba[4 * other + k]);
  return STEP_COST + Math.min(BUCKETS - 2 - STEP_COST, apart / COLOUR_PER_STEP);
}
