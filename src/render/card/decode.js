// Runs inside the page. Type-checked through JSDoc, served as it is.

/**
 * Loads and decodes a picture, so that it is there when the card is drawn. Throws when that fails.
 * @param {HTMLImageElement} image
 * @param {Blob | string} source
 * @param {string} name for the error
 */
export async function decodeInto(image, source, name) {
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
 * Loads a picture whose bytes are known to decode, so that it is there when the card is drawn. Without
 * `decode`, which decodes for a layer of the page: a canvas then decodes once more. Throws when it is no
 * picture at all.
 * @param {HTMLImageElement} image
 * @param {Blob} source
 * @param {string} name for the error
 */
export async function loadInto(image, source, name) {
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

/** @type {{ source: string, bitmap: Promise<ImageBitmap> } | undefined} */
let lastOutline;

/**
 * A player's outline, decoded. A card asks for it several times, and many cards in a row have the same.
 * A bitmap, since Chromium draws an `<img>` from whichever reduced copy it kept of an earlier drawing: a
 * shadow would depend on the card before.
 * Throws when that fails.
 * @param {string} source a data URL
 */
export function decodedOutline(source) {
  if (lastOutline?.source !== source) {
    const image = new Image();
    const bitmap = decodeInto(image, source, "outline").then(() => createImageBitmap(image));
    lastOutline = { source, bitmap };
  }
  return lastOutline.bitmap;
}
