import { type Static, Type } from "@sinclair/typebox";

// What a designer's tools ask of a render worker beside production jobs: the same page and pixels, plus what
// is known about them.

/** A rectangle in pixels of the picture. */
const Rectangle = Type.Object({
  x: Type.Number(),
  y: Type.Number(),
  width: Type.Number(),
  height: Type.Number(),
});

/** One text of a card as the page laid it out. */
export const TextInspection = Type.Object({
  /** How a designer finds it: data attribute or class, such as `player.name`. */
  label: Type.String(),
  text: Type.String(),
  box: Rectangle,
  ink: Rectangle,
  fontPx: Type.Number(),
  lines: Type.Integer(),
  /** Fitted by the renderer, so its size and ellipsis are known. */
  fitted: Type.Boolean(),
  /** Whether the renderer had to shorten it with an ellipsis. */
  shortened: Type.Boolean(),
  /** How much of its box's width the text fills: 1 is full. */
  fill: Type.Number(),
  /** How far its ink extends beyond its box or the card, in pixels; 0 when it does not. */
  overflowPx: Type.Number(),
  /** Families in style sheet order. */
  families: Type.Array(Type.String()),
  /** Families whose glyphs the browser used. */
  usedFamilies: Type.Array(Type.String()),
  /** Characters that neither the template's fonts nor the bundled ones have. */
  missing: Type.Array(Type.String()),
  /** Contrast with what lies under it (WCAG 2.2) and the required minimum; null when not measured. */
  contrast: Type.Union([Type.Number(), Type.Null()]),
  neededContrast: Type.Number(),
});
export type TextInspection = Static<typeof TextInspection>;

export const Inspection = Type.Object({
  card: Rectangle,
  zones: Type.Array(Type.Object({ name: Type.String(), box: Rectangle })),
  texts: Type.Array(TextInspection),
  player: Type.Union([Rectangle, Type.Null()]),
  /** Brow to chin of the real player on the card; null without a photo or when nobody faces the camera. */
  face: Type.Union([Rectangle, Type.Null()]),
  /** What the printer leaves of the picture; null where nothing is cut off. */
  trim: Type.Union([Rectangle, Type.Null()]),
  /** Badge, own pictures and drawings: what is set on a card, beside its texts, and must not be cut off. */
  marks: Type.Array(Type.Object({ label: Type.String(), box: Rectangle })),
  /** Pictures of the page that failed to load. */
  brokenPictures: Type.Array(Type.String()),
  /** Addresses the page requested and was refused. */
  refusedAddresses: Type.Array(Type.String()),
});
export type Inspection = Static<typeof Inspection>;

/** @param CardInput the schema of a card's details, as in production jobs */
export function previewJob<T extends ReturnType<typeof Type.Object>>(CardInput: T) {
  return Type.Object({
    jobId: Type.String(),
    /** The template's folder, read again whenever it has changed. */
    dir: Type.String(),
    card: CardInput,
    side: Type.Union([Type.Literal("front"), Type.Literal("back")]),
    /** null draws what the template shows without a photo. */
    photo: Type.Union([Type.Object({ path: Type.String(), sha256: Type.String() }), Type.Null()]),
    badgePath: Type.Union([Type.String(), Type.Null()]),
    picturePaths: Type.Optional(Type.Record(Type.String(), Type.String())),
    outputPath: Type.String(),
    /**
     * `looks` reports boxes, sizes and fonts; `contrast` measures the texts' contrast instead of fonts, from
     * the card painted twice more.
     */
    inspect: Type.Union([Type.Literal("no"), Type.Literal("looks"), Type.Literal("contrast")]),
    /** `screen` leaves a PNG uncompressed, for a browser on the same machine. */
    encoding: Type.Union([Type.Literal("file"), Type.Literal("screen")]),
  });
}

export const Previewed = Type.Object({
  contentType: Type.String(),
  width: Type.Integer(),
  height: Type.Integer(),
  bytes: Type.Integer(),
  digest: Type.String(),
  /** How the warm page was brought up to date with changed files. */
  page: Type.Union([Type.Literal("same"), Type.Literal("restyled"), Type.Literal("opened")]),
  inspection: Type.Union([Inspection, Type.Null()]),
  timingsMs: Type.Record(Type.String(), Type.Number()),
});
export type Previewed = Static<typeof Previewed>;

/** Style sheet declarations to check Chromium's support for, such as `color: colr`. */
export const SupportsJob = Type.Object({
  jobId: Type.String(),
  declarations: Type.Array(Type.Object({ property: Type.String(), value: Type.String() })),
});
export type SupportsJob = Static<typeof SupportsJob>;
