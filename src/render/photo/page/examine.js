import { bodyCrop, findFaces, findPeople, maskPeople, readPose, squareAround } from "./detectors.js";
import { boundsAbove, gridOver, sampleMask } from "./masks.js";
import { distance, middleOf, midpoint } from "./rects.js";

/** @import { Face, Person, Pose } from "./detectors.js" */
/** @import { Grid, Mask } from "./masks.js" */
/** @import { Numbers } from "./pixels.js" */
/** @import { Crop, Point, Rect } from "./rects.js" */

/**
 * Everything known about one person, in search pixels.
 * @typedef {object} Finding
 * @property {number} detector the person detector's score
 * @property {Pose | null} pose
 * @property {Mask} people the person mask network's output around the body
 * @property {Rect} body
 * @property {Face | null} face
 * @property {{ centre: Point, height: number }} head
 * @property {RivalMask[]} rivals bodies or heads of other people who may overlap the
 *   player
 * @property {boolean} [inCompany] whether others are so prominent that it is unclear whose photo it is
 * @property {number} cover the part of the pose's mask that the person mask agrees with
 */

/**
 * @typedef {Mask & { byFace?: Rect }} RivalMask of a body, or of head and shoulders around a detected face,
 *   `byFace`
 */

/**
 * Who is taken as the player of a photo, before the checks of size, light and company.
 * @typedef {object} Chosen
 * @property {Finding} player
 * @property {Person | null} person how the detector saw the player
 * @property {{ person: Person, finding: Finding }[]} others the other contenders
 */

const MIN_PRESENCE = 0.5;

/** Cells on the longer side of the grid on which the agreement of masks is measured. */
const COVER_GRID_CELLS = 200;

/** From this score on, a face counts as seen. */
export const SEEN_FACE_SCORE = 0.6;
/** From this score on, a face in the close-up of the head is the player's own. */
export const OWN_FACE_SCORE = 0.35;
/**
 * A close-up without a sure face is followed by one this much wider, because helmets and hair shift the
 * head's centre.
 */
const WIDER_CLOSE_UP = 1.5;

/** A head is in the picture if at least this many of its eleven points are. */
const MIN_HEAD_POINTS_INSIDE = 7;

/** The height assumed for a body of which only the face is known, in face heights. */
const BODY_PER_FACE = 3;

/** A face belongs to a head if their centres are closer than this part of the head's height. */
const SAME_HEAD_PART = 0.7;

/**
 * Finds one person's pose, mask and face; null if the pose network sees nobody there.
 * @param {OffscreenCanvas} picture
 * @param {Person} person
 * @param {Face[]} faces those found in the whole picture
 * @param {boolean} carefully use the larger pose network
 * @returns {Promise<Finding | null>}
 */
export async function examine(picture, person, faces, carefully = false) {
  const pose = await readPose(picture, person.crop, carefully);
  if (pose.presence < MIN_PRESENCE) return null;
  const grid = coverGrid(picture);
  const posed = sampleMask(pose.mask, grid);
  const cells = boundsAbove(posed, grid.width, 0.5);
  if (!cells) return null;
  const body = {
    x: cells.x * grid.step,
    y: cells.y * grid.step,
    width: cells.width * grid.step,
    height: cells.height * grid.step,
  };
  const people = await maskPeople(picture, squareAround(body, 0.15));
  const head = headOf(pose);
  return {
    detector: person.score,
    pose,
    people,
    body,
    face: await ownFace(picture, head, faces),
    head,
    rivals: [],
    cover: sharedPart(posed, sampleMask(people, grid)),
  };
}

/**
 * The face of a head: the surest one from one or two close-ups and, unless they clearly show it, the whole
 * picture.
 * @param {OffscreenCanvas} picture
 * @param {{ centre: Point, height: number, closeUp: number }} head
 * @param {Face[]} faces
 */
async function ownFace(picture, { centre, height, closeUp }, faces) {
  const isOwn = (/** @type {Face} */ face) => distance(middleOf(face), centre) < SAME_HEAD_PART * height;
  /** @type {Face | null} */
  let best = null;
  for (const zoom of [1, WIDER_CLOSE_UP]) {
    if (best && best.score >= SEEN_FACE_SCORE) break;
    const side = zoom * closeUp;
    const crop = { cx: centre.x, cy: centre.y, width: side, height: side, rotation: 0 };
    const face = (await findFaces(picture, crop, 0.1)).find(isOwn);
    if (face && (!best || face.score > best.score)) best = face;
  }
  if (best && best.score >= SEEN_FACE_SCORE) return best;
  const seen = faces.find(isOwn);
  return seen && (!best || seen.score > best.score) ? seen : best;
}

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
export async function examineFace(picture, face) {
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
 * @param {Face} face
 * @param {number} photoHeight
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

/**
 * From a face's centre to the hips, and from the hips to the circle around the body, in heights of the face's
 * box.
 */
const HIPS_BELOW_FACE = 3.6;
const CIRCLE_PER_FACE = 5.2;

/** The person a face would belong to, with the body upright below it. @param {Face} face @returns {Person} */
export function personOf(face) {
  const { x, y } = middleOf(face);
  const hips = { x, y: y + HIPS_BELOW_FACE * face.height };
  const top = { x, y: hips.y - CIRCLE_PER_FACE * face.height };
  return { score: face.score, head: face, crop: bodyCrop(hips, top) };
}

/**
 * The person detector's score on a close-up of a body, 0 if it sees nobody.
 * @param {OffscreenCanvas} picture @param {Rect} body
 */
export async function detectAgain(picture, body) {
  const again = await findPeople(picture, squareAround(body, 0.3), 0.1);
  return again[0]?.score ?? 0;
}

/**
 * The head's centre, from the eleven face landmarks; its height and the side of its close-up, from the
 * shoulders' width or the trunk's length, whichever appears longer. In search pixels.
 * @param {Pose} pose
 */
export function headOf({ points }) {
  const at = (/** @type {number} */ i) => /** @type {Point} */ (points[i]);
  const ofFace = points.slice(0, 11);
  const centre = {
    x: ofFace.reduce((sum, point) => sum + point.x, 0) / ofFace.length,
    y: ofFace.reduce((sum, point) => sum + point.y, 0) / ofFace.length,
  };
  const shoulders = midpoint(at(11), at(12));
  const hips = midpoint(at(23), at(24));
  const closeUp =
    1.6 * Math.max(24, 1.6 * Math.max(distance(at(11), at(12)), 0.55 * distance(shoulders, hips)));
  return { centre, height: closeUp / 2.6, closeUp };
}

/**
 * Whether a pose's head is in the picture: a card needs one.
 * @param {Pose} pose
 * @param {OffscreenCanvas} picture
 */
export function hasHeadInside({ points }, { width, height }) {
  const inside = points.slice(0, 11).filter(({ x, y }) => x >= 0 && y >= 0 && x <= width && y <= height);
  return inside.length >= MIN_HEAD_POINTS_INSIDE;
}

/** @param {OffscreenCanvas} picture @returns {Grid} */
export const coverGrid = (picture) => gridOver(picture, COVER_GRID_CELLS, Math.ceil);

/**
 * The part of the first mask's cells that is also in the second mask.
 * @param {Numbers} one
 * @param {Numbers} other
 */
export function sharedPart(one, other) {
  let cells = 0;
  let shared = 0;
  for (let i = 0; i < one.length; i++) {
    if (one[i] <= 0.5) continue;
    cells++;
    if (other[i] > 0.5) shared++;
  }
  return cells > 0 ? shared / cells : 0;
}
