import { findFaces, landmarksOf, readPose, squareAround } from "./detectors.js";
import { coverGrid, headOf, personOf, sharedPart } from "./examine.js";
import { sampleMask } from "./masks.js";
import { smoothStep } from "./pixels.js";
import { distance, middleOf } from "./rects.js";
import { FACE_SCORE, PRESENCE } from "./scores.js";

/** @import { Face, Person, Pose } from "./detectors.js" */
/** @import { Finding, RivalMask } from "./examine.js" */
/** @import { Grid } from "./masks.js" */
/** @import { Numbers } from "./pixels.js" */
/** @import { Point, Rect } from "./rects.js" */

/** Side of the overlapping parts searched for small faces, as a fraction of the whole area searched. */
const FACE_SEARCH_PART = 0.6;
/**
 * A face seen within this many head heights of the player's raised hand is what the hand holds, unless it is
 * sure or has a body.
 */
const HELD_REACH_HEADS = 1.2;
/** A pose with at least this fraction of its mask within the player's is the player, found twice. */
const SAME_PERSON_PART = 0.5;

/**
 * Other people's poses read per player, nearest and largest first; each takes a third of the time to find a
 * player.
 */
const MAX_RIVAL_POSES = 4;
/** Masks of other people, nearest first; in front of a full stand, only the nearest can touch the player. */
const MAX_RIVALS = 12;
/** Faces below this fraction of the player's are in the stand: their heads are enough, without a pose. */
const MIN_POSED_FACE_PART = 0.35;

/**
 * Somebody else's head, as the box a face detector would return for it.
 * @typedef {Rect & { face: number, body: number }} RivalHead with the scores of face and body, 0 if not
 *   detected
 */

/**
 * Finds the other people whose surroundings overlap the player's body: masks of the bodies that the pose
 * network sees and of head and shoulders around detected faces, and the boxes of their heads.
 * @param {OffscreenCanvas} picture @param {Finding} finding
 * @param {{ person: Person, pose: Pose | null }[]} others people other than the player, with any poses
 *   already read
 * @param {Face[]} faces detected in the whole picture
 * @returns {Promise<{ masks: RivalMask[], heads: RivalHead[] }>}
 */
export async function findRivals(picture, finding, others, faces) {
  const grid = coverGrid(picture);
  const own = finding.pose && sampleMask(finding.pose.mask, grid);
  /** @type {RivalMask[]} */
  const masks = [];
  /** @type {RivalHead[]} */
  const heads = [];
  let poses = 0;
  const isPlayers = (/** @type {Pose} */ pose) => {
    if (distance(headOf(pose).centre, finding.head.centre) < 0.5 * finding.head.height) return true;
    const theirs = sampleMask(pose.mask, grid);
    // A mask that covers the player's face covers the player, no matter whose head the pose has.
    if (isOn(theirs, grid, finding.head.centre)) return true;
    return own !== null && sharedPart(theirs, own) >= SAME_PERSON_PART;
  };
  const poseOf = async (/** @type {Person} */ person, /** @type {Pose | null} */ known = null) => {
    if (!known && poses++ >= MAX_RIVAL_POSES) return null;
    const pose = known ?? (await readPose(picture, person.crop));
    // The detector may have found the player twice.
    return pose.presence >= PRESENCE.person && !isPlayers(pose) ? pose : null;
  };
  for (const { person, pose: known } of others) {
    if (!isAround(person, finding.body)) continue;
    const pose = await poseOf(person, known);
    if (!pose) continue;
    masks.push(pose.mask);
    heads.push({ ...faceOf(pose), face: 0, body: person.score });
  }
  const playersFace = finding.face?.height ?? finding.head.height / HEAD_PER_FACE;
  for (const face of await facesAround(picture, finding, faces)) {
    const known = heads.find(
      (head) => distance(middleOf(head), middleOf(face)) < Math.max(head.height, face.height),
    );
    if (known && face.score > known.face) Object.assign(known, face, { face: face.score });
    // Knees and badges look like small faces; anything on the player's own body is the player's.
    if (known || isOn(own, grid, middleOf(face)) || masks.length >= MAX_RIVALS) continue;
    const isLarge = face.height >= MIN_POSED_FACE_PART * playersFace;
    const pose = isLarge ? await poseOf(personOf(face)) : null;
    const isPerson = pose !== null && distance(headOf(pose).centre, middleOf(face)) < face.height;
    if (!isPerson && face.score < FACE_SCORE.inHand && isHeld(face, finding)) continue;
    heads.push({ ...face, face: face.score, body: 0 });
    if (pose && isPerson) masks.push(pose.mask);
    masks.push(headAndShoulders(face));
  }
  return { masks, heads };
}

/**
 * Whether a face is near a raised hand of the player: trophies, helmets and rackets look like faces.
 * @param {Face} face @param {Finding} finding
 */
function isHeld(face, { pose, head }) {
  if (!pose) return false;
  const reach = HELD_REACH_HEADS * head.height;
  // Lower hands, on handlebars or on shoulders, are often near the heads of people beside the player.
  const raised = Math.min(...landmarksOf(pose, "shoulders").map(({ y }) => y));
  return landmarksOf(pose, "hands").some(
    (point) => point.y < raised && point.visibility > 0.5 && distance(point, middleOf(face)) < reach,
  );
}

/** Height of a pose's head, relative to the box of its face. */
const HEAD_PER_FACE = 1.6;

/** @param {Pose} pose @returns {Rect} */
function faceOf(pose) {
  const { centre, height } = headOf(pose);
  const side = height / HEAD_PER_FACE;
  return { x: centre.x - side / 2, y: centre.y - side / 2, width: side, height: side };
}

/** @param {Numbers | null} mask @param {Grid} grid @param {Point} at */
function isOn(mask, { width, height, step }, at) {
  const [column, row] = [Math.floor(at.x / step), Math.floor(at.y / step)];
  const isInside = column >= 0 && column < width && row >= 0 && row < height;
  return mask !== null && isInside && mask[row * width + column] > 0.5;
}

/** Whether somebody is so near that the two may overlap. @param {Person} person @param {Rect} body */
function isAround({ crop: { cx, cy, width } }, body) {
  const apartX = Math.abs(cx - body.x - body.width / 2) - body.width / 2 - width / 2;
  const apartY = Math.abs(cy - body.y - body.height / 2) - body.height / 2 - width / 2;
  return apartX <= 0 && apartY <= 0;
}

/**
 * Other faces around the player's body, nearest first in units of their own height. The area is searched as a
 * whole and in four overlapping parts, in which the small faces of people further back are large enough to be
 * detected.
 * @param {OffscreenCanvas} picture @param {Finding} finding
 * @param {Face[]} faces detected in the whole picture
 * @returns {Promise<Face[]>}
 */
async function facesAround(picture, { body, head }, faces) {
  const all = squareAround(body, 0.3);
  const side = FACE_SEARCH_PART * all.width;
  const away = (all.width - side) / 2;
  const parts = [-away, away].flatMap((dy) =>
    [-away, away].map((dx) => ({ ...all, cx: all.cx + dx, cy: all.cy + dy, width: side, height: side })),
  );
  const found = faces.filter(({ score }) => score >= FACE_SCORE.rival);
  for (const crop of [all, ...parts]) found.push(...(await findFaces(picture, crop, FACE_SCORE.rival)));
  const others = found.filter((face) => distance(middleOf(face), head.centre) > head.height);
  const middle = middleOf(body);
  const remoteness = (/** @type {Face} */ face) => distance(middleOf(face), middle) / face.height;
  return others.sort((a, b) => remoteness(a) - remoteness(b));
}

/**
 * A soft round mask over the head and shoulders that belong to a face.
 * @param {Face} face
 * @returns {RivalMask}
 */
function headAndShoulders({ x, y, width, height }) {
  const size = 16;
  const values = Float32Array.from({ length: size * size }, (_, i) => {
    const dx = ((i % size) + 0.5) / size - 0.5;
    const dy = (Math.floor(i / size) + 0.5) / size - 0.5;
    return 1 - smoothStep(2 * Math.hypot(dx, dy), 0.8, 1);
  });
  const crop = { cx: x + width / 2, cy: y + 0.8 * height, width: 3 * width, height: 3 * height, rotation: 0 };
  return { values, width: size, height: size, crop, byFace: { x, y, width, height } };
}
