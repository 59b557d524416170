import { estimatedFace } from "./head.js";
import { boundsAbove } from "./masks.js";

/** @import { Finding } from "./examine.js" */
/** @import { Bytes } from "./pixels.js" */

/**
 * From this alpha on, a pixel counts towards the body's breadth: shreds that a net or the dark leaves are
 * fainter.
 */
const BROAD_ALPHA = 200;
/**
 * Only stretches of a row at least this long count towards its breadth. Breadths are in widths of the face.
 */
const STRETCH = 0.25;

/**
 * A body is interrupted where its breadth stays below NARROW for at least MIN_GAP of the face's height and
 * grows again by more than AGAIN further down, as behind a net or a bag.
 */
const NARROW = 0.6;
const MIN_GAP = 0.1;
const AGAIN = 0.15;
/**
 * Looked for between these distances below the chin, in face heights: necks are narrow, and ankles are on no
 * card.
 */
const LEAST_BELOW_CHIN = 1.2;
const MOST_BELOW_CHIN = 6;

/**
 * A body that is interrupted is shown down to the last row with this breadth, or this part of its greatest:
 * what tapers off below would seem to float.
 */
const BROAD = 2.2;
const BROAD_PART = 0.6;

/**
 * The row below which the rest of the body should be hidden, because something hides a part of it in the
 * photo too (a net, a board, a table); null when the body is whole.
 * @param {Bytes} alpha
 * @param {{ width: number, rect: { x: number, y: number }, zoom: number }} cut of this alpha
 * @param {Finding} player
 * @returns {number | null}
 */
export function bodyEnd(alpha, { width, rect, zoom }, player) {
  const solid = boundsAbove(alpha, width, BROAD_ALPHA - 1);
  if (!solid) return null;
  const face = estimatedFace(player);
  const rowOf = (/** @type {number} */ y) => Math.round((y - rect.y) * zoom);
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
 * The index at which a body becomes narrow and further down broader again, null if it does not.
 * @param {number[]} breadths from top to bottom @param {number} minGap rows
 */
export function interruption(breadths, minGap) {
  let [start, least] = [-1, 0];
  for (let i = breadths.findIndex((breadth) => breadth >= NARROW); i >= 0 && i < breadths.length; i++) {
    const breadth = Number(breadths[i]);
    if (start >= 0 && i - start >= minGap && breadth > least + AGAIN) return start;
    if (breadth >= NARROW) start = -1;
    else [start, least] = start < 0 ? [i, breadth] : [start, Math.min(least, breadth)];
  }
  return null;
}

/**
 * How much of a row is solid, in stretches of at least this length.
 * @param {Bytes} row @param {number} stretch
 */
function breadthOf(row, stretch) {
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
