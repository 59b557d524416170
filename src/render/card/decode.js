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
