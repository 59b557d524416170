import type { Box, Framing } from "../../../core/card.ts";
import { bodyEnd, type SmallCut } from "./body-end.ts";
import type { Cut } from "./body-parts.ts";
import type { Subject } from "./examine.ts";
import { headBox } from "./head.ts";
import { boundsAbove } from "./masks.ts";
import type { Bytes } from "./pixels.ts";
import { type Rect, scaled, seenFrom } from "./rects.ts";

/** From this alpha (0 to 255) on, a pixel belongs to the player's body rather than to the soft edge. */
const SOLID_ALPHA = 128;

/** The photo's edge cuts the player off if the cutout is solid along at least this part of it. */
const MIN_CUT_PART = 0.03;
/** Strips of the cutout in each of which it is said how far the player reaches. */
const STRIPS = 24;

/**
 * Where face, head and body are in the trimmed cutout, in its pixels, and on which sides the photo's edge
 * cuts the player off. A body whose lower part is hidden or lost ends above it, and counts as cut off there.
 * @param trim in the cut's canvas pixels
 * @param alpha the trimmed cutout's, reduced to this width
 */
export function frameCutout(cut: Cut, trim: Rect, alpha: Bytes, width: number, player: Subject): Framing {
  /** @param rect in search pixels */
  const toCutout = (rect: Rect) => clampBox(seenFrom(trim, 1, seenFrom(cut.rect, cut.zoom, rect)), trim);
  const scale = width / trim.width;
  const sides = cutSides(alpha, width, cut, trim);
  const end = bodyEnd(alpha, inSmall(cut, trim, scale), player);
  const own = end === null ? alpha : alpha.map((value, i) => (i < end * width ? value : 0));
  return {
    face: player.face && toCutout(player.face),
    head: toCutout(headBox(player)),
    body: bodyBox(own, width, trim),
    cutSides: { ...sides, bottom: sides.bottom || end !== null },
    extents: extentsOf(own, width, trim),
  };
}

function clampBox(box: Box, within: Rect): Box {
  const left = Math.max(0, Math.min(within.width - 1, Math.round(box.x)));
  const top = Math.max(0, Math.min(within.height - 1, Math.round(box.y)));
  const right = Math.max(left + 1, Math.min(within.width, Math.round(box.x + box.width)));
  const bottom = Math.max(top + 1, Math.min(within.height, Math.round(box.y + box.height)));
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** The cut as if it ended at the trim and had the reduced cutout's resolution. */
function inSmall({ rect, zoom }: Cut, trim: Rect, scale: number): SmallCut {
  return {
    width: Math.round(trim.width * scale),
    rect: { x: rect.x + trim.x / zoom, y: rect.y + trim.y / zoom },
    zoom: zoom * scale,
  };
}

function bodyBox(alpha: Bytes, width: number, trim: Rect): Box {
  const body = boundsAbove(alpha, width, SOLID_ALPHA - 1);
  return body ? clampBox(scaled(body, trim.width / width), trim) : { ...trim, x: 0, y: 0 };
}

/** How far the player reaches in each strip, in pixels of the cutout. */
function extentsOf(alpha: Bytes, width: number, trim: Rect): NonNullable<Framing["extents"]> {
  const height = alpha.length / width;
  const per = trim.width / width;
  const row = (strip: number) => Math.floor((strip * height) / STRIPS) * width;
  return Array.from({ length: STRIPS }, (_, strip) => {
    const own = boundsAbove(alpha.subarray(row(strip), row(strip + 1)), width, SOLID_ALPHA - 1);
    return own && [Math.round(own.x * per), Math.round((own.x + own.width) * per)];
  });
}

function cutSides(alpha: Bytes, width: number, { canvas, atPhotoEdge }: Cut, trim: Rect) {
  const height = alpha.length / width;
  const isCut = (length: number, cell: (k: number) => number) => {
    let solid = 0;
    for (let k = 0; k < length; k++) if (alpha[cell(k)] >= SOLID_ALPHA) solid++;
    return solid >= MIN_CUT_PART * length;
  };
  const [right, bottom] = [trim.x + trim.width === canvas.width, trim.y + trim.height === canvas.height];
  return {
    top: atPhotoEdge.top && trim.y === 0 && isCut(width, (x) => x),
    right: atPhotoEdge.right && right && isCut(height, (y) => y * width + width - 1),
    bottom: atPhotoEdge.bottom && bottom && isCut(width, (x) => (height - 1) * width + x),
    left: atPhotoEdge.left && trim.x === 0 && isCut(height, (y) => y * width),
  };
}
