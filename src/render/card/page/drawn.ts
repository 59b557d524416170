// The pictures that the page itself draws for a card.

import { reducedJpeg } from "../../photo/page/reduced-jpeg.ts";
import { backdropOf } from "./backdrop.ts";
import { decodedOutline } from "./decode.ts";
import { rimLight, softShadow } from "./light.ts";
import type { CardFill } from "./messages.ts";
import { outlineOf } from "./outline.ts";

interface Drawing {
  /** A method, so that each may ask for the style that its own `styleOf` gives. */
  draw(outline: ImageBitmap, style: object): string;
  /** Null when the picture is not on the card. */
  styleOf(fill: CardFill): object | null;
}

/** The pictures that the page draws from the player's outline. */
const DRAWINGS: Record<string, Drawing> = {
  shadow: { draw: softShadow, styleOf: ({ light }) => light && { side: light.side } },
  light: { draw: rimLight, styleOf: ({ light }) => light },
  outline: { draw: outlineOf, styleOf: ({ edge }) => edge },
};
/** Drawn pictures by name, style and outline: they are small, and most photos come again. */
const known = new Map<string, string>();
const MAX_KNOWN = 100;

/** The names of those that are on this card. */
export const drawnFor = (fill: CardFill) =>
  Object.keys(DRAWINGS).filter((name) => DRAWINGS[name]?.styleOf(fill));

/** One of them, as a data URL. */
export async function fromOutline(name: string, fill: CardFill) {
  const { draw, styleOf } = DRAWINGS[name] as Drawing;
  const style = styleOf(fill) ?? {};
  const key = [name, ...Object.values(style), fill.outline].join(" ");
  const before = known.get(key);
  if (before) return before;
  if (known.size >= MAX_KNOWN) known.clear();
  const drawn = draw(await decodedOutline(fill.outline), style);
  known.set(key, drawn);
  return drawn;
}

/**
 * The photo as this card's ground.
 * @param file the photo
 */
export async function drawBackdrop(file: File | undefined, { backdrop, header, outline }: CardFill) {
  if (!file || !backdrop) throw new Error("the card's photo was not given to the page");
  const photo = await decodedFor(file, header, backdrop.photo).catch(() => {
    throw new Error("the photo could not be decoded");
  });
  try {
    return backdropOf(photo, backdrop, backdrop.lightsWall ? await decodedOutline(outline) : null);
  } finally {
    photo.close();
  }
}

/**
 * The photo, upright. A JPEG shown at half its size or less is decoded to a half or a quarter at once, which
 * leaves it no fewer pixels than it is shown with.
 * @param header what its header says
 * @param box where it is shown
 */
async function decodedFor(
  file: File,
  header: CardFill["header"],
  { width, height }: { width: number; height: number },
) {
  if (header?.format === "jpeg") {
    const times = Math.max(header.width, header.height) / Math.max(width, height);
    const reduced = times >= 2 ? await reducedJpeg(file, header, times >= 4 ? 4 : 2) : null;
    if (reduced) return reduced;
  }
  return createImageBitmap(file, { imageOrientation: "from-image" });
}
