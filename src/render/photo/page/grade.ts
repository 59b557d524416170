import type { Tones } from "../../../core/card.ts";
import type { ToneCurves } from "./die-cut.ts";
import { percentile } from "./exposure.ts";
import { type Bytes, luma709, OPAQUE_ALPHA, type Words } from "./pixels.ts";

/** The factor for each channel of a photo, and what is then added to all of them, as a fraction of white. */
export interface Grade {
  slope: [number, number, number];
  intercept: number;
}

/** The fractions of the pixels that count as the darkest and as the brightest tones. */
const DARKEST = 0.02;
const BRIGHTEST = 0.98;
/** The values those tones should have, 0 to 1: a hazy photo has no black, a dull one no white. */
const BLACK = 0.05;
const WHITE = 0.9;
/** The limits of a grade. Every skin keeps its tone: middle tones move by at most about 4% of white. */
const MAX_DARKER = 0.05;
const MAX_GRADE_GAIN = 1.08;
const MAX_BALANCE = 0.035;
/** How much of a cast is taken away, and of what the dark end loses given back towards the bright end. */
const BALANCED_PART = 0.7;
const GIVEN_BACK = 0.9;
/** Smaller changes are invisible. */
const SEEN = 0.03;
/**
 * Up to this saturation a pixel is grey, unless it is nearly black or white (0 to 255). With fewer grey
 * pixels, the white balance cannot be determined.
 */
const GREY_SATURATION = 0.16;
const GREY_TONES = { low: 60, high: 235 };
const MIN_GREYS = 0.08;

/** Into this many equal steps a tone curve is divided where it is written down. */
const TONE_STEPS = 16;

/**
 * What each tone becomes through a curve and then a grade; null when all stay as they are.
 * @param curve what each of 256 tones becomes
 */
export function channelTones(curve: Uint8ClampedArray | null, grade: Grade | null): ToneCurves | null {
  if (!curve && !grade) return null;
  const { slope, intercept } = grade ?? { slope: [1, 1, 1], intercept: 0 };
  return slope.map((factor) =>
    Uint8ClampedArray.from(
      { length: 256 },
      (_, tone) => Number(curve?.[tone] ?? tone) * factor + intercept * 255,
    ),
  );
}

/** The tones in equal steps from 0 to 255 for each channel, as a card takes them. */
export function steppedTones(channels: ToneCurves | null): Tones | null {
  const steps = channels?.map((tones) =>
    Array.from({ length: TONE_STEPS + 1 }, (_, step) => Number(tones[Math.round((255 * step) / TONE_STEPS)])),
  );
  return (steps ?? null) as Tones | null;
}

/**
 * The grade that moves a player's tones towards those of other players: black to black, white to white, grey
 * to grey, each only part of the way; null when it would not be visible.
 * @param data red, green, blue and alpha of a small copy
 * @param curve through which its tones go first
 */
export function gradeOf(data: Bytes, curve: Bytes | null): Grade | null {
  const light: Bytes = curve ?? Uint8ClampedArray.from({ length: 256 }, (_, tone) => tone);
  const tones: Words = new Uint32Array(256);
  const grey: [number, number, number] = [0, 0, 0];
  let [count, greys] = [0, 0];
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < OPAQUE_ALPHA) continue;
    const r = light[data[i]];
    const g = light[data[i + 1]];
    const b = light[data[i + 2]];
    const tone = Math.round(luma709(r, g, b));
    tones[tone] += 1;
    count++;
    const most = Math.max(r, g, b);
    if (tone < GREY_TONES.low || tone > GREY_TONES.high || most - Math.min(r, g, b) > most * GREY_SATURATION)
      continue;
    greys++;
    grey[0] += r;
    grey[1] += g;
    grey[2] += b;
  }
  if (count === 0) return null;
  const [dark, bright] = [percentile(tones, DARKEST), percentile(tones, BRIGHTEST)];
  const lower = Math.min(MAX_DARKER, Math.max(0, dark - BLACK));
  const gain = Math.min(MAX_GRADE_GAIN, Math.max(1, WHITE / Math.max(0.01, bright)));
  const slope = gain * (1 + lower * GIVEN_BACK);
  const mean = grey.reduce((sum, value) => sum + value, 0) / 3;
  const balance = grey.map((value) =>
    greys < count * MIN_GREYS || value === 0
      ? 1
      : Math.min(1 + MAX_BALANCE, Math.max(1 - MAX_BALANCE, 1 + (mean / value - 1) * BALANCED_PART)),
  );
  const [r = 1, g = 1, b = 1] = balance.map((value) => Math.round(value * slope * 1000) / 1000);
  const isSeen = lower > SEEN || [r, g, b].some((value) => Math.abs(value - 1) > SEEN);
  return isSeen ? { slope: [r, g, b], intercept: Math.round(-lower * 1000) / 1000 } : null;
}
