import type { Subject } from "./examine.ts";
import { estimatedFace } from "./head.ts";
import { boundsAbove } from "./masks.ts";
import type { Bytes } from "./pixels.ts";
import type { Point } from "./rects.ts";

/** From this alpha on, a pixel counts towards the body's breadth: shreds behind a net are fainter. */
const BROAD_ALPHA = 200;
/** Shorter stretches of a row do not count towards its breadth. Breadths are in widths of the face. */
const STRETCH = 0.25;

/** A body is interrupted where it stays below NARROW for MIN_GAP face heights, then grows by AGAIN. */
const NARROW = 0.6;
const MIN_GAP = 0.1;
const AGAIN = 0.15;
/** Where that is looked for, in face heights below the chin: necks are narrow, and ankles are on no card. */
const LEAST_BELOW_CHIN = 1.2;
const MOST_BELOW_CHIN = 6;

/**
 * An interrupted body is shown down to the last row with this breadth, or with this part of its greatest:
 * what tapers off below would seem to float.
 */
const BROAD = 2.2;
const BROAD_PART = 0.6;

/**
 * The cut that an alpha belongs to: its width, its place in search pixels, and its pixels per search pixel.
 */
export interface SmallCut {
  width: number;
  rect: Point;
  zoom: number;
}

/** The row below which a net, a board or a table hides the body; null when the body is whole. */
export function bodyEnd(alpha: Bytes, { width, rect, zoom }: SmallCut, player: Subject): number | null {
  const solid = boundsAbove(alpha, width, BROAD_ALPHA - 1);
  if (!solid) return null;
  const face = estimatedFace(player);
  const rowOf = (y: number) => Math.round((y - rect.y) * zoom);
  const unit = face.width * zoom;
  const chin = face.y + face.height;
  const first = Math.max(0, rowOf(chin + LEAST_BELOW_CHIN * face.height));
  const last = solid.y + solid.height;
  const breadths = Array.from(
    { length: Math.max(0, last - first) },
    (_, i) => breadthOf(alpha.subarray((first + i) * width, (first + i + 1) * width), STRETCH * unit) / unit,
  );
  const seen = Math.max(0, rowOf(chin + MOST_BELOW_CHIN * face.height) - first);
  const gap = interruption(breadths.slice(0, seen), MIN_GAP * face.height * zoom);
  if (gap === null) return null;
  const shown = breadths.slice(0, gap);
  const broad = Math.min(BROAD, BROAD_PART * Math.max(0, ...shown));
  const end = shown.findLastIndex((breadth) => breadth >= broad);
  return end < 0 ? null : first + end + 1;
}

/**
 * The index at which a body becomes narrow before it grows broader again; null if it does not.
 * @param breadths from top to bottom
 * @param minGap in rows
 */
export function interruption(breadths: number[], minGap: number): number | null {
  let [start, least] = [-1, 0];
  for (let i = breadths.findIndex((breadth) => breadth >= NARROW); i >= 0 && i < breadths.length; i++) {
    const breadth = Number(breadths[i]);
    if (start >= 0 && i - start >= minGap && breadth > least + AGAIN) return start;
    if (breadth >= NARROW) start = -1;
    else [start, least] = start < 0 ? [i, breadth] : [start, Math.min(least, breadth)];
  }
  return null;
}

/** How much of a row is solid, in stretches of at least this length. */
function breadthOf(row: Bytes, stretch: number): number {
  let [breadth, length] = [0, 0];
  for (let x = 0; x <= row.length; x++) {
    if (row[x] >= BROAD_ALPHA) length++;
    else {
      if (length >= stretch) breadth += length;
      length = 0;
    }
  }
  return breadth;
}
