import { findFaces, readPose, squareAround, wholePicture } from "./detectors.js";
import { between } from "./examine.js";

/** @import { Face, Person } from "./detectors.js" */

/**
 * Whether a photo has to be turned: by so many clockwise quarters, or that it lies and nobody can say which way is up.
 * @typedef {{ quarters: 0 | 1 | 2 | 3 } | { refusal: "sideways" }} Turn
 */

/**
 * Of 200 upright players one in fifty lies further over than the first of these: crouching, diving, in a somersault.
 * Nine of ten stand within 16 degrees of the photo's upright.
 */
const UPRIGHT_WITHIN = degrees(60);
const TURNED_WITHIN = degrees(16);
/** Players who lean are turned too when the face leaves no doubt: this sure, so much surer, and this upright afterwards. */
const LEANING_WITHIN = degrees(32);
const LEANING_FACE = { score: 0.65, gain: 0.25, roll: degrees(20) };

/** The face of a turned photo is this sure once it is upright, ... */
const SURE_FACE_SCORE = 0.6;
/** ... so much surer than before, for the networks see lying faces too, and its own upright is the photo's. */
const FACE_GAIN = 0.1;
const FACE_UPRIGHT_WITHIN = degrees(35);
/** Below this the head shows no face either way. */
const ANY_FACE_SCORE = 0.4;
/** Towers and ships lie on their sides as well: only a sure pose is told that it does. */
const SURE_PRESENCE = 0.95;
/** Without a body beside it, a face has to be clearer before a photo is turned for its sake. */
const LONE_FACE_SCORE = 0.8;
const LONE_FACE_GAIN = 0.2;

/** The head's surroundings that are searched for its face, as parts of the person detector's box around the face. */
const HEAD_MARGINS = [0.75, 1.5, 2.5];

/**
 * Most photos are answered by the body's axis alone, which costs nothing. Where the body lies, the face has to agree:
 * a goalkeeper in the air and a tackle stay as they are.
 * @param {OffscreenCanvas} picture @param {Person | undefined} person the most prominent one @param {Face[]} faces
 * @returns {Promise<Turn>}
 */
export async function findTurn(picture, person, faces) {
  if (!person) return turnOfLoneFace(picture, faces);
  const axis = wrapped(person.crop.rotation);
  if (Math.abs(axis) < UPRIGHT_WITHIN) return { quarters: 0 };
  const quarters = /** @type {1 | 2 | 3} */ ((4 - Math.round(axis / degrees(90))) % 4 || 2);
  const lean = Math.abs(wrapped(axis + quarters * degrees(90)));
  if (lean > LEANING_WITHIN) return { quarters: 0 };
  const before = await faceOf(picture, person, 0);
  const after = await faceOf(picture, person, quarters);
  if (after.best < ANY_FACE_SCORE) return { quarters: 0 };
  if (lean > TURNED_WITHIN) {
    const { score, gain, roll } = LEANING_FACE;
    const leans = after.score >= score && after.score >= before.score + gain;
    return { quarters: leans && after.roll <= roll ? quarters : 0 };
  }
  // Upside down the face network is hardly less sure; there the axis alone is telling.
  const gains = quarters === 2 || after.score >= before.score + FACE_GAIN;
  if (!gains) return { quarters: 0 };
  const isSure = after.best >= SURE_FACE_SCORE && after.roll <= FACE_UPRIGHT_WITHIN;
  if (isSure) return { quarters };
  const { presence } = await readPose(picture, person.crop);
  return presence >= SURE_PRESENCE ? { refusal: "sideways" } : { quarters: 0 };
}

/**
 * The surest face of a head in a photo turned so, and how sure it is in the mean: of one crop alone lying faces can be sure.
 * @param {OffscreenCanvas} picture @param {Person} person @param {number} quarters
 */
async function faceOf(picture, { head }, quarters) {
  /** @type {Face | undefined} */
  let best;
  let sum = 0;
  for (const margin of HEAD_MARGINS) {
    const crop = { ...squareAround(head, margin), rotation: -quarters * degrees(90) };
    const face = (await findFaces(picture, crop, 0.1))[0];
    sum += face?.score ?? 0;
    if (face && face.score > (best?.score ?? 0)) best = face;
  }
  return {
    score: sum / HEAD_MARGINS.length,
    best: best?.score ?? 0,
    roll: best ? Math.abs(rollOf(best)) : 0,
  };
}

/** A close-up without a body. @param {OffscreenCanvas} picture @param {Face[]} faces @returns {Promise<Turn>} */
async function turnOfLoneFace(picture, faces) {
  const before = faces[0]?.score ?? 0;
  if (before >= LONE_FACE_SCORE - LONE_FACE_GAIN) return { quarters: 0 };
  for (const quarters of /** @type {const} */ ([1, 3])) {
    const crop = { ...wholePicture(picture), rotation: -quarters * degrees(90) };
    const face = (await findFaces(picture, crop, LONE_FACE_SCORE))[0];
    if (face && face.score >= before + LONE_FACE_GAIN && Math.abs(rollOf(face)) <= FACE_UPRIGHT_WITHIN)
      return { quarters };
  }
  return { quarters: 0 };
}

/** How far a face leans, from the middle of its eyes to its mouth. @param {Face} face */
function rollOf({ points: [left, right, , mouth] }) {
  if (!left || !right || !mouth) return 0;
  const eyes = between(left, right);
  return Math.atan2(eyes.x - mouth.x, mouth.y - eyes.y);
}

/** @param {number} value */
function degrees(value) {
  return (value * Math.PI) / 180;
}

/** @param {number} angle @returns {number} between minus and plus pi */
function wrapped(angle) {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}
