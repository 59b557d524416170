import { readParts } from "./body_parts.js";
import { contextOf } from "./decode.js";
import { maskPeople, wholePicture } from "./detectors.js";
import { boundsAbove, dilate, patches, sampleMask } from "./masks.js";
import { runNetwork } from "./networks.js";

/** @import { Finding } from "./examine.js" */
/** @import { Grid, Numbers } from "./masks.js" */

/** Cells on the longer side on which people beside the player are measured, and the body parts network's input. */
const GRID_CELLS = 192;
const PARTS_INPUT = { size: 256 };
/** The player's own mask is drawn too narrow: so much of the body's longer side around it is still the player. */
const OWN_MARGIN = 0.04;

/**
 * Somebody else is the player's equal with so much of the player's visible area; larger patches are several people run
 * together, of whom each is smaller than the player.
 */
const EQUAL_AREA = { least: 0.4, most: 2 };
/** And this sharp against the player: those behind are blurred, at 0.1 to 0.2 measured. */
const EQUAL_SHARPNESS = 0.35;
/**
 * A body as tall as the player's with a head to be seen, or a shorter one behind things with as much of a face. Of 130
 * players with others in the photo the nearest are at 0.78 of the height and 0.59 of the face; pairs from 1.0 and 0.9 on.
 */
const EQUAL_HEIGHT = 0.9;
const SEEN_FACE = 0.3;
const EQUAL_FACE = 0.8;

/**
 * Whether somebody else stands beside the player as large, as sharp and with a head: found by what belongs to any person,
 * since detectors miss those who bend, turn away or are half behind something.
 * @param {OffscreenCanvas} picture @param {Finding} player
 */
export async function hasEqualBeside(picture, { pose }) {
  if (!pose) return false;
  const step = Math.max(picture.width, picture.height) / GRID_CELLS;
  const grid = {
    x: 0,
    y: 0,
    width: Math.ceil(picture.width / step),
    height: Math.ceil(picture.height / step),
    step,
  };
  const own = sampleMask(pose.mask, grid);
  const body = boundsAbove(own, grid.width, 0.5);
  if (!body) return false;
  const all = wholePicture(picture);
  const people = sampleMask(await maskPeople(picture, all), grid);
  const near = Float32Array.from(own, (value) => (value > 0.3 ? 1 : 0));
  const reach = Math.max(1, Math.round(OWN_MARGIN * Math.max(body.width, body.height)));
  const around = dilate(near, grid.width, reach);
  const { labels, sizes } = patches(people.length, grid.width, (k) => people[k] > 0.5 && !(around[k] > 0.5));
  const area = countAbove(own);
  const large = sizes.findIndex(
    (size, label) =>
      label > 0 &&
      size === Math.max(...sizes.slice(1)) &&
      size >= EQUAL_AREA.least * area &&
      size <= EQUAL_AREA.most * area,
  );
  if (large < 0) return false;
  const isOther = (/** @type {number} */ k) => labels[k] === large;
  const isOwn = (/** @type {number} */ k) => own[k] > 0.5;
  if (sharpness(picture, grid, isOther) < EQUAL_SHARPNESS * sharpness(picture, grid, isOwn)) return false;
  const [scores] = await runNetwork("bodyParts", picture, all, PARTS_INPUT);
  if (!scores) throw new Error("The body parts network gave no output.");
  const skin = sampleMask(readParts(scores, all).face, grid);
  const face = sumOf(skin, isOther) / Math.max(1, sumOf(skin, isOwn));
  return (
    face >= EQUAL_FACE || (face >= SEEN_FACE && heightOf(labels, large, grid) >= EQUAL_HEIGHT * body.height)
  );
}

/** @param {Numbers} values */
function countAbove(values) {
  return values.reduce((count, value) => count + (value > 0.5 ? 1 : 0), 0);
}

/** @param {Numbers} values @param {(cell: number) => boolean} isIn */
function sumOf(values, isIn) {
  return values.reduce((sum, value, k) => sum + (isIn(k) ? value : 0), 0);
}

/** How many rows a patch spans. @param {import("./masks.js").Labels} labels @param {number} label @param {Grid} grid */
function heightOf(labels, label, { width }) {
  return Math.floor(labels.lastIndexOf(label) / width) - Math.floor(labels.indexOf(label) / width) + 1;
}

/**
 * How strong the finest details are in some cells: the root mean square of the brightness' second derivative.
 * @param {OffscreenCanvas} picture @param {Grid} grid @param {(cell: number) => boolean} isIn
 */
function sharpness(picture, { width: columns, step }, isIn) {
  const { width, height } = picture;
  const { data } = contextOf(picture).getImageData(0, 0, width, height);
  const light = (/** @type {number} */ x, /** @type {number} */ y) => {
    const at = 4 * (y * width + x);
    return 0.3 * Number(data[at]) + 0.59 * Number(data[at + 1]) + 0.11 * Number(data[at + 2]);
  };
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
