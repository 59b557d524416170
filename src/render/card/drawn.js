// Runs inside the page. Type-checked through JSDoc, served as it is. The pictures that the page itself draws for a card.
import { backdropOf } from "./backdrop.js";
import { rimLight, softOutline } from "./light.js";
import { outlineOf } from "./outline.js";

/** @typedef {import("./fill.js").CardFill} CardFill */

/** The pictures that the page draws from the player's outline. */
export const DRAWN = {
  shadow: (/** @type {HTMLImageElement} */ outline, /** @type {CardFill} */ { light }) =>
    softOutline(outline, light),
  light: (/** @type {HTMLImageElement} */ outline, /** @type {CardFill} */ { light }) =>
    rimLight(outline, light),
  outline: (/** @type {HTMLImageElement} */ outline, /** @type {CardFill} */ { edge }) =>
    outlineOf(outline, edge),
};
/** Those already drawn, by name, style and outline: they are small, and most photos come again. @type {Map<string, string>} */
const drawings = new Map();
const MAX_DRAWINGS = 100;

/**
 * A picture drawn from the player's outline, as a data URL, drawn once for the same.
 * @param {string} name
 * @param {(outline: HTMLImageElement, fill: CardFill) => string} draw
 * @param {CardFill} fill
 */
export async function fromOutline(name, draw, fill) {
  const { outline: source, light, edge } = fill;
  const key = [name, ...Object.values(name === "outline" ? edge : light), source].join(" ");
  const known = drawings.get(key);
  if (known) return known;
  if (drawings.size >= MAX_DRAWINGS) drawings.clear();
  const outline = new Image();
  outline.src = source;
  await outline.decode();
  const drawn = draw(outline, fill);
  drawings.set(key, drawn);
  return drawn;
}

/**
 * The photo as this card's ground, as a BMP file.
 * @param {File | undefined} file the photo @param {CardFill} fill
 */
export async function drawBackdrop(file, { outline, backdrop }) {
  if (!file || !backdrop) throw new Error("the card's photo was not given to the page");
  const silhouette = new Image();
  silhouette.src = outline;
  const [photo] = await Promise.all([
    createImageBitmap(file, { imageOrientation: "from-image" }).catch(() => {
      throw new Error("the photo could not be decoded");
    }),
    silhouette.decode(),
  ]);
  try {
    return backdropOf(photo, silhouette, backdrop);
  } finally {
    photo.close();
  }
}
