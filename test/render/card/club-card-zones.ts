import type { LayoutName, Zones } from "../../../src/render/card/template-layout.ts";

const whole = { x: 0, y: 0, width: 1, height: 1 };

/** Where club_card places its boxes. page-zones.test.ts proves that its style sheet says the same. */
export const CLUB_CARD_ZONES: Record<LayoutName, Zones> = {
  portrait: {
    face: { x: 0.485, y: 0.098, width: 0.15, height: 0.15 },
    body: { x: 0, y: 0, width: 1, height: 0.865 },
    frame: { x: 0.054, y: 0.0944, width: 0.892, height: 0.87 },
    safe: whole,
  },
  square: {
    face: { x: 0.5, y: 0.105, width: 0.15, height: 0.17 },
    body: { x: 0, y: 0, width: 1, height: 0.86 },
    frame: { x: 0.052, y: 0.104, width: 0.896, height: 0.86 },
    safe: whole,
  },
  landscape: {
    face: { x: 0.655, y: 0.11, width: 0.13, height: 0.22 },
    body: { x: 0, y: 0, width: 1, height: 0.965 },
    frame: { x: 0.025, y: 0.108, width: 0.95, height: 0.86 },
    safe: whole,
  },
};
