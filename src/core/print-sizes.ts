/** A printed card: what is left of it once the printer has cut it, and what is cut off around. */
export interface PrintSize {
  /** Of the trimmed card in portrait, in millimetres. */
  trim: { width: number; height: number };
  /** Cut off on every side, in millimetres. */
  bleed: number;
  /** The picture's sides with the bleed at 300 dpi, and the bleed's width in it, in pixels. */
  px: { short: number; long: number; bleed: number };
}

const PX_PER_MM = 300 / 25.4;

/** What printers ask to keep free of text inside of the cut, as their knives wander; some ask for 4 mm. */
export const SAFE_MM = 3;
export const SAFE_PX = Math.round(SAFE_MM * PX_PER_MM);

function printSize(width: number, height: number, bleed: number): PrintSize {
  const px = (mm: number) => Math.round(mm * PX_PER_MM);
  const sides = { short: px(width + 2 * bleed), long: px(height + 2 * bleed), bleed: px(bleed) };
  return { trim: { width, height }, bleed, px: sides };
}

/**
 * The sizes that printers of cards offer, by the names partners use. A picture of such a size, either way
 * round, is drawn with its bleed.
 */
export const PRINT_SIZES = {
  /** The playing card of most of Europe's and of Asia's printers. */
  "63x88": printSize(63, 88, 3),
  /** 2.5 x 3.5 inches with an eighth of an inch of bleed: the American trading card. */
  "2.5x3.5in": printSize(63.5, 88.9, 3.175),
  /** The sticker of an album. */
  "49x65": printSize(49, 65, 3),
  /** The German skat card. */
  "59x91": printSize(59, 91, 3),
} as const;

export type PrintSizeName = keyof typeof PRINT_SIZES;

export const PRINT_SIZE_NAMES = Object.keys(PRINT_SIZES) as PrintSizeName[];

/** A print size for people: `63 x 88 mm`. */
export const printSizeLabel = (name: PrintSizeName): string =>
  name.endsWith("in") ? name.replace("x", " x ").replace("in", " in") : `${name.replace("x", " x ")} mm`;

/** All of them in pixels, for a caller who asks for another: `815x1110 (63 x 88 mm), ...`. */
export const printSizesInPixels = (): string =>
  PRINT_SIZE_NAMES.map((name) => {
    const { short, long } = PRINT_SIZES[name].px;
    return `${short}x${long} (${printSizeLabel(name)})`;
  }).join(", ");

/** The print size of a picture of so many pixels; undefined for any other. */
export function printSizeOf({ width, height }: { width: number; height: number }): PrintSizeName | undefined {
  return PRINT_SIZE_NAMES.find((name) => {
    const { short, long } = PRINT_SIZES[name].px;
    return Math.min(width, height) === short && Math.max(width, height) === long;
  });
}
