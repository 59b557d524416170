/** An array whose loops need no check against `undefined` at each access, as the compiler would require. */
// biome-ignore lint/suspicious/noExplicitAny: with any other type the compiler adds `undefined`.
type Indexed<Values> = Values & { [index: number]: any };
/** One for each cell or pixel, row by row. */
export type Numbers = Indexed<Float32Array<ArrayBuffer>>;
/** Colour channels, row by row. */
export type Bytes = Indexed<Uint8ClampedArray<ArrayBuffer>>;
/** The patch of each cell. */
export type Labels = Indexed<Int32Array<ArrayBuffer>>;
/** 1 where something holds, 0 elsewhere. */
export type Flags = Indexed<Uint8Array<ArrayBuffer>>;
/** Pixels with their four channels in one, or counts. */
export type Words = Indexed<Uint32Array>;
/** One for each label. */
export type Sums = Indexed<number[]>;

// The loops over pixels in this file call no function that is made anew for each photo: the engine would have
// to compile such a function again for every photo.

/** As many zeros. */
export const floats = (length: number): Numbers => new Float32Array(length);

/** Flags of which none is set. */
export const flags = (length: number): Flags => new Uint8Array(length);

/** From this alpha on (0 to 255), a pixel shows the player alone. */
export const OPAQUE_ALPHA = 230;

/** The Rec. 709 luma of a colour, from 0 to 255: brightness as a screen shows it. */
export const luma709 = (red: number, green: number, blue: number) =>
  0.2126 * red + 0.7152 * green + 0.0722 * blue;

/** A pixel's Rec. 601 luma, from 0 to 255, by which edges and sharpness are measured. */
export const lumaOf = (rgba: Bytes, pixel: number) =>
  0.299 * Number(rgba[4 * pixel]) + 0.587 * Number(rgba[4 * pixel + 1]) + 0.114 * Number(rgba[4 * pixel + 2]);

export function alphaOf(rgba: Bytes): Bytes {
  const alpha: Bytes = new Uint8ClampedArray(rgba.length / 4);
  for (let i = 0; i < alpha.length; i++) alpha[i] = rgba[4 * i + 3];
  return alpha;
}

/** Where values are above a threshold. */
export function above(values: Numbers | Bytes, threshold: number): Flags {
  const cells = flags(values.length);
  for (let i = 0; i < cells.length; i++) cells[i] = values[i] > threshold ? 1 : 0;
  return cells;
}

/** Where values are below a threshold. */
export function below(values: Numbers | Bytes, threshold: number): Flags {
  const cells = flags(values.length);
  for (let i = 0; i < cells.length; i++) cells[i] = values[i] < threshold ? 1 : 0;
  return cells;
}

/**
 * The four-connected patches of cells that are inside.
 * @returns for each cell its label (1, 2 and so on, 0 outside), for each label its cells, and what sums
 *   values by label
 */
export function patches(inside: Flags, width: number) {
  const cells = inside.length;
  const labels: Labels = new Int32Array(cells);
  const stack: Labels = new Int32Array(cells);
  const sizes: Sums = [0];
  for (let cell = 0; cell < cells; cell++) labels[cell] = inside[cell] ? -1 : 0;
  for (let start = 0; start < cells; start++) {
    if (labels[start] !== -1) continue;
    const label = sizes.length;
    let depth = 1;
    let size = 0;
    labels[start] = label;
    stack[0] = start;
    while (depth > 0) {
      const cell = stack[--depth];
      const x = cell % width;
      size++;
      // Each neighbour is labelled as it goes onto the stack, so that it goes there once.
      if (x > 0 && labels[cell - 1] === -1) {
        labels[cell - 1] = label;
        stack[depth++] = cell - 1;
      }
      if (x < width - 1 && labels[cell + 1] === -1) {
        labels[cell + 1] = label;
        stack[depth++] = cell + 1;
      }
      if (cell >= width && labels[cell - width] === -1) {
        labels[cell - width] = label;
        stack[depth++] = cell - width;
      }
      if (cell < cells - width && labels[cell + width] === -1) {
        labels[cell + width] = label;
        stack[depth++] = cell + width;
      }
    }
    sizes.push(size);
  }
  return { labels, sizes, sums: (values: Numbers | Flags) => sumsOf(labels, sizes, values) };
}

function sumsOf(labels: Labels, sizes: Sums, values: Numbers | Flags): Sums {
  const sums: Sums = sizes.map(() => 0);
  for (let i = 0; i < labels.length; i++) if (labels[i]) sums[labels[i]] += values[i];
  return sums;
}

/** 0 below `low`, 1 above `high`, and a smooth step (3t^2 - 2t^3) in between. */
export function smoothStep(value: number, low: number, high: number): number {
  const t = Math.max(0, Math.min(1, (value - low) / (high - low)));
  return t * t * (3 - 2 * t);
}

/** What becomes of each tone of a channel, shifted to where a little-endian processor has that channel. */
export function toneTables(toneOf: (channel: number, tone: number) => number): ToneTables {
  const tableOf = (channel: number) => {
    const table: Words = new Uint32Array(256);
    for (let tone = 0; tone < table.length; tone++) table[tone] = toneOf(channel, tone) << (8 * channel);
    return table;
  };
  return [tableOf(0), tableOf(1), tableOf(2)];
}
type ToneTables = [reds: Words, greens: Words, blues: Words];

/** Gives pixels their new tones, in place; nothing is left of the colour of transparent ones. */
export function retone(pixels: Words, [reds, greens, blues]: ToneTables, from = 0, to = pixels.length): void {
  for (let i = from; i < to; i++) {
    const pixel = pixels[i];
    const alpha = pixel & 0xff000000;
    pixels[i] = alpha
      ? alpha | blues[(pixel >>> 16) & 255] | greens[(pixel >>> 8) & 255] | reds[pixel & 255]
      : 0;
  }
}
