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

/** Each position in words, for cards that spell it out. */
export const POSITION_NAMES: Readonly<Record<Position, string>> = {
  ST: "Striker",
  CF: "Centre forward",
  LW: "Left winger",
  RW: "Right winger",
  CAM: "Attacking midfielder",
  CM: "Central midfielder",
  CDM: "Defensive midfielder",
  LM: "Left midfielder",
  RM: "Right midfielder",
  LB: "Left back",
  RB: "Right back",
  CB: "Centre back",
  GK: "Goalkeeper",
};

export const IMAGE_FORMATS = ["png", "webp", "jpeg"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export interface CardInput {
  player: { name: string; position: Position; number: number; skillLevel: number; externalId?: string };
  /** Width and height in pixels of the finished picture. */
  style: { preset: string; width: number; height: number; format: ImageFormat; backgroundTheme?: string };
  /** Colours as `#RRGGBB`. */
  branding: { primaryColor?: string; secondaryColor?: string };
  /** What the template asks for beyond that, as its own fields allow. */
  fields?: Record<string, unknown>;
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

/** What is known of a cutout: the player without background, trimmed to the player. */
export interface CutoutDescription {
  width: number;
  height: number;
  framing: Framing;
  /** Where the cutout lies in the upright photo, as parts of the photo's width and height. */
  inPhoto: Box;
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
