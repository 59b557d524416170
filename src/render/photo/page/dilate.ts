import { floats, type Numbers } from "./pixels.ts";

const spares = new Map<string, Numbers>();

/**
 * Room for values that are not needed once a function has returned, kept for its next call: the system hands
 * out new memory page by page, and a photo has some seventy such calls. Holds what the last call left.
 * @param name no two of the same name are in use at the same time
 */
function spare(name: string, length: number): Numbers {
  const kept = spares.get(name);
  if (kept && kept.length >= length) return kept.subarray(0, length);
  const made = floats(length);
  spares.set(name, made);
  return made;
}

/**
 * For each cell the largest value within `radius` cells across and down (a grey dilation by a square).
 *
 * The van Herk algorithm: with running maxima, forwards and backwards, within blocks as long as the window,
 * the maximum of any window is the larger of just two of them. Down the columns whole rows are compared,
 * since reading memory in order is several times faster than going down each column.
 */
export function dilate(values: Numbers, width: number, radius: number): Numbers {
  const across = spare("across", values.length);
  writeGreatestAcross(across, values, width, radius);
  return greatestDown(across, width, radius);
}

function writeGreatestAcross(out: Numbers, values: Numbers, width: number, radius: number): void {
  const window = 2 * radius + 1;
  const lastBlock = width - 1 - ((width - 1) % window);
  const ahead = floats(width);
  const back = floats(width);
  for (let row = 0; row < values.length; row += width) {
    for (let start = 0; start < width; start += window) {
      const end = Math.min(width, start + window);
      let most = values[row + start];
      for (let x = start; x < end; x++) ahead[x] = most = Math.max(most, values[row + x]);
      most = values[row + end - 1];
      for (let x = end - 1; x >= start; x--) back[x] = most = Math.max(most, values[row + x]);
    }
    for (let x = 0; x < width; x++) {
      const last = x + radius < width ? x + radius : width - 1;
      if (x < radius) out[row + x] = ahead[last];
      else if (x - radius >= lastBlock) out[row + x] = back[x - radius];
      else out[row + x] = Math.max(back[x - radius], ahead[last]);
    }
  }
}

function greatestDown(values: Numbers, width: number, radius: number): Numbers {
  const height = values.length / width;
  const window = 2 * radius + 1;
  const lastBlock = height - 1 - ((height - 1) % window);
  const ahead = spare("ahead", values.length);
  const back = spare("back", values.length);
  ahead.set(values);
  back.set(values);
  for (let start = 0; start < height; start += window) {
    const end = Math.min(height, start + window);
    for (let y = start + 1; y < end; y++) includeRow(ahead, y * width, (y - 1) * width, width);
    for (let y = end - 2; y >= start; y--) includeRow(back, y * width, (y + 1) * width, width);
  }
  const out = floats(values.length);
  for (let y = 0; y < height; y++) {
    const last = Math.min(height - 1, y + radius);
    const [plane, from] = y >= radius && y - radius >= lastBlock ? [back, y - radius] : [ahead, last];
    out.set(plane.subarray(from * width, (from + 1) * width), y * width);
    if (y < radius || y - radius >= lastBlock) continue;
    for (let i = y * width, j = (y - radius) * width, end = i + width; i < end; i++, j++)
      out[i] = Math.max(out[i], back[j]);
  }
  return out;
}

/** Raises a row, by where it begins, to the larger of itself and another one. */
function includeRow(plane: Numbers, row: number, other: number, width: number): void {
  for (let i = row, j = other, end = row + width; i < end; i++, j++) plane[i] = Math.max(plane[i], plane[j]);
}
