/**
 * Keeps a picture as the most recent one, and as many others as fit into `max` pixels together.
 * @param kept the least recent first
 */
export function keepRecent<Picture>(
  kept: Map<string, Picture>,
  key: string,
  picture: Picture,
  { max, pixelsOf }: { max: number; pixelsOf: (picture: Picture) => number },
) {
  kept.delete(key);
  kept.set(key, picture);
  let pixels = 0;
  for (const [other, one] of [...kept].reverse()) {
    pixels += pixelsOf(one);
    if (pixels > max) kept.delete(other);
  }
}
