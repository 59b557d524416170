/** @import { Bytes } from "./masks.js" */

/** A photo is badly underexposed if 95 of 100 of the player's pixels are below this brightness (0 to 255). */
const UNDEREXPOSED = 70;
/** That 95th percentile is raised to this ... */
const LIFTED = 150;
/** ... but by this factor at most, because noise is amplified too. */
const MAX_GAIN = 5;

/**
 * Brightens a badly underexposed player, who would be a silhouette on the card; leaves others unchanged.
 * @param {Bytes} rgba straight alpha; changed in place
 */
export function liftUnderexposed(rgba) {
  const counts = new Uint32Array(256);
  let solid = 0;
  for (let i = 0; i < rgba.length; i += 4) {
    if (rgba[i + 3] < 128) continue;
    const bright = Math.max(rgba[i], rgba[i + 1], rgba[i + 2]);
    counts[bright] = (counts[bright] ?? 0) + 1;
    solid++;
  }
  let level = 0;
  for (let darker = 0; level < 255; level++) {
    darker += counts[level] ?? 0;
    if (darker >= 0.95 * solid) break;
  }
  if (level >= UNDEREXPOSED) return;
  const gain = Math.min(MAX_GAIN, LIFTED / Math.max(1, level));
  for (let i = 0; i < rgba.length; i += 4) {
    for (let k = i; k < i + 3; k++) rgba[k] = rgba[k] * gain;
  }
}
