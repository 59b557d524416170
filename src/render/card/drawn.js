// Runs inside the page. Type-checked through JSDoc, served as it is. The pictures that the page itself draws
// for a card.
import { reducedJpeg } from "../photo/page/reduced-jpeg.ts";
import { backdropOf } from "./backdrop.js";
import { decodedOutline } from "./decode.js";
import { rimLight, softShadow } from "./light.js";
import { outlineOf } from "./outline.js";

/** @typedef {import("./fill.js").CardFill} CardFill */

/**
 * @typedef {{ draw: (outline: ImageBitmap, style: any) => string, styleOf: (fill: CardFill) => object |
 *   null }} Drawing
 */

/**
 * The pictures that the page draws from the player's outline, each in a style of the card; without one it is
 * not on the card.
 */
const DRAWINGS = /** @type {Record<string, Drawing>} */ ({
  shadow: { draw: softShadow, styleOf: ({ light }) => light && { side: light.side } },
  light: { draw: rimLight, styleOf: ({ light }) => light },
  outline: { draw: outlineOf, styleOf: ({ edge }) => edge },
});
/**
 * Those already drawn, by name, style and outline: they are small, and most photos come again.
 * @type {Map<string, string>}
 */
const known = new Map();
const MAX_KNOWN = 100;

/**
 * The names of the pictures that the page draws for this card from the player's outline.
 * @param {CardFill} fill
 */
export const drawnFor = (fill) => Object.keys(DRAWINGS).filter((name) => DRAWINGS[name]?.styleOf(fill));

/**
 * One of them, as a data URL, drawn once for the same.
 * @param {string} name
 * @param {CardFill} fill
 */
export async function fromOutline(name, fill) {
  const { draw, styleOf } = /** @type {Drawing} */ (DRAWINGS[name]);
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
 * @param {File | undefined} file the photo @param {CardFill} fill
 */
export async function drawBackdrop(file, { backdrop, header, outline }) {
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
 * The photo, upright, with no fewer pixels than it is shown with: a JPEG that is shown at half its size or
 * less is decoded to a half or a quarter at once.
 * @param {File} file @param {CardFill["header"]} header what its header says
 * @param {{ width: number, height: number }} box where it is shown
 */
async function decodedFor(file, header, { width, height }) {
  if (header?.format === "jpeg") {
    const times = Math.max(header.width, header.height) / Math.max(width, height);
    const reduced = times >= 2 ? await reducedJpeg(file, header, times >= 4 ? 4 : 2) : null;
    if (reduced) return reduced;
  }
  return createImageBitmap(file, { imageOrientation: "from-image" });
}
