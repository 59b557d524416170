// Runs inside the page. Type-checked through JSDoc, served as it is. Shows a picture that the page has drawn
// as a canvas instead of an `<img>`. Only where the template says `data-canvas`, by which it promises that
// its style sheet does not tell the two apart. As a file for an `<img>` it is written, sent to the browser's
// own process and back, and decoded: for a card's ground that is more work than drawing it.

let isOn = false;

/**
 * Begins or ends that. Where the browser itself takes the pictures, a canvas would be a layer of its own.
 * @param {boolean} wanted
 */
export function useStandIns(wanted) {
  isOn = wanted;
}

/** For each canvas the `<img>` in whose place it stands. @type {WeakMap<Element, HTMLImageElement>} */
const originals = new WeakMap();

/** The template's own `<img>`. @param {Element} picture */
export const originalOf = (picture) => originals.get(picture) ?? /** @type {HTMLImageElement} */ (picture);

/**
 * A canvas with this picture in the place of the `<img>`; null where that has to show it itself.
 * @param {Element} shown that `<img>`, or what stands in for it
 * @param {OffscreenCanvas} picture
 * @param {string} source what tells the picture apart
 */
export function standIn(shown, picture, source) {
  const image = originalOf(shown);
  if (!isOn || image.dataset.canvas === undefined) return null;
  const canvas = document.createElement("canvas");
  for (const { name, value } of image.attributes) if (name !== "src") canvas.setAttribute(name, value);
  Object.assign(canvas, { width: picture.width, height: picture.height });
  canvas.getContext("2d", { willReadFrequently: true })?.drawImage(picture, 0, 0);
  // Without a place of its own among the browser's layers it would be painted in the picture's corner.
  canvas.style.scale = "1";
  canvas.dataset.source = source;
  originals.set(canvas, image);
  return canvas;
}
