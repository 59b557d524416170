// Shows a picture that the page has drawn as a canvas instead of an `<img>`: an `<img>` needs a file, which
// is written, sent to the browser's own process and back, and decoded. For a card's ground that is more
// work than drawing it. Only where the template says `data-canvas`: its style sheet then does not tell the
// two apart.

let isOn = false;

/** Where the browser takes the pictures itself, a canvas would be a layer of its own. */
export function useStandIns(wanted: boolean) {
  isOn = wanted;
}

/** For each canvas the `<img>` that it replaces. */
const originals = new WeakMap<Element, HTMLImageElement>();

/** The template's own `<img>`. */
export const originalOf = (picture: Element) => originals.get(picture) ?? (picture as HTMLImageElement);

/**
 * A canvas with this picture in place of the `<img>`; null where the `<img>` has to show it.
 * @param shown that `<img>`, or the canvas in its place
 * @param source what tells the picture apart
 */
export function standIn(shown: Element, picture: OffscreenCanvas, source: string) {
  const image = originalOf(shown);
  if (!isOn || image.dataset.canvas === undefined) return null;
  const canvas = document.createElement("canvas");
  for (const { name, value } of image.attributes) if (name !== "src") canvas.setAttribute(name, value);
  Object.assign(canvas, { width: picture.width, height: picture.height });
  canvas.getContext("2d", { willReadFrequently: true })?.drawImage(picture, 0, 0);
  // Makes it a layer of its own; else it would be painted in the picture's corner.
  canvas.style.scale = "1";
  canvas.dataset.source = source;
  originals.set(canvas, image);
  return canvas;
}
