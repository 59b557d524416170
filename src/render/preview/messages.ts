import { type Static, Type } from "@sinclair/typebox";

// What a designer's tools ask of a render worker beside production's jobs: the same page and pixels, and what is known
// of them.

/** A rectangle in pixels of the picture. */
const Rectangle = Type.Object({
  x: Type.Number(),
  y: Type.Number(),
  width: Type.Number(),
  height: Type.Number(),
});

/** One text of a card as the page has set it. */
export const TextLook = Type.Object({
  /** How a designer finds it: data attribute or class, such as `player.name`. */
  label: Type.String(),
  text: Type.String(),
  box: Rectangle,
  ink: Rectangle,
  fontPx: Type.Number(),
  lines: Type.Integer(),
  /** Fitted by the renderer, so that its size and ellipsis are known. */
  fitted: Type.Boolean(),
  /** It ends in an ellipsis that the renderer had to set. */
  shortened: Type.Boolean(),
  /** How much of its box's width the text takes: 1 is full. */
  fill: Type.Number(),
  /** How far ink stands out of its box or of the card, in pixels; 0 where it does not. */
  overflowPx: Type.Number(),
  /** Families in the order of the style sheet. */
  families: Type.Array(Type.String()),
  /** Families that the browser took glyphs from. */
  usedFamilies: Type.Array(Type.String()),
  /** Characters that no font of the template or of cardpress has. */
  missing: Type.Array(Type.String()),
  /** Contrast with what lies under it (WCAG 2.2), and the least that would do; null where it was not asked for. */
  contrast: Type.Union([Type.Number(), Type.Null()]),
  neededContrast: Type.Number(),
});
export type TextLook = Static<typeof TextLook>;

export const Inspection = Type.Object({
  card: Rectangle,
  zones: Type.Array(Type.Object({ name: Type.String(), box: Rectangle })),
  texts: Type.Array(TextLook),
  player: Type.Union([Rectangle, Type.Null()]),
  /** Brow to chin of the real player on the card; null without a photo or where nobody faces the camera. */
  face: Type.Union([Rectangle, Type.Null()]),
  /** Pictures of the page that could not be shown. */
  brokenPictures: Type.Array(Type.String()),
  /** Addresses that the page asked for in vain. */
  refusedAddresses: Type.Array(Type.String()),
});
export type Inspection = Static<typeof Inspection>;

/** @param CardInput the schema of a card's details, which production's jobs carry as well */
export function previewJob<T extends ReturnType<typeof Type.Object>>(CardInput: T) {
  return Type.Object({
    jobId: Type.String(),
    /** The template's folder: read anew whenever it changed. */
    dir: Type.String(),
    card: CardInput,
    /** null draws what the template shows without a photo. */
    photo: Type.Union([Type.Object({ path: Type.String(), sha256: Type.String() }), Type.Null()]),
    badgePath: Type.Union([Type.String(), Type.Null()]),
    outputPath: Type.String(),
    /** `looks` tells boxes, sizes and fonts; `contrast` measures the texts' contrast as well, at the price of two more pictures. */
    inspect: Type.Union([Type.Literal("no"), Type.Literal("looks"), Type.Literal("contrast")]),
  });
}

export const Previewed = Type.Object({
  contentType: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  bytes: Type.Integer(),
  digest: Type.String(),
  /** What the warm page did for changed files. */
  page: Type.Union([Type.Literal("same"), Type.Literal("restyled"), Type.Literal("opened")]),
  inspection: Type.Union([Inspection, Type.Null()]),
  timingsMs: Type.Record(Type.String(), Type.Number()),
});
export type Previewed = Static<typeof Previewed>;

/** Declarations of a style sheet that Chromium is asked about, such as `color: colr`. */
export const SupportsJob = Type.Object({
  jobId: Type.String(),
  declarations: Type.Array(Type.Object({ property: Type.String(), value: Type.String() })),
});
export type SupportsJob = Static<typeof SupportsJob>;
