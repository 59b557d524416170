import { findFaces, readPose, squareAround, wholePicture } from "./detectors.js";
import { centroid } from "./rects.js";
import { FACE_SCORE, PRESENCE } from "./scores.js";

/** @import { Face, Person } from "./detectors.js" */

/**
 * How a photo has to be turned, in clockwise quarter turns; or "sideways" when the player lies and no clear
 * face tells which way is up.
 * @typedef {{ quarters: 0 | 1 | 2 | 3 } | { refusal: "sideways" }} Turn
 */

/**
 * Few upright players lean further than UPRIGHT_WITHIN: crouching, diving, in a somersault. Most stand within
 * TURNED_WITHIN of the vertical.
 */
const UPRIGHT_WITHIN = degrees(60);
const TURNED_WITHIN = degrees(16);
/**
 * A player who leans more than that after the turn is turned only when the face leaves no doubt: it then
 * scores this much more than before, and leans at most this much.
 */
const LEANING_WITHIN = degrees(32);
const LEANING_FACE = { gain: 0.25, roll: degrees(20) };

/**
 * Once its photo is turned the right way, a face scores this much more than before, since the networks see
 * lying faces too; and it is upright in the photo. When no body is detected, it gains more.
 */
const FACE_GAIN = 0.1;
const LONE_FACE_GAIN = 0.2;
const FACE_UPRIGHT_WITHIN = degrees(35);

/** Margins within which a face is searched for, as fractions of the person detector's box around the face. */
const HEAD_MARGINS = [0.75, 1.5, 2.5];

/**
 * Decides how to turn a photo. For most, the body's axis alone decides, at no cost. When the body lies, the
 * face has to agree: goalkeepers in mid-air and tackles stay as they are.
 * @param {OffscreenCanvas} picture
 * @param {Person | undefined} person the most prominent one
 * @param {Face[]} faces
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
  if (after.best < FACE_SCORE.onceTurned) return { quarters: 0 };
  if (lean > TURNED_WITHIN) {
    const { gain, roll } = LEANING_FACE;
    const leans = after.score >= FACE_SCORE.leaning && after.score >= before.score + gain;
    return { quarters: leans && after.roll <= roll ? quarters : 0 };
  }
  // The face network is hardly less sure of faces upside down, so there the axis alone decides.
  const gains = quarters === 2 || after.score >= before.score + FACE_GAIN;
  if (!gains) return { quarters: 0 };
  const isSure = after.best >= FACE_SCORE.upright && after.roll <= FACE_UPRIGHT_WITHIN;
  if (isSure) return { quarters };
  const { presence } = await readPose(picture, person.crop);
  return presence >= PRESENCE.sideways ? { refusal: "sideways" } : { quarters: 0 };
}

/**
 * The score and lean of a head's best face with the photo turned, and the mean score over all crops: in a
 * single crop, even a lying face can score high.
 * @param {OffscreenCanvas} picture @param {Person} person @param {number} quarters
 */
async function faceOf(picture, { head }, quarters) {
  /** @type {Face | undefined} */
  let best;
  let sum = 0;
  for (const margin of HEAD_MARGINS) {
    const crop = { ...squareAround(head, margin), rotation: -quarters * degrees(90) };
    const face = (await findFaces(picture, crop, FACE_SCORE.inCloseUp))[0];
    sum += face?.score ?? 0;
    if (face && face.score > (best?.score ?? 0)) best = face;
  }
  return {
    score: sum / HEAD_MARGINS.length,
    best: best?.score ?? 0,
    roll: best ? Math.abs(rollOf(best)) : 0,
  };
}

/**
 * How to turn a close-up in which no body is detected.
 * @param {OffscreenCanvas} picture @param {Face[]} faces
 * @returns {Promise<Turn>}
 */
async function turnOfLoneFace(picture, faces) {
  const before = faces[0]?.score ?? 0;
  if (before >= FACE_SCORE.lone - LONE_FACE_GAIN) return { quarters: 0 };
  for (const quarters of /** @type {const} */ ([1, 3])) {
    const crop = { ...wholePicture(picture), rotation: -quarters * degrees(90) };
    const face = (await findFaces(picture, crop, FACE_SCORE.lone))[0];
    if (face && face.score >= before + LONE_FACE_GAIN && Math.abs(rollOf(face)) <= FACE_UPRIGHT_WITHIN)
      return { quarters };
  }
  return { quarters: 0 };
}

/**
 * How far the line from a face's mouth to the middle of its eyes leans, in radians clockwise.
 * @param {Face} face
 */
function rollOf({ points: [left, right, , mouth] }) {
  if (!left || !right || !mouth) return 0;
  const eyes = centroid([left, right]);
  return Math.atan2(eyes.x - mouth.x, mouth.y - eyes.y);
}

/** @param {number} value */
function degrees(value) {
  return (value * Math.PI) / 180;
}

/** @param {number} angle @returns {number} the same angle, between minus pi and pi */
function wrapped(angle) {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}
