import type { Quarters } from "./decode.ts";
import { type Face, findFaces, type Person, readPose, squareAround, wholePicture } from "./detectors.ts";
import { centroid } from "./rects.ts";
import { FACE_SCORE, PRESENCE } from "./scores.ts";

/** How to turn a photo; or "sideways" when the player lies and no clear face tells which way is up. */
export type Turn = { quarters: Quarters } | { refusal: "sideways" };

/** The networks that say how a photo lies. */
type Networks = Pick<typeof import("./detectors.ts"), "findFaces" | "readPose">;

/** Few upright players lean further (crouching, diving); most stand within TURNED_WITHIN. */
const UPRIGHT_WITHIN = degrees(60);
const TURNED_WITHIN = degrees(16);
/**
 * A player who leans more than that after the turn is turned only when the face leaves no doubt: it then
 * scores this much more than before, and leans at most this much.
 */
const LEANING_WITHIN = degrees(32);
const LEANING_FACE = { gain: 0.25, roll: degrees(20) };

/**
 * Once its photo is turned the right way, a face is upright in it and scores this much more than before: the
 * networks see lying faces too. When no body is detected, it gains more.
 */
const FACE_GAIN = 0.1;
const LONE_FACE_GAIN = 0.2;
const FACE_UPRIGHT_WITHIN = degrees(35);

/** Margins within which a face is searched for, as fractions of the person detector's box around the face. */
const HEAD_MARGINS = [0.75, 1.5, 2.5];

/**
 * Decides how to turn a photo. For most, the body's axis alone decides, at no cost. When the body lies, the
 * face has to agree: goalkeepers in mid-air and tackles stay as they are.
 * @param person the most prominent one
 */
export async function findTurn(
  picture: OffscreenCanvas,
  person: Person | undefined,
  faces: Face[],
  networks: Networks = { findFaces, readPose },
): Promise<Turn> {
  if (!person) return turnOfLoneFace(picture, faces, networks);
  const axis = wrapped(person.crop.rotation);
  if (Math.abs(axis) < UPRIGHT_WITHIN) return { quarters: 0 };
  const quarters = ((4 - Math.round(axis / degrees(90))) % 4) as 1 | 2 | 3;
  const lean = Math.abs(wrapped(axis + quarters * degrees(90)));
  if (lean > LEANING_WITHIN) return { quarters: 0 };
  const after = await faceOf(picture, person, quarters, networks);
  if (after.best < FACE_SCORE.onceTurned) return { quarters: 0 };
  const gains = async (gain: number) =>
    after.score >= (await faceOf(picture, person, 0, networks)).score + gain;
  if (lean > TURNED_WITHIN) {
    const { gain, roll } = LEANING_FACE;
    const isClear = after.score >= FACE_SCORE.leaning && after.roll <= roll;
    return { quarters: isClear && (await gains(gain)) ? quarters : 0 };
  }
  // The face network is hardly less sure of faces upside down, so there the axis alone decides.
  if (quarters !== 2 && !(await gains(FACE_GAIN))) return { quarters: 0 };
  const isSure = after.best >= FACE_SCORE.upright && after.roll <= FACE_UPRIGHT_WITHIN;
  if (isSure) return { quarters };
  const { presence } = await networks.readPose(picture, person.crop);
  return presence >= PRESENCE.sideways ? { refusal: "sideways" } : { quarters: 0 };
}

/** A head's best face with the photo turned; `score` is the mean of all crops: one can be wrong. */
async function faceOf(
  picture: OffscreenCanvas,
  { head }: Person,
  quarters: Quarters,
  { findFaces }: Networks,
): Promise<{ score: number; best: number; roll: number }> {
  let best: Face | undefined;
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

/** How to turn a close-up in which no body is detected. */
async function turnOfLoneFace(
  picture: OffscreenCanvas,
  faces: Face[],
  { findFaces }: Networks,
): Promise<Turn> {
  if ((faces[0]?.score ?? 0) >= FACE_SCORE.lone - LONE_FACE_GAIN) return { quarters: 0 };
  for (const quarters of [1, 3] as const) {
    const crop = { ...wholePicture(picture), rotation: -quarters * degrees(90) };
    const face = (await findFaces(picture, crop, FACE_SCORE.lone))[0];
    if (face && Math.abs(rollOf(face)) <= FACE_UPRIGHT_WITHIN) return { quarters };
  }
  return { quarters: 0 };
}

/** How far the line from a face's mouth to the middle of its eyes leans, in radians clockwise. */
function rollOf({ points: [left, right, , mouth] }: Face): number {
  if (!left || !right || !mouth) return 0;
  const eyes = centroid([left, right]);
  return Math.atan2(eyes.x - mouth.x, mouth.y - eyes.y);
}

function degrees(value: number): number {
  return (value * Math.PI) / 180;
}

/** The same angle, between minus pi and pi. */
function wrapped(angle: number): number {
  return Math.atan2(Math.sin(angle), Math.cos(angle));
}
