import { readParts, scoresIn } from "./body-parts.ts";
import { contextOf } from "./decode.ts";
import { maskPeople, wholePicture } from "./detectors.ts";
import { dilate } from "./dilate.ts";
import type { Subject } from "./examine.ts";
import { boundsAbove, type Grid, gridOver, sampleMask } from "./masks.ts";
import { above, type Labels, lumaOf, patches } from "./pixels.ts";

/** Cells on the longer side of the grid on which people beside the player are measured. */
const PEOPLE_GRID_CELLS = 192;
/** The player's mask comes out too narrow, by up to this part of the body's longer side. */
const OWN_MARGIN = 0.04;

/** Visible area of an equal, relative to the player's. A larger patch is several smaller people. */
const EQUAL_AREA = { least: 0.4, most: 2 };
/** Least sharpness of an equal, relative to the player's: a blurred background measures 0.1 to 0.2. */
const EQUAL_SHARPNESS = 0.35;
/**
 * An equal is about as tall as the player and shows some face; or is shorter, half hidden behind something,
 * but shows about as much of a face. All are relative to the player's. Measured: bystanders have up to 0.78
 * of the height and 0.59 of the face, pairs at least 1.0 and 0.9.
 */
const EQUAL_HEIGHT = 0.9;
const SEEN_FACE = 0.3;
const EQUAL_FACE = 0.8;

/**
 * Whether somebody about as large and sharp as the player, with a visible face, is beside the player. Looks
 * for them in the mask of all people: detectors miss people who bend, turn away or are half hidden.
 */
export async function hasEqualBeside(picture: OffscreenCanvas, { pose }: Subject): Promise<boolean> {
  if (!pose) return false;
  const grid = gridOver(picture, PEOPLE_GRID_CELLS, Math.ceil);
  const own = sampleMask(pose.mask, grid);
  const body = boundsAbove(own, grid.width, 0.5);
  if (!body) return false;
  const all = wholePicture(picture);
  const people = sampleMask(await maskPeople(picture, all), grid);
  const near = new Float32Array(above(own, 0.3));
  const reach = Math.max(1, Math.round(OWN_MARGIN * Math.max(body.width, body.height)));
  const around = dilate(near, grid.width, reach);
  const others = above(people, 0.5);
  for (let k = 0; k < others.length; k++) if (around[k] > 0.5) others[k] = 0;
  const { labels, sizes, sums } = patches(others, grid.width);
  const area = own.filter((value) => value > 0.5).length;
  const size = Math.max(0, ...sizes.slice(1));
  if (size === 0 || size < EQUAL_AREA.least * area || size > EQUAL_AREA.most * area) return false;
  const large = sizes.indexOf(size, 1);
  const isOther = (k: number) => labels[k] === large;
  const isOwn = (k: number) => own[k] > 0.5;
  if (sharpness(picture, grid, isOther) < EQUAL_SHARPNESS * sharpness(picture, grid, isOwn)) return false;
  const skin = sampleMask(readParts(await scoresIn(picture, all), all).face, grid);
  const ownSkin = skin.reduce((sum, value, k) => (isOwn(k) ? sum + value : sum), 0);
  const face = sums(skin)[large] / Math.max(1, ownSkin);
  return (
    face >= EQUAL_FACE || (face >= SEEN_FACE && heightOf(labels, large, grid) >= EQUAL_HEIGHT * body.height)
  );
}

/** Number of rows that a patch spans. */
function heightOf(labels: Labels, label: number, { width }: Grid): number {
  return Math.floor(labels.lastIndexOf(label) / width) - Math.floor(labels.indexOf(label) / width) + 1;
}

/** How strong the finest details are in the given cells: root mean square of the brightness's Laplacian. */
function sharpness(
  picture: OffscreenCanvas,
  { width: columns, step }: Grid,
  isIn: (cell: number) => boolean,
): number {
  const { width, height } = picture;
  const { data } = contextOf(picture).getImageData(0, 0, width, height);
  const light = (x: number, y: number) => lumaOf(data, y * width + x);
  let [sum, pixels] = [0, 0];
  for (let y = 1; y < height - 1; y++) {
    const row = Math.floor(y / step) * columns;
    for (let x = 1; x < width - 1; x++) {
      if (!isIn(row + Math.floor(x / step))) continue;
      const around = light(x - 1, y) + light(x + 1, y) + light(x, y - 1) + light(x, y + 1);
      sum += (4 * light(x, y) - around) ** 2;
      pixels++;
    }
  }
  return Math.sqrt(sum / Math.max(1, pixels));
}
