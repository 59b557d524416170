/**
 * Loads and decodes a picture before the card is drawn. Throws when that fails.
 * @param name for the error
 */
export async function decodeInto(image: HTMLImageElement, source: Blob | string, name: string) {
  const address = typeof source === "string" ? source : URL.createObjectURL(source);
  image.src = address;
  try {
    await image.decode();
  } catch {
    throw new Error(`the ${name} picture could not be decoded`);
  } finally {
    if (address !== source) URL.revokeObjectURL(address);
  }
}

/**
 * Loads a picture before the card is drawn, where its bytes are known to decode. `decode` would decode it for
 * a layer of the page, and a canvas would then decode it once more. Throws when it is no picture at all.
 * @param name for the error
 */
export async function loadInto(image: HTMLImageElement, source: Blob, name: string) {
  const address = URL.createObjectURL(source);
  const loaded = new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = () => reject(new Error(`the ${name} picture could not be decoded`));
  });
  image.src = address;
  try {
    await loaded;
  } finally {
    URL.revokeObjectURL(address);
  }
}

let lastOutline: { source: string; bitmap: Promise<ImageBitmap> } | undefined;

/**
 * A player's outline, decoded and kept: a card asks for it several times, and many cards in a row have the
 * same. A bitmap, since Chromium draws an `<img>` from whichever reduced copy it kept of an earlier drawing:
 * a shadow would depend on the card before. Throws when it cannot be decoded.
 * @param source a data URL
 */
export function decodedOutline(source: string) {
  if (lastOutline?.source !== source) {
    const image = new Image();
    const bitmap = decodeInto(image, source, "outline").then(() => createImageBitmap(image));
    lastOutline = { source, bitmap };
  }
  return lastOutline.bitmap;
}
