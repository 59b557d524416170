import { MOVING_FORMATS, type Motion, type MovingFormat } from "./card.ts";
import type { PictureFormatName } from "./picture-formats.ts";

// Cards that move: how large they may be, and what else is theirs alone.

export const isMoving = (format: PictureFormatName): format is MovingFormat =>
  (MOVING_FORMATS as readonly string[]).includes(format);

/**
 * How many turns of the fair order a picture takes: one that moves is five to twenty times the work of a
 * still, so that an account with many of them lets others' cards pass between.
 */
export const turnsOf = (format: PictureFormatName = "png"): number => (isMoving(format) ? MOVING_TURNS : 1);
const MOVING_TURNS = 8;

/** What messengers take without a question, and a phone loads in a second. */
export const MAX_MOVING_BYTES = 2_000_000;

/** The widest that is kept of a moving picture as a still, in pixels: for lists, shares and mails. */
export const MAX_STILL_WIDTH = 512;

/**
 * The pixels of a frame. A video's are those of the largest story; an animated WebP stores what changes anew,
 * and in a reveal all of it does.
 */
const MAX_FRAME_PIXELS: Readonly<Record<MovingFormat, Readonly<Record<Motion, number>>>> = {
  webm: { foil: 1080 * 1920, reveal: 1080 * 1920 },
  mp4: { foil: 1080 * 1920, reveal: 1080 * 1920 },
  "webp-animated": { foil: 720 * 720, reveal: 500 * 500 },
};

/**
 * The size of a moving picture's frames: the card's own, or smaller in the same shape; even, as videos are.
 */
export function frameSize(
  { format, motion }: { format: MovingFormat; motion: Motion },
  { width, height }: { width: number; height: number },
): { width: number; height: number } {
  const scale = Math.min(1, Math.sqrt(MAX_FRAME_PIXELS[format][motion] / (width * height)));
  const even = (side: number) => 2 * Math.floor((side * scale) / 2);
  return { width: even(width), height: even(height) };
}
