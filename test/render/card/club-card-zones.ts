import type { LayoutName, Zones } from "../../../src/render/card/placement/template-layout.ts";

const whole = { x: 0, y: 0, width: 1, height: 1 };

/** Where club_card places its boxes. page-zones.test.ts proves that its style sheet says the same. */
export const CLUB_CARD_ZONES: Record<LayoutName, Zones> = {
  portrait: {
    stage: whole,
    rating: { x: 0.03, y: 0.7312, width: 0.23, height: 0.248 },
    face: { x: 0.42, y: 0.104, width: 0.16, height: 0.156 },
    body: { x: 0, y: 0, width: 1, height: 0.8448 },
    frame: { x: 0.054, y: 0.0944, width: 0.892, height: 0.87 },
    safe: whole,
  },
  square: {
    stage: whole,
    rating: { x: 0.038, y: 0.712, width: 0.2, height: 0.26 },
    face: { x: 0.425, y: 0.11, width: 0.15, height: 0.17 },
    body: { x: 0, y: 0, width: 1, height: 0.838 },
    frame: { x: 0.052, y: 0.104, width: 0.896, height: 0.86 },
    safe: whole,
  },
  landscape: {
    stage: { x: 0.42, y: 0, width: 0.58, height: 1 },
    rating: { x: 0.0169, y: 0.664, width: 0.1294, height: 0.31 },
    face: { x: 0.66, y: 0.12, width: 0.13, height: 0.24 },
    body: { x: 0.42, y: 0, width: 0.58, height: 0.964 },
    frame: { x: 0.41, y: 0.104, width: 0.5664, height: 0.86 },
    safe: whole,
  },
};
