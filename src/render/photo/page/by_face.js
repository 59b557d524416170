import { findFaces, squareAround } from "./detectors.js";
import { examine, examineFace, personOf } from "./examine.js";
import { distance, middleOf } from "./rects.js";

/** @import { Photo } from "./decode.js" */
/** @import { Face } from "./detectors.js" */
/** @import { Chosen, Finding } from "./examine.js" */

/** How many faces are tried, the surest first. */
const MAX_CANDIDATES = 3;
/**
 * From this score in the whole photo on, a face needs no body to confirm it, only a close-up. Dogs score up
 * to 0.74, and nothing in the close-up.
 */
const BODILESS_FACE_SCORE = 0.75;
/** No body is looked for below faces with a lower score; a confirming close-up must reach it too. */
const TRIED_FACE_SCORE = 0.45;
/** Least score in its close-up for a face with a body right below it. */
const BODILY_FACE_SCORE = 0.55;

/**
 * A player who is recognised by the face alone: in a close-up, bent over, or with the body hidden behind
 * something.
 * @param {Photo} photo @param {Face[]} faces
 * @returns {Promise<Chosen | null>}
 */
export async function playerOfFace({ search: picture }, faces) {
  for (const face of faces.slice(0, MAX_CANDIDATES)) {
    if (face.score < TRIED_FACE_SCORE) continue;
    const person = personOf(face);
    const finding = await examine(picture, person, faces);
    if (finding && isBodyOf(finding, face)) return { player: finding, person, others: [] };
    if (face.score < BODILESS_FACE_SCORE) continue;
    const again = await findFaces(picture, squareAround(face, 1), TRIED_FACE_SCORE);
    if (again.length > 0) return { player: await examineFace(picture, face), person, others: [] };
  }
  return null;
}

/** @param {Finding} finding @param {Face} face */
function isBodyOf({ pose, cover, face: own, head }, face) {
  if (!pose || !own || own.score < BODILY_FACE_SCORE) return false;
  const isThere = distance(head.centre, middleOf(face)) < 0.5 * face.height;
  return isThere && pose.presence >= 0.95 && cover >= 0.75;
}
