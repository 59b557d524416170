import { type Bytes, luma709, OPAQUE_ALPHA, smoothStep, type Words } from "./pixels.ts";
import type { Rect } from "./rects.ts";

/** A photo is badly underexposed if 95% of the player's pixels are darker than this (0 to 255). */
const UNDEREXPOSED = 70;
/** That 95th percentile is then raised to this brightness. */
const LIFTED = 150;
/** It is multiplied by this factor at most, because noise is amplified too. */
const MAX_LIFT = 5;

/**
 * Fog on the lens and light in it leave no dark tone: a player has haze from `low` on (the second percentile,
 * 0 to 1), and all of it is taken out from `high` on. Without haze players are below 0.24, and one with blond
 * hair and white clothes has 0.27.
 */
const HAZE = { low: 0.28, high: 0.38 };
/** Without haze, the darkest tone is this. */
const CLEAR_BLACK = 0.07;
/** Haze is taken out by stretching the tones by this factor at most: more shows noise and blocks. */
const MAX_STRETCH = 2;

/**
 * A player is dim whose face has no light as bright as DIM_FACE (the 95th percentile, 0 to 1: skin of every
 * colour shines brighter in even light) and who wears nothing bright either: fully where the brightest tone
 * is below `low`, not at all from `high` on.
 */
const DIM_FACE = 0.57;
const DIM_ALL = { low: 0.7, high: 0.82 };
/** The shadows of a dim player are raised by this factor at most. */
const MAX_DIM_GAIN = 2;

/**
 * The curve that brings the light of a badly underexposed, a dim or a hazy player near that of others.
 * @param rgba straight alpha
 * @param face in pixels
 * @returns what each of 256 tones becomes; null for all other players
 */
export function lightCurve(rgba: Bytes, width: number, face: Rect): Bytes | null {
  const all = { x: 0, y: 0, width, height: rgba.length / 4 / width };
  const { lumas, brightest } = histograms(rgba, width, all);
  const level = percentile(brightest, 0.95);
  if (255 * level < UNDEREXPOSED) {
    const gain = Math.min(MAX_LIFT, LIFTED / Math.max(1, 255 * level));
    return Uint8ClampedArray.from({ length: 256 }, (_, tone) => tone * gain);
  }
  const faceBright = percentile(histograms(rgba, width, face).lumas, 0.95);
  const curve = curveOf(percentile(lumas, 0.02), percentile(lumas, 0.98), faceBright);
  return curve && Uint8ClampedArray.from({ length: 256 }, (_, value) => Math.round(255 * curve(value / 255)));
}

/**
 * The tone curve that takes haze and dimness out, null when there is neither. One curve for all channels
 * keeps skin's hue. Tones are from 0 to 1.
 * @param dark the player's darkest tone
 * @param bright the player's brightest
 */
export function curveOf(dark: number, bright: number, faceBright: number): ((tone: number) => number) | null {
  const hazy = smoothStep(dark, HAZE.low, HAZE.high);
  const stretch = Math.min(MAX_STRETCH, 1 + (hazy * (dark - CLEAR_BLACK)) / Math.max(0.01, bright - dark));
  const clear = (tone: number) => bright - (bright - tone) * stretch;
  const dim = 1 - smoothStep(bright, DIM_ALL.low, DIM_ALL.high);
  const floor = dim * Math.max(0, clear(dark) - CLEAR_BLACK);
  const lowered = (tone: number) => Math.max(0, clear(tone) - floor) / (1 - floor);
  const face = Math.min(0.99, Math.max(0.01, lowered(faceBright)));
  const wanted = Math.min(MAX_DIM_GAIN, (DIM_FACE * (1 - face)) / (face * (1 - DIM_FACE)));
  const gain = 1 + dim * Math.max(0, wanted - 1);
  if (stretch < 1.02 && gain < 1.02) return null;
  // Raises shadows by `gain` and leaves white where it is (Reinhard et al., "Photographic tone reproduction",
  // 2002).
  return gain < 1.02 ? clear : (tone) => (gain * lowered(tone)) / (1 + (gain - 1) * lowered(tone));
}

/** How many solid pixels of a rectangle have each brightness, and each value of their brightest channel. */
function histograms(rgba: Bytes, width: number, rect: Rect): { lumas: Words; brightest: Words } {
  const lumas: Words = new Uint32Array(256);
  const brightest: Words = new Uint32Array(256);
  const [left, right] = [Math.max(0, Math.round(rect.x)), Math.min(width, rect.x + rect.width)];
  const bottom = Math.min(rgba.length / 4 / width, rect.y + rect.height);
  for (let y = Math.max(0, Math.round(rect.y)); y < bottom; y++) {
    for (let x = left, i = 4 * (y * width + left); x < right; x++, i += 4) {
      if (rgba[i + 3] < OPAQUE_ALPHA) continue;
      const red = rgba[i];
      const green = rgba[i + 1];
      const blue = rgba[i + 2];
      lumas[Math.round(luma709(red, green, blue))] += 1;
      brightest[Math.max(red, green, blue)] += 1;
    }
  }
  return { lumas, brightest };
}

/** The tone, 0 to 1, below which this part of the pixels is. */
export function percentile(counts: Words, part: number): number {
  const pixels = part * counts.reduce((sum, count) => sum + count, 0);
  let level = 0;
  for (let darker = 0; level < 255; level++) {
    darker += counts[level];
    if (darker >= pixels) break;
  }
  return level / 255;
}
