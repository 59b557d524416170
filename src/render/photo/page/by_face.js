import { findFaces, maskPeople, squareAround } from "./detectors.js";
import { examine, personOf } from "./examine.js";
import { distance, middleOf } from "./rects.js";
import { COVER, FACE_SCORE, PRESENCE } from "./scores.js";

/** @import { Photo } from "./decode.js" */
/** @import { Face } from "./detectors.js" */
/** @import { Chosen, Finding } from "./examine.js" */
/** @import { Mask } from "./masks.js" */
/** @import { Crop } from "./rects.js" */

/** How many faces are tried, the surest first. */
const MAX_CANDIDATES = 3;

/**
 * A player who is recognised by the face alone: in a close-up, bent over, or with the body hidden behind
 * something.
 * @param {Photo} photo @param {Face[]} faces
 * @returns {Promise<Chosen | null>}
 */
export async function playerOfFace({ search: picture }, faces) {
  for (const face of faces.slice(0, MAX_CANDIDATES)) {
    if (face.score < FACE_SCORE.tried) continue;
    const person = personOf(face);
    const finding = await examine(picture, person, faces);
    if (finding && isBodyOf(finding, face)) return { player: finding, person, others: [] };
    if (face.score < FACE_SCORE.bodiless) continue;
    const again = await findFaces(picture, squareAround(face, 1), FACE_SCORE.tried);
    if (again.length > 0) return { player: await examineFace(picture, face), person, others: [] };
  }
  return null;
}

/** @param {Finding} finding @param {Face} face */
function isBodyOf({ pose, cover, face: own, head }, face) {
  if (!pose || !own || own.score < FACE_SCORE.aboveBody) return false;
  const isThere = distance(head.centre, middleOf(face)) < 0.5 * face.height;
  return isThere && pose.presence >= PRESENCE.belowFace && cover >= COVER.belowFace;
}

/** The height assumed for a body of which only the face is known, in face heights. */
const BODY_PER_FACE = 3;

/**
 * The player is looked for in a rectangle of these many widths and heights of the face, with one height above
 * it: the closer the person mask looks, the finer it is. Where the body goes on below that, it looks at
 * MORE_BODY times as much.
 */
const AROUND_FACE = { width: 3, height: 4 };
const MORE_BODY = 2;
/**
 * A body goes on below its mask when it takes more than this part of the mask's lowest row and the photo goes
 * on for more than MIN_MORE_PHOTO, in heights of the face: networks see bodies go on a little where the photo
 * ends.
 */
const MIN_GOES_ON = 0.3;
const MIN_MORE_PHOTO = 0.5;
/** What is broader than so many heights of the face is not one body but two. */
const MAX_BREADTH = 5;

/**
 * Examines somebody of whom the face is found and no body: mostly a portrait close by, sometimes somebody in
 * wide or dark clothes.
 * @param {OffscreenCanvas} picture @param {Face} face
 * @returns {Promise<Finding>}
 */
async function examineFace(picture, face) {
  const people = await maskBelow(face, picture.height, (crop) => maskPeople(picture, crop));
  const body = {
    x: face.x - face.width / 2,
    y: face.y - face.height / 2,
    width: 2 * face.width,
    height: BODY_PER_FACE * face.height,
  };
  return {
    detector: 0,
    pose: null,
    people,
    body,
    face,
    head: { centre: middleOf(face), height: 1.5 * face.height },
    rivals: [],
    cover: 1,
  };
}

/**
 * The person mask around a face, with the body below it.
 * @param {Face} face @param {number} photoHeight
 * @param {(crop: Crop) => Promise<Mask>} mask runs the person mask network on a crop
 * @returns {Promise<Mask>}
 */
export async function maskBelow(face, photoHeight, mask) {
  const around = (/** @type {number} */ more) => {
    const width = more * AROUND_FACE.width * face.width;
    const height = more * AROUND_FACE.height * face.height;
    const x = face.x + (face.width - width) / 2;
    return squareAround({ x, y: face.y - face.height, width, height }, 0);
  };
  const near = around(1);
  const close = await mask(near);
  if (photoHeight - (near.cy + near.height / 2) <= MIN_MORE_PHOTO * face.height) return close;
  const lowest = close.values.slice(-close.width);
  const goesOn = lowest.filter((value) => value > 0.5).length > MIN_GOES_ON * close.width;
  if (!goesOn) return close;
  const wide = await mask(around(MORE_BODY));
  return breadth(wide) > MAX_BREADTH * face.height ? close : wide;
}

/** How much of its broadest row a mask takes, in the picture's pixels. @param {Mask} mask */
function breadth({ values, width, crop }) {
  let most = 0;
  for (let from = 0; from < values.length; from += width) {
    const row = values.subarray(from, from + width);
    most = Math.max(most, row.filter((value) => value > 0.5).length);
  }
  return (most / width) * crop.width;
}
