// How far pixels are from a shape.

/** Further than anything reaches. */
export const FAR = 1e4;

/**
 * For each pixel the distance to the nearest seed, plus the seed's own value, within 2 of 100. Two passes
 * with steps to neighbours and by knight's moves (Borgefors, "Distance transformations in digital images",
 * 1986).
 * @param d changed in place: a seed's own value, elsewhere FAR
 * @returns the same
 */
export function distances(d: Float32Array, w: number, h: number): Float32Array {
  const [one, diagonal, knight] = [1, Math.SQRT2, Math.sqrt(5)];
  // The outermost two rows and columns lie in the margin, where nothing is shown.
  for (let y = 2; y < h - 2; y++)
    for (let x = 2, i = y * w + 2; x < w - 2; x++, i++) {
      let least = at(d, i);
      least = Math.min(
        least,
        at(d, i - 1) + one,
        at(d, i - w) + one,
        at(d, i - w - 1) + diagonal,
        at(d, i - w + 1) + diagonal,
      );
      d[i] = Math.min(
        least,
        at(d, i - 2 * w - 1) + knight,
        at(d, i - 2 * w + 1) + knight,
        at(d, i - w - 2) + knight,
        at(d, i - w + 2) + knight,
      );
    }
  for (let y = h - 3; y >= 2; y--)
    for (let x = w - 3, i = y * w + w - 3; x >= 2; x--, i--) {
      let least = at(d, i);
      least = Math.min(
        least,
        at(d, i + 1) + one,
        at(d, i + w) + one,
        at(d, i + w + 1) + diagonal,
        at(d, i + w - 1) + diagonal,
      );
      d[i] = Math.min(
        least,
        at(d, i + 2 * w + 1) + knight,
        at(d, i + 2 * w - 1) + knight,
        at(d, i + w + 2) + knight,
        at(d, i + w - 2) + knight,
      );
    }
  return d;
}

const at = (values: Float32Array, i: number) => values[i] as number;
