// Runs inside the page. Type-checked through JSDoc, served as it is.

/**
 * Keeps a picture as the most recent one, and as many of the others as have at most `max` pixels together.
 * @template Picture
 * @param {Map<string, Picture>} kept the least recent first
 * @param {string} key
 * @param {Picture} picture
 * @param {{ max: number, pixelsOf: (picture: Picture) => number }} limit
 */
export function keepRecent(kept, key, picture, { max, pixelsOf }) {
  kept.delete(key);
  kept.set(key, picture);
  let pixels = 0;
  for (const [other, one] of [...kept].reverse()) {
    pixels += pixelsOf(one);
    if (pixels > max) kept.delete(other);
  }
}
