/** What a card shows and how it is to be delivered. Plain data: it crosses process borders as JSON. */

export const POSITIONS = [
  "ST",
  "CF",
  "LW",
  "RW",
  "CAM",
  "CM",
  "CDM",
  "LM",
  "RM",
  "LB",
  "RB",
  "CB",
  "GK",
] as const;
export type Position = (typeof POSITIONS)[number];

/** Where each position plays, as fractions of a pitch's length and width, the own goal at the left. */
export const POSITION_SPOTS: Record<Position, { x: number; y: number }> = {
  ST: { x: 0.86, y: 0.5 },
  CF: { x: 0.76, y: 0.5 },
  LW: { x: 0.8, y: 0.14 },
  RW: { x: 0.8, y: 0.86 },
  CAM: { x: 0.66, y: 0.5 },
  CM: { x: 0.5, y: 0.5 },
  CDM: { x: 0.36, y: 0.5 },
  LM: { x: 0.5, y: 0.14 },
  RM: { x: 0.5, y: 0.86 },
  LB: { x: 0.24, y: 0.14 },
  RB: { x: 0.24, y: 0.86 },
  CB: { x: 0.2, y: 0.5 },
  GK: { x: 0.05, y: 0.5 },
};

export const IMAGE_FORMATS = ["png", "webp", "jpeg"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export interface CardInput {
  player: { name: string; position: Position; number: number; skillLevel: number };
  /** Width and height in pixels of the finished picture. */
  style: { preset: string; width: number; height: number; format: ImageFormat; backgroundTheme?: string };
  /** Colours as `#RRGGBB`. */
  branding: { primaryColor?: string; secondaryColor?: string };
}

/** A rectangle in pixels of the picture it belongs to, origin top left. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Where face and body lie in a cutout, in the cutout's pixels. */
export interface Framing {
  /** Chin to brow, ear to ear; null when only the head's place is known or nobody faces the camera. */
  face: Box | null;
  /** The head as estimated from the pose: always there, also from behind. */
  head: Box;
  body: Box;
  /** The sides at which the photo itself cuts the player: a straight edge the card has to hide. */
  cutSides: { top: boolean; right: boolean; bottom: boolean; left: boolean };
}

/** What can be measured of a cutout without knowing the truth; each a part from 0 to 1. */
export interface CutoutQuality {
  /** Of the face, or of the head's middle, that is opaque. */
  head: number;
  /** Enclosed openings against the solid area: gaps between arms and body, or faults. */
  holes: number;
  /** Of the solid area, what is not connected with the largest patch. */
  islands: number;
}

/** What is known of a cutout: the player without background, trimmed to the player. */
export interface CutoutDescription {
  width: number;
  height: number;
  framing: Framing;
  /** Where the cutout lies in the upright photo, as parts of the photo's width and height. */
  inPhoto: Box;
  quality: CutoutQuality;
  /** The data address of a small picture of the player's outline, which the card's shadow is made of. */
  outline: string;
}

/** A cutout in memory, as straight-alpha PNG bytes. */
export interface Cutout extends CutoutDescription {
  bytes: Uint8Array;
}

/** A cutout in a file: straight-alpha PNG or WebP. */
export interface CutoutFile extends CutoutDescription {
  path: string;
}

/** A decoded-and-checked club badge, as bytes Chromium can show. */
export interface Badge {
  bytes: Uint8Array;
  contentType: "image/png" | "image/jpeg" | "image/webp";
}
