import {
  type Face,
  findFaces,
  landmarksOf,
  type Person,
  type Pose,
  readPose,
  squareAround,
} from "./detectors.ts";
import { agreementGrid, personOf, type RivalMask, type Subject, sharedPart } from "./examine.ts";
import { HEAD_PER_FACE_HEIGHT, headOf } from "./head.ts";
import { type Grid, sampleMask } from "./masks.ts";
import { type Numbers, smoothStep } from "./pixels.ts";
import { distance, middleOf, type Point, type Rect } from "./rects.ts";
import { FACE_SCORE, PRESENCE } from "./scores.ts";

/** Side of the overlapping parts searched for small faces, as a fraction of the whole area searched. */
const FACE_SEARCH_PART = 0.6;
/**
 * A face this near to the player's raised hand, in head heights, is held by it, unless sure or with a body.
 */
const HELD_REACH_HEADS = 1.2;
/** A pose with at least this fraction of its mask within the player's is the player, found twice. */
const SAME_PERSON_PART = 0.5;

/** Other people's poses read per player; each takes a third of the time to find a player. */
const MAX_RIVAL_POSES = 4;
/** Masks of other people, nearest first; in front of a full stand, only the nearest can touch the player. */
const MAX_RIVALS = 12;
/** Faces below this fraction of the player's are in the stand: their heads are enough, without a pose. */
const MIN_POSED_FACE_PART = 0.35;

/** The box of somebody else's face, with the scores of face and body, 0 if not detected. */
export type RivalHead = Rect & { face: number; body: number };

/**
 * Finds the other people whose surroundings overlap the player's body: masks of the bodies that the pose
 * network sees and of head and shoulders around detected faces, and the boxes of their heads.
 * @param others people other than the player, with any poses already read, the most prominent first
 * @param faces detected in the whole picture
 */
export async function findRivals(
  picture: OffscreenCanvas,
  subject: Subject,
  others: { person: Person; pose: Pose | null }[],
  faces: Face[],
): Promise<{ masks: RivalMask[]; heads: RivalHead[] }> {
  const grid = agreementGrid(picture);
  const own = subject.pose && sampleMask(subject.pose.mask, grid);
  const masks: RivalMask[] = [];
  const heads: RivalHead[] = [];
  let poses = 0;
  const isPlayers = (pose: Pose) => {
    if (distance(headOf(pose).centre, subject.head.centre) < 0.5 * subject.head.height) return true;
    const theirs = sampleMask(pose.mask, grid);
    // A mask that covers the player's face covers the player, no matter whose head the pose has.
    if (isOn(theirs, grid, subject.head.centre)) return true;
    return own !== null && sharedPart(theirs, own) >= SAME_PERSON_PART;
  };
  const poseOf = async (person: Person, known: Pose | null = null) => {
    if (!known && poses++ >= MAX_RIVAL_POSES) return null;
    const pose = known ?? (await readPose(picture, person.crop));
    // The detector may have found the player twice.
    return pose.presence >= PRESENCE.person && !isPlayers(pose) ? pose : null;
  };
  for (const { person, pose: known } of others) {
    if (!isAround(person, subject.body)) continue;
    const pose = await poseOf(person, known);
    if (!pose) continue;
    masks.push(pose.mask);
    heads.push({ ...faceOf(pose), face: 0, body: person.score });
  }
  const playersFace = subject.face?.height ?? subject.head.height / HEAD_PER_FACE_HEIGHT;
  for (const face of await facesAround(picture, subject, faces)) {
    const known = heads.find(
      (head) => distance(middleOf(head), middleOf(face)) < Math.max(head.height, face.height),
    );
    if (known && face.score > known.face) Object.assign(known, face, { face: face.score });
    // Knees and badges look like small faces; anything on the player's own body is the player's.
    if (known || isOn(own, grid, middleOf(face)) || masks.length >= MAX_RIVALS) continue;
    const isLarge = face.height >= MIN_POSED_FACE_PART * playersFace;
    const pose = isLarge ? await poseOf(personOf(face)) : null;
    const isPerson = pose !== null && distance(headOf(pose).centre, middleOf(face)) < face.height;
    if (!isPerson && face.score < FACE_SCORE.inHand && isHeld(face, subject)) continue;
    heads.push({ ...face, face: face.score, body: 0 });
    if (pose && isPerson) masks.push(pose.mask);
    masks.push(headAndShoulders(face));
  }
  return { masks, heads };
}

/** Whether a face is near a raised hand of the player: trophies, helmets and rackets look like faces. */
function isHeld(face: Face, { pose, head }: Subject): boolean {
  if (!pose) return false;
  const reach = HELD_REACH_HEADS * head.height;
  // Lower hands, on handlebars or on shoulders, are often near the heads of people beside the player.
  const raised = Math.min(...landmarksOf(pose, "shoulders").map(({ y }) => y));
  return landmarksOf(pose, "hands").some(
    (point) => point.y < raised && point.visibility > 0.5 && distance(point, middleOf(face)) < reach,
  );
}

function faceOf(pose: Pose): Rect {
  const { centre, height } = headOf(pose);
  const side = height / HEAD_PER_FACE_HEIGHT;
  return { x: centre.x - side / 2, y: centre.y - side / 2, width: side, height: side };
}

function isOn(mask: Numbers | null, { width, height, step }: Grid, at: Point): boolean {
  const [column, row] = [Math.floor(at.x / step), Math.floor(at.y / step)];
  const isInside = column >= 0 && column < width && row >= 0 && row < height;
  return mask !== null && isInside && mask[row * width + column] > 0.5;
}

/** Whether somebody is so near that the two may overlap. */
function isAround({ crop: { cx, cy, width } }: Person, body: Rect): boolean {
  const apartX = Math.abs(cx - body.x - body.width / 2) - body.width / 2 - width / 2;
  const apartY = Math.abs(cy - body.y - body.height / 2) - body.height / 2 - width / 2;
  return apartX <= 0 && apartY <= 0;
}

/**
 * Other faces around the player's body, nearest first in units of their own height. The area is searched as a
 * whole and in four overlapping parts, in which the small faces of people further back are large enough to be
 * detected.
 * @param faces detected in the whole picture
 */
async function facesAround(picture: OffscreenCanvas, { body, head }: Subject, faces: Face[]) {
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
  const remoteness = (face: Face) => distance(middleOf(face), middle) / face.height;
  return others.sort((a, b) => remoteness(a) - remoteness(b));
}

/** Size of head and shoulders in sizes of the face, and their centre in its heights below its top. */
const HEAD_AND_SHOULDERS = { size: 3, centre: 0.8 };

/** A soft round mask over the head and shoulders that belong to a face. */
function headAndShoulders({ x, y, width, height }: Face): RivalMask {
  const cells = 16;
  const values = Float32Array.from({ length: cells * cells }, (_, i) => {
    const dx = ((i % cells) + 0.5) / cells - 0.5;
    const dy = (Math.floor(i / cells) + 0.5) / cells - 0.5;
    return 1 - smoothStep(2 * Math.hypot(dx, dy), 0.8, 1);
  });
  const { size, centre } = HEAD_AND_SHOULDERS;
  const crop = {
    cx: x + width / 2,
    cy: y + centre * height,
    width: size * width,
    height: size * height,
    rotation: 0,
  };
  return { values, width: cells, height: cells, crop, byFace: { x, y, width, height } };
}
