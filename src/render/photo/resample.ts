/** The sides of a picture in pixels. */
interface Size {
  width: number;
  height: number;
}

/**
 * Resizes a picture by bilinear interpolation, which suits similar sizes and is too coarse for strong
 * reduction.
 * @param values row by row, `channels` of them per pixel
 */
export function resampled<Values extends Uint8Array | Float32Array>(
  values: Values,
  from: Size,
  to: Size,
  channels: number,
): Values {
  if (from.width === to.width && from.height === to.height) return values;
  const out = values.slice(0, 0).constructor as new (length: number) => Values;
  const result = new out(to.width * to.height * channels);
  const columns = places(from.width, to.width);
  for (const [y, row] of places(from.height, to.height).entries()) {
    for (let x = 0; x < to.width; x++) {
      const column = columns[x] as Place;
      for (let k = 0; k < channels; k++) {
        const at = (line: number, place: number) =>
          Number(values[(line * from.width + place) * channels + k]);
        const upper =
          at(row.first, column.first) * (1 - column.part) + at(row.first, column.second) * column.part;
        const lower =
          at(row.second, column.first) * (1 - column.part) + at(row.second, column.second) * column.part;
        result[(y * to.width + x) * channels + k] = upper * (1 - row.part) + lower * row.part;
      }
    }
  }
  return result;
}

/** The two source pixels a new pixel lies between, and how far it is towards the second. */
interface Place {
  first: number;
  second: number;
  part: number;
}

function places(from: number, to: number): Place[] {
  return Array.from({ length: to }, (_, i) => {
    const at = Math.min(from - 1, Math.max(0, ((i + 0.5) * from) / to - 0.5));
    const first = Math.floor(at);
    return { first, second: Math.min(from - 1, first + 1), part: at - first };
  });
}
