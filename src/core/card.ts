import type { ShownSet } from "./card-set.ts";

/** What a card shows and how it is delivered. Plain data, since it crosses process boundaries as JSON. */

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

/** Each position in full, for cards that spell it out. */
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

/** What the renderer draws. What partners may ask for is in `picture-formats.ts`. */
export const STILL_FORMATS = ["png", "webp", "jpeg"] as const;
export type StillFormat = (typeof STILL_FORMATS)[number];

/** Cards that move: pictures and videos of two or three seconds, over and over. */
export const MOVING_FORMATS = ["webp-animated", "webm", "mp4"] as const;
export type MovingFormat = (typeof MOVING_FORMATS)[number];

export const IMAGE_FORMATS = [...STILL_FORMATS, ...MOVING_FORMATS] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

/** How a card moves: light goes over its foil, or it turns out of the dark first. */
export const MOTIONS = ["foil", "reveal"] as const;
export type Motion = (typeof MOTIONS)[number];

/**
 * How the player stands on the card: cut out of the photo, or in the photo itself within the card's frame.
 */
export const COMPOSITIONS = ["cutout", "photo"] as const;
export type Composition = (typeof COMPOSITIONS)[number];

/** What may be asked for: one of them, or whichever suits photo and template. */
export const ASKED_COMPOSITIONS = ["auto", ...COMPOSITIONS] as const;
export type AskedComposition = (typeof ASKED_COMPOSITIONS)[number];

/** A point in the upright photo, as fractions of its width and height. */
export interface Focus {
  x: number;
  y: number;
}

export interface CardInput {
  player: {
    name: string;
    position: Position;
    number: number;
    skillLevel: number;
    externalId?: string;
    /** Where the player is in a photo of several people. Absent: the most prominent one is taken. */
    focus?: Focus;
  };
  /** Width and height in pixels of the finished picture. */
  style: {
    preset: string;
    width: number;
    height: number;
    format: ImageFormat;
    /** Of a moving format. Absent: `foil`. */
    motion?: Motion;
    backgroundTheme?: string;
    /** Absent: `auto`. */
    composition?: AskedComposition;
    /** Also its layers and its foil mask, inside of the picture's file. Absent: the picture alone. */
    layers?: true;
    /** Also where foil goes, inside of the picture's file. Absent: the picture alone. */
    foil?: true;
    /** Also its other side. Absent: the front alone. */
    back?: true;
  };
  /** Colours as `#RRGGBB`. */
  branding: { primaryColor?: string; secondaryColor?: string };
  /** Values of the template's own fields, beyond what every card has. */
  fields?: Record<string, unknown>;
  /** The set that the card belongs to. */
  set?: ShownSet;
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
  /** Chin to brow, ear to ear; null when only the head was located or nobody faces the camera. */
  face: Box | null;
  /** The head as estimated from the pose; always present, even when seen from behind. */
  head: Box;
  /** The body as far as it is whole: legs that a net hides are below it. */
  body: Box;
  /**
   * The sides where the photo itself crops the player, leaving a straight edge that the card has to hide;
   * `bottom` also when something hides a part of the body.
   */
  cutSides: { top: boolean; right: boolean; bottom: boolean; left: boolean };
  /**
   * How far left and right the player reaches in each of several equal strips, from top to bottom; null for a
   * strip without the player. Absent where only the boxes are known.
   */
  extents?: ([left: number, right: number] | null)[];
}

/** What each tone becomes, for red, green and blue, at equal steps from 0 to 255. */
export type Tones = [number[], number[], number[]];

/** By what a card's composition is chosen. */
export interface CutoutSigns {
  /** How far pose and person mask agree with the cutout, from 0 to 1. */
  masks: number;
  /** How far the cutout's edge around the crown lies where the photo has one, from 0 to 1. */
  crown: number;
  /** Other people near the player. */
  rivals: number;
  /** Whether the photo comes without a background: the player was cut out already. */
  loose: boolean;
}

/** What is known about a cutout: the player without background, trimmed to the player's bounds. */
export interface CutoutDescription {
  width: number;
  height: number;
  framing: Framing;
  /** Where the cutout lies in the upright photo, as fractions of the photo's width and height. */
  inPhoto: Box;
  /**
   * A data URL of a small silhouette of the player, from which the card's outline, shadow and rim light are
   * drawn.
   */
  outline: string;
  /** How often the photo, as its file shows it, is turned clockwise to be upright. */
  quarters: 0 | 1 | 2 | 3;
  /**
   * What the photo's tones became in the cutout, for each channel at equal steps from 0 to 255; null where
   * they stayed as they were.
   */
  tones: Tones | null;
  signs: CutoutSigns;
  /** Whether others are so prominent that only a card with the photo itself makes sense. */
  inCompany: boolean;
}

/** A cutout in memory, as straight-alpha PNG bytes. */
export interface Cutout extends CutoutDescription {
  bytes: Uint8Array;
}

/** A cutout in a file: straight-alpha PNG or WebP. */
export interface CutoutFile extends CutoutDescription {
  path: string;
}

/** A club badge, or another picture of a partner's, decoded and checked, as bytes Chromium can display. */
export interface Badge {
  bytes: Uint8Array;
  contentType: "image/png" | "image/jpeg" | "image/webp";
}
