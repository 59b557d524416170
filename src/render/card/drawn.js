// Runs inside the page. Type-checked through JSDoc, served as it is. The pictures that the page itself draws
// for a card.
import { reducedJpeg } from "../photo/page/reduced_jpeg.js";
import { backdropOf } from "./backdrop.js";
import { decodedOutline, loadInto } from "./decode.js";
import { rimLight, softOutline } from "./light.js";
import { outlineOf } from "./outline.js";

/** @typedef {import("./fill.js").CardFill} CardFill */

/**
 * @typedef {{ draw: (outline: HTMLImageElement, style: any) => string, styleOf: (fill: CardFill) => object |
 *   null }} Drawing
 */

/**
 * The pictures that the page draws from the player's outline, each in a style of the card; without one it is
 * not on the card.
 */
const DRAWINGS = /** @type {Record<string, Drawing>} */ ({
  shadow: { draw: softOutline, styleOf: ({ light }) => light },
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
 * The photo as this card's ground, as a BMP file.
 * @param {File | undefined} file the photo @param {CardFill} fill
 */
export async function drawBackdrop(file, { backdrop }) {
  if (!file || !backdrop) throw new Error("the card's photo was not given to the page");
  const photo = await decodedFor(file, backdrop.photo).catch(() => {
    throw new Error("the photo could not be decoded");
  });
  try {
    return backdropOf(photo, backdrop);
  } finally {
    photo.close();
  }
}

/**
 * The photo, upright, with no fewer pixels than it is shown with: a JPEG that is shown at half its size or
 * less is decoded to a half or a quarter at once.
 * @param {File} file @param {{ width: number, height: number }} box where it is shown
 */
async function decodedFor(file, { width, height }) {
  if (await isJpeg(file)) {
    const image = new Image();
    await loadInto(image, file, "photo");
    const size = { width: image.naturalWidth, height: image.naturalHeight };
    const times = Math.max(size.width, size.height) / Math.max(width, height);
    const reduced = times >= 2 ? await reducedJpeg(file, size, times >= 4 ? 4 : 2) : null;
    if (reduced) return reduced;
  }
  return createImageBitmap(file, { imageOrientation: "from-image" });
}

/** Whether a file begins as JPEGs do. @param {File} file */
async function isJpeg(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  return first === 0xff && second === 0xd8;
}
