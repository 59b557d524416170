import type { Composition } from "../../../core/card.ts";

/** A rectangle in fractions of the card, origin top left. */
export interface Part {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The boxes that a template places with CSS, as elements with `data-zone`. */
export interface Zones {
  /** Where the face goes, brow to chin. */
  face: Part;
  /** Its lower edge is the line the body reaches; below it something hides the player. */
  body: Part;
  /** The opaque frame: a photo's straight edge never shows outside it. */
  frame: Part;
  /** The area no text leaves: in print, what is never trimmed. */
  safe: Part;
  /** The part of the card that is the player's; the rest is covered. The whole card where there is none. */
  stage?: Part;
  /** What stands before the player at one side, and goes to the other where a hand or a foot is. */
  rating?: Part;
}

/**
 * The zones of a card in each composition; in one that its template does not declare, those of the other.
 */
export type ZonesOf = Record<Composition, Zones>;

/** The zones of a template that declares none: the whole card, and a face in its upper half. */
export const DEFAULT_ZONES: Zones = {
  face: { x: 0.4, y: 0.14, width: 0.2, height: 0.2 },
  body: { x: 0, y: 0, width: 1, height: 1 },
  frame: { x: 0, y: 0, width: 1, height: 1 },
  safe: { x: 0, y: 0, width: 1, height: 1 },
};

export const LAYOUTS = ["portrait", "square", "landscape"] as const;
export type LayoutName = (typeof LAYOUTS)[number];

/** Width by height from which pictures are no longer portrait, and up to which they are not landscape. */
const SQUARE_FROM = 0.9;
const SQUARE_TO = 1.3;

/** The layout's name for a shape: portrait up to 9:10, landscape from 13:10, square in between. */
export function layoutFor(width: number, height: number): LayoutName {
  const aspect = width / height;
  return aspect < SQUARE_FROM ? "portrait" : aspect > SQUARE_TO ? "landscape" : "square";
}

/** The layouts among shapes, widths divided by heights, from narrow to wide, and the shapes of each. */
export function layoutsAmong([narrowest, widest]: readonly [number, number]) {
  const bounds: [number, number][] = [
    [0, SQUARE_FROM],
    [SQUARE_FROM, SQUARE_TO],
    [SQUARE_TO, Number.POSITIVE_INFINITY],
  ];
  const only = layoutFor(narrowest, 1);
  return bounds.flatMap(([from, to], at) => {
    const name = LAYOUTS[at] as LayoutName;
    const [min, max] = [Math.max(narrowest, from), Math.min(widest, to)];
    return min < max || (narrowest === widest && name === only) ? [{ name, min, max }] : [];
  });
}
