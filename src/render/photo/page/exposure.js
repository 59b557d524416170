import { smoothStep } from "./masks.js";

/** @import { Bytes, Rect } from "./masks.js" */

/** A photo is badly underexposed if 95 of 100 of the player's pixels are below this brightness (0 to 255). */
const UNDEREXPOSED = 70;
/** That 95th percentile is raised to this ... */
const LIFTED = 150;
/** ... but by this factor at most, because noise is amplified too. */
const MAX_GAIN = 5;

/**
 * Fog on the lens and light in it leave no dark tone: a player has haze from `low` on (the second percentile,
 * 0..1), and all of it is taken out from `high` on. Of 87 players without haze 86 are below 0.24, one in
 * white and blonde has 0.27.
 */
const HAZE = { low: 0.28, high: 0.38 };
/** Without haze, the darkest tone is this. */
const BLACK = 0.07;
/** Haze is taken out by stretching the tones by this factor at most: more shows noise and blocks. */
const MAX_STRETCH = 2;

/**
 * A player is dim whose face has no light as bright as DIM_FACE (the 95th percentile, 0..1: skin of every
 * colour shines brighter in even light) and who wears nothing bright either: the brightest tone is below
 * `low` fully, from `high` on not.
 */
const DIM_FACE = 0.57;
const DIM_ALL = { low: 0.7, high: 0.82 };
/** The shadows of a dim player are raised by this factor at most. */
const MAX_DIM_GAIN = 2;

/**
 * Brings the light of a badly underexposed, a dim or a hazy player near that of others; leaves all other
 * players unchanged.
 * @param {Bytes} rgba straight alpha; changed in place @param {number} width @param {Rect} face in pixels
 * @returns {Uint8ClampedArray | null} what each of 256 tones became; null if they are unchanged
 */
export function evenLight(rgba, width, face) {
  const lifted = liftUnderexposed(rgba);
  if (lifted) return lifted;
  const { dark, bright } = tonesOf(rgba, width, { x: 0, y: 0, width, height: rgba.length / 4 / width });
  const { bright: faceBright } = tonesOf(rgba, width, face);
  const curve = curveOf(dark, bright, faceBright);
  if (!curve) return null;
  const tones = Uint8ClampedArray.from({ length: 256 }, (_, value) => Math.round(255 * curve(value / 255)));
  for (let i = 0; i < rgba.length; i += 4)
    if (rgba[i + 3] > 0) for (let k = i; k < i + 3; k++) rgba[k] = Number(tones[rgba[k]]);
  return tones;
}

/**
 * The tone curve that takes haze and dimness out, null when there is neither. One curve for all channels
 * keeps skin's hue.
 * @param {number} dark @param {number} bright of the player @param {number} faceBright
 * @returns {((tone: number) => number) | null} for tones from 0 to 1
 */
export function curveOf(dark, bright, faceBright) {
  const hazy = smoothStep(dark, HAZE.low, HAZE.high);
  const stretch = Math.min(MAX_STRETCH, 1 + (hazy * (dark - BLACK)) / Math.max(0.01, bright - dark));
  const clear = (/** @type {number} */ tone) => bright - (bright - tone) * stretch;
  const dim = 1 - smoothStep(bright, DIM_ALL.low, DIM_ALL.high);
  const floor = dim * Math.max(0, clear(dark) - BLACK);
  const lowered = (/** @type {number} */ tone) => Math.max(0, clear(tone) - floor) / (1 - floor);
  const face = Math.min(0.99, Math.max(0.01, lowered(faceBright)));
  const wanted = Math.min(MAX_DIM_GAIN, (DIM_FACE * (1 - face)) / (face * (1 - DIM_FACE)));
  const gain = 1 + dim * Math.max(0, wanted - 1);
  if (stretch < 1.02 && gain < 1.02) return null;
  // Raises shadows by `gain` and leaves white where it is (Reinhard et al., "Photographic tone reproduction",
  // 2002).
  return gain < 1.02 ? clear : (tone) => (gain * lowered(tone)) / (1 + (gain - 1) * lowered(tone));
}

/** Pixels of a rectangle that are measured, about. */
const MEASURED_PIXELS = 20_000;

/**
 * The darkest and the brightest tones (0..1) of the solid pixels in a rectangle: the 2nd and the 98th
 * percentile of their luma, for a face the 95th.
 * @param {Bytes} rgba @param {number} width @param {Rect} rect
 */
function tonesOf(rgba, width, rect) {
  const height = rgba.length / 4 / width;
  const isFace = rect.height < height;
  const step = Math.max(1, Math.round(Math.sqrt((rect.width * rect.height) / MEASURED_PIXELS)));
  const right = Math.min(width, rect.x + rect.width);
  const bottom = Math.min(height, rect.y + rect.height);
  const counts = new Uint32Array(256);
  let solid = 0;
  for (let y = Math.max(0, Math.round(rect.y)); y < bottom; y += step) {
    for (let x = Math.max(0, Math.round(rect.x)); x < right; x += step) {
      const i = 4 * (y * width + x);
      if (rgba[i + 3] < 230) continue;
      const luma = Math.round(0.2126 * rgba[i] + 0.7152 * rgba[i + 1] + 0.0722 * rgba[i + 2]);
      counts[luma] = (counts[luma] ?? 0) + 1;
      solid++;
    }
  }
  return {
    dark: percentile(counts, 0.02 * solid),
    bright: percentile(counts, (isFace ? 0.95 : 0.98) * solid),
  };
}

/** The tone (0..1) below which this many pixels are. @param {Uint32Array} counts @param {number} pixels */
function percentile(counts, pixels) {
  let level = 0;
  for (let darker = 0; level < 255; level++) {
    darker += counts[level] ?? 0;
    if (darker >= pixels) break;
  }
  return level / 255;
}

/**
 * Brightens a badly underexposed player, who would be a silhouette on the card.
 * @param {Bytes} rgba changed in place
 * @returns {Uint8ClampedArray | null} what each tone became; null if the player was not that dark
 */
function liftUnderexposed(rgba) {
  const counts = new Uint32Array(256);
  let solid = 0;
  for (let i = 0; i < rgba.length; i += 4) {
    if (rgba[i + 3] < 128) continue;
    const bright = Math.max(rgba[i], rgba[i + 1], rgba[i + 2]);
    counts[bright] = (counts[bright] ?? 0) + 1;
    solid++;
  }
  const level = 255 * percentile(counts, 0.95 * solid);
  if (level >= UNDEREXPOSED) return null;
  const gain = Math.min(MAX_GAIN, LIFTED / Math.max(1, level));
  for (let i = 0; i < rgba.length; i += 4) {
    for (let k = i; k < i + 3; k++) rgba[k] = rgba[k] * gain;
  }
  return Uint8ClampedArray.from({ length: 256 }, (_, tone) => tone * gain);
}
