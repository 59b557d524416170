import {
  bodyCrop,
  findFaces,
  findPeople,
  landmarksOf,
  maskPeople,
  readPose,
  squareAround,
} from "./detectors.js";
import { boundsOn, gridOver, sampleMask } from "./masks.js";
import { centroid, distance, middleOf, squareAt } from "./rects.js";
import { FACE_SCORE, PERSON_SCORE, PRESENCE } from "./scores.js";

/** @import { Face, Landmark, Person, Pose } from "./detectors.js" */
/** @import { Grid, Mask } from "./masks.js" */
/** @import { Numbers } from "./pixels.js" */
/** @import { Point, Rect } from "./rects.js" */

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

/** Cells on the longer side of the grid on which the agreement of masks is measured. */
const COVER_GRID_CELLS = 200;

/**
 * A close-up without a sure face is followed by one this much wider, because helmets and hair shift the
 * head's centre.
 */
const WIDER_CLOSE_UP = 1.5;

/** A head is in the picture if at least this many of its eleven points are. */
const MIN_HEAD_POINTS_INSIDE = 7;

/** A face belongs to a head if their centres are closer than this part of the head's height. */
const SAME_HEAD_PART = 0.7;

/**
 * Finds one person's pose, mask and face; null if the pose network sees nobody there.
 * @param {OffscreenCanvas} picture @param {Person} person
 * @param {Face[]} faces those found in the whole picture
 * @param {boolean} carefully use the larger pose network
 * @returns {Promise<Finding | null>}
 */
export async function examine(picture, person, faces, carefully = false) {
  const pose = await readPose(picture, person.crop, carefully);
  if (pose.presence < PRESENCE.person) return null;
  const grid = coverGrid(picture);
  const posed = sampleMask(pose.mask, grid);
  const body = boundsOn(grid, posed);
  if (!body) return null;
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
 * @param {OffscreenCanvas} picture @param {{ centre: Point, height: number, closeUp: number }} head
 * @param {Face[]} faces
 */
async function ownFace(picture, { centre, height, closeUp }, faces) {
  const isOwn = (/** @type {Face} */ face) => distance(middleOf(face), centre) < SAME_HEAD_PART * height;
  /** @type {Face | null} */
  let best = null;
  for (const zoom of [1, WIDER_CLOSE_UP]) {
    if (best && best.score >= FACE_SCORE.seen) break;
    const crop = squareAt(centre, zoom * closeUp);
    const face = (await findFaces(picture, crop, FACE_SCORE.inCloseUp)).find(isOwn);
    if (face && (!best || face.score > best.score)) best = face;
  }
  if (best && best.score >= FACE_SCORE.seen) return best;
  const seen = faces.find(isOwn);
  return seen && (!best || seen.score > best.score) ? seen : best;
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
  const again = await findPeople(picture, squareAround(body, 0.3), PERSON_SCORE.inCloseUp);
  return again[0]?.score ?? 0;
}

/**
 * The head's centre, from the eleven face landmarks; its height and the side of its close-up, from the
 * shoulders' width or the trunk's length, whichever appears longer. In search pixels.
 * @param {Pose} pose
 */
export function headOf(pose) {
  const shoulders = /** @type {[Landmark, Landmark]} */ (landmarksOf(pose, "shoulders"));
  const trunk = distance(centroid(shoulders), centroid(landmarksOf(pose, "hips")));
  const closeUp = 1.6 * Math.max(24, 1.6 * Math.max(distance(...shoulders), 0.55 * trunk));
  return { centre: centroid(landmarksOf(pose, "face")), height: closeUp / 2.6, closeUp };
}

/**
 * Whether a pose's head is in the picture: a card needs one.
 * @param {Pose} pose @param {OffscreenCanvas} picture
 */
export function hasHeadInside(pose, { width, height }) {
  const isInside = (/** @type {Point} */ { x, y }) => x >= 0 && y >= 0 && x <= width && y <= height;
  const inside = landmarksOf(pose, "face").filter(isInside);
  return inside.length >= MIN_HEAD_POINTS_INSIDE;
}

/** @param {OffscreenCanvas} picture @returns {Grid} */
export const coverGrid = (picture) => gridOver(picture, COVER_GRID_CELLS, Math.ceil);

/**
 * The part of the first mask's cells that is also in the second mask.
 * @param {Numbers} one @param {Numbers} other
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
