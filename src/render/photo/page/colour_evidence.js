/** @import { Bytes, Numbers } from "./masks.js" */

/** Squares of the grid on the longer side within which colours are compared. */
const SQUARES = 8;
/** Levels of each colour channel, as a power of two of 256: 16 levels. */
const LEVEL_BITS = 4;
const LEVELS = 1 << LEVEL_BITS;
const COLOURS = LEVELS ** 3;

/** So many cells of a colour have to be known nearby before they count. */
const ENOUGH_CELLS = 3;
/** The most that colours may say, as log odds. */
const MAX_ODDS = 4;
/** How far the player's share of the surroundings is left out of the comparison: 1 is altogether. */
const PRIOR_LEFT_OUT = 0.7;

/**
 * What a cell's colour says about it: log odds that it belongs to the player, from the colours of cells nearby that are
 * surely the player or surely not. Histograms of colours in overlapping squares, smoothed in place and colour (a bilateral
 * grid; J. Chen, S. Paris, F. Durand, "Real-time Edge-Aware Image Processing with the Bilateral Grid", 2007).
 * @param {Numbers} belief 0 to 1 @param {Bytes} rgba @param {number} width
 * @param {(cell: number) => boolean} isAsked where the answer is wanted; elsewhere it is 0
 * @returns {Numbers} -4 to 4
 */
export function colourOdds(belief, rgba, width, isAsked) {
  const squares = squaresOf(belief.length, width);
  const { columns, rows, perCell } = squares;
  /** @type {Numbers} */
  const player = new Float32Array(columns * rows * COLOURS);
  /** @type {Numbers} */
  const behind = new Float32Array(player.length);
  /** @type {Numbers} */
  const areas = new Float32Array(2 * columns * rows);
  for (let i = 0; i < belief.length; i++) {
    const column = Math.round((i % width) * perCell);
    const row = Math.round(Math.floor(i / width) * perCell);
    const square = row * columns + column;
    const sure = 2 * belief[i] - 1;
    const weight = sure * sure;
    const at = square * COLOURS + colourOf(rgba, i);
    if (sure > 0) {
      player[at] += weight;
      areas[2 * square] += weight;
    } else {
      behind[at] += weight;
      areas[2 * square + 1] += weight;
    }
  }
  for (const histogram of [player, behind]) {
    for (const stride of [1, LEVELS, LEVELS * LEVELS]) blurLine(histogram, stride, LEVELS);
    blurLine(histogram, COLOURS, columns);
    blurLine(histogram, COLOURS * columns, rows);
  }
  blurLine(areas, 2, columns);
  blurLine(areas, 2 * columns, rows);
  return readOdds({ player, behind, areas }, squares, rgba, width, isAsked);
}

/** @param {number} cells @param {number} width */
function squaresOf(cells, width) {
  const height = cells / width;
  const perCell = (SQUARES - 1) / Math.max(width, height);
  return {
    columns: Math.round((width - 1) * perCell) + 1,
    rows: Math.round((height - 1) * perCell) + 1,
    perCell,
  };
}

/** @param {Bytes} rgba @param {number} cell */
function colourOf(rgba, cell) {
  const shift = 8 - LEVEL_BITS;
  const at = 4 * cell;
  return (
    (((rgba[at] >> shift) << LEVEL_BITS) << LEVEL_BITS) |
    ((rgba[at + 1] >> shift) << LEVEL_BITS) |
    (rgba[at + 2] >> shift)
  );
}

/**
 * Weights 1, 2, 1 along one axis of an array of several dimensions, in place; values beyond the ends count as 0.
 * @param {Numbers} values @param {number} stride between neighbours on the axis @param {number} length of the axis
 */
function blurLine(values, stride, length) {
  const block = stride * length;
  for (let base = 0; base < values.length; base += block) {
    for (let offset = base; offset < base + stride; offset++) {
      let before = 0;
      let here = values[offset];
      for (let k = 0, at = offset; k < length; k++, at += stride) {
        const after = k + 1 < length ? values[at + stride] : 0;
        values[at] = 0.25 * before + 0.5 * here + 0.25 * after;
        before = here;
        here = after;
      }
    }
  }
}

/**
 * @param {{ player: Numbers, behind: Numbers, areas: Numbers }} histograms
 * @param {{ columns: number, rows: number, perCell: number }} squares
 * @param {Bytes} rgba @param {number} width @param {(cell: number) => boolean} isAsked
 */
function readOdds({ player, behind, areas }, { columns, rows, perCell }, rgba, width, isAsked) {
  /** @type {Numbers} */
  const odds = new Float32Array(rgba.length / 4);
  // Blurred, the mass of one cell is spread over this many.
  const enough = ENOUGH_CELLS / 32;
  for (let i = 0; i < odds.length; i++) {
    if (!isAsked(i)) continue;
    const u = (i % width) * perCell;
    const v = Math.floor(i / width) * perCell;
    const [left, top] = [Math.floor(u), Math.floor(v)];
    const [right, bottom] = [Math.min(columns - 1, left + 1), Math.min(rows - 1, top + 1)];
    const [fu, fv] = [u - left, v - top];
    const colour = colourOf(rgba, i);
    let own = 0;
    let other = 0;
    let ownArea = 0;
    let otherArea = 0;
    for (let corner = 0; corner < 4; corner++) {
      const square = (corner & 2 ? bottom : top) * columns + (corner & 1 ? right : left);
      const weight = (corner & 1 ? fu : 1 - fu) * (corner & 2 ? fv : 1 - fv);
      own += weight * player[square * COLOURS + colour];
      other += weight * behind[square * COLOURS + colour];
      ownArea += weight * areas[2 * square];
      otherArea += weight * areas[2 * square + 1];
    }
    const areaOdds = Math.log((ownArea + 20) / (otherArea + 20));
    const odd = Math.log((own + enough) / (other + enough)) - PRIOR_LEFT_OUT * areaOdds;
    // Where nothing is known of a colour, the areas' shares say nothing either.
    const known = Math.min(1, (own + other) / (8 * enough));
    odds[i] = Math.max(-MAX_ODDS, Math.min(MAX_ODDS, odd)) * known;
  }
  return odds;
}
