import { BIAS, LIMIT, WEIGHTS } from "./depiction_weights.js";
import { SEEN_FACE_SCORE } from "./examine.js";

/** @import { PartsLook } from "./body_parts.js" */
/** @import { Finding } from "./examine.js" */
/** @import { Numbers } from "./masks.js" */

/** The traits' channels, and the cells along their sides; the masks have MASK_SIDE. */
const CHANNELS = 384;
const SIDE = 16;
const MASK_SIDE = 256;
/** In smaller faces the network sees no features. In search pixels. */
const MIN_FACE_WIDTH_PX = 40;
/** A look that shows less of a face than this tells nothing: somebody from behind, or far away. A part of the look. */
const MIN_FACE = 0.02;

/**
 * Whether a look at head and shoulders shows a drawn, painted, rendered or moulded person. The body parts
 * network sees the difference, though nobody taught it to: a weighted sum of its traits tells, see scripts/depiction.ts.
 * Only a clear face is judged: behind the bars of a helmet, or from behind, a photographed player looks moulded too.
 * @param {PartsLook} look @param {Finding} player
 */
export function isDepiction(look, { face }) {
  if (!face || face.score < SEEN_FACE_SCORE || face.width < MIN_FACE_WIDTH_PX) return false;
  const traits = traitsOf(look);
  return traits !== null && traits.reduce((sum, trait, i) => sum + trait * Number(WEIGHTS[i]), BIAS) > LIMIT;
}

/**
 * The mean of each channel over the person, then over the face; null where too little of a face is seen.
 * @param {PartsLook} look
 * @returns {number[] | null}
 */
export function traitsOf({ odds, face, traits }) {
  if (!traits) return null;
  if (face.values.reduce((sum, value) => sum + value, 0) < MIN_FACE * face.values.length) return null;
  const person = odds.values.map((value) => 1 / (1 + Math.exp(-value)));
  return [...meansOver(traits, cellsOf(person)), ...meansOver(traits, cellsOf(face.values))];
}

/** How much of a mask is in each of the traits' cells, one in all. @param {Numbers} mask */
function cellsOf(mask) {
  const cells = new Float64Array(SIDE * SIDE);
  let all = 0;
  for (let i = 0; i < mask.length; i++) {
    const row = Math.floor((Math.floor(i / MASK_SIDE) * SIDE) / MASK_SIDE);
    cells[row * SIDE + Math.floor(((i % MASK_SIDE) * SIDE) / MASK_SIDE)] += mask[i];
    all += mask[i];
  }
  return cells.map((value) => value / Math.max(1e-6, all));
}

/** @param {Numbers} traits @param {Float64Array} cells */
function meansOver(traits, cells) {
  return Array.from({ length: CHANNELS }, (_, channel) =>
    cells.reduce((sum, weight, cell) => sum + weight * traits[channel * cells.length + cell], 0),
  );
}
