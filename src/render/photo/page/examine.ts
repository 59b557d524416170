import {
  bodyCrop,
  type Face,
  findFaces,
  findPeople,
  landmarksOf,
  maskPeople,
  type Person,
  type Pose,
  readPose,
  squareAround,
} from "./detectors.ts";
import { type Head, headOf } from "./head.ts";
import { boundsOn, type Grid, gridOver, type Mask, sampleMask } from "./masks.ts";
import type { Numbers } from "./pixels.ts";
import { distance, middleOf, type Point, type Rect, squareAt } from "./rects.ts";
import { FACE_SCORE, PERSON_SCORE, PRESENCE } from "./scores.ts";

/** Everything known about one person, in search pixels. */
export interface Subject {
  /** The person detector's score. */
  detector: number;
  pose: Pose | null;
  /** The person mask network's output around the body. */
  people: Mask;
  body: Rect;
  face: Face | null;
  head: Head;
  /** Bodies or heads of other people who may overlap the player. */
  rivals: RivalMask[];
  /** Whether others are so prominent that it is unclear whose photo it is. */
  inCompany?: boolean;
  /** The part of the pose's mask that the person mask agrees with. */
  maskAgreement: number;
}

/** The mask of a body, or of head and shoulders around a detected face, `byFace`. */
export type RivalMask = Mask & { byFace?: Rect };

/** Who is taken as the player of a photo, before the checks of size, light and company. */
export interface Chosen {
  player: Subject;
  /** How the detector saw the player. */
  person: Person;
  /** The other contenders. */
  others: { person: Person; subject: Subject }[];
}

/** Cells on the longer side of the grid on which the agreement of masks is measured. */
const AGREEMENT_GRID_CELLS = 200;

/**
 * A second close-up, if the first shows no sure face, is this much wider: hair and helmets shift the centre.
 */
const WIDER_CLOSE_UP = 1.5;

/** A head is in the picture if at least this many of its eleven points are. */
const MIN_HEAD_POINTS_INSIDE = 7;

/** A face belongs to a head if their centres are closer than this part of the head's height. */
const SAME_HEAD_PART = 0.7;

/**
 * Finds one person's pose, mask and face; null if the pose network sees nobody there.
 * @param faces those found in the whole picture
 * @param heavy use the heavy pose network
 */
export async function examine(
  picture: OffscreenCanvas,
  person: Person,
  faces: Face[],
  heavy = false,
): Promise<Subject | null> {
  const pose = await readPose(picture, person.crop, heavy);
  if (pose.presence < PRESENCE.person) return null;
  const grid = agreementGrid(picture);
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
    maskAgreement: sharedPart(posed, sampleMask(people, grid)),
  };
}

/**
 * The surest face of a head, from one or two close-ups and, unless they clearly show it, the whole picture.
 */
async function ownFace(
  picture: OffscreenCanvas,
  { centre, height, closeUp }: ReturnType<typeof headOf>,
  faces: Face[],
): Promise<Face | null> {
  const isOwn = (face: Face) => distance(middleOf(face), centre) < SAME_HEAD_PART * height;
  let best: Face | null = null;
  for (const zoom of [1, WIDER_CLOSE_UP]) {
    const crop = squareAt(centre, zoom * closeUp);
    const face = (await findFaces(picture, crop, FACE_SCORE.inCloseUp)).find(isOwn);
    best = surer(best, face);
    if (best && best.score >= FACE_SCORE.seen) return best;
  }
  return surer(best, faces.find(isOwn));
}

const surer = (best: Face | null, other: Face | undefined) =>
  other && (!best || other.score > best.score) ? other : best;

/**
 * From a face's centre to the hips, and from the hips to the circle around the body, in heights of the face.
 */
const HIPS_BELOW_FACE = 3.6;
const CIRCLE_PER_FACE = 5.2;

/** The person a face would belong to, with the body upright below it. */
export function personOf(face: Face): Person {
  const { x, y } = middleOf(face);
  const hips = { x, y: y + HIPS_BELOW_FACE * face.height };
  const top = { x, y: hips.y - CIRCLE_PER_FACE * face.height };
  return { score: face.score, head: face, crop: bodyCrop(hips, top) };
}

/** The person detector's score on a close-up of a body, 0 if it sees nobody. */
export async function detectAgain(picture: OffscreenCanvas, body: Rect): Promise<number> {
  const again = await findPeople(picture, squareAround(body, 0.3), PERSON_SCORE.inCloseUp);
  return again[0]?.score ?? 0;
}

/** Whether a pose's head is in the picture: a card needs one. */
export function hasHeadInside(pose: Pose, { width, height }: OffscreenCanvas): boolean {
  const isInside = ({ x, y }: Point) => x >= 0 && y >= 0 && x <= width && y <= height;
  const inside = landmarksOf(pose, "face").filter(isInside);
  return inside.length >= MIN_HEAD_POINTS_INSIDE;
}

export const agreementGrid = (picture: OffscreenCanvas): Grid =>
  gridOver(picture, AGREEMENT_GRID_CELLS, Math.ceil);

/** The part of the first mask's cells that is also in the second mask. */
export function sharedPart(one: Numbers, other: Numbers): number {
  let cells = 0;
  let shared = 0;
  for (let i = 0; i < one.length; i++) {
    if (one[i] <= 0.5) continue;
    cells++;
    if (other[i] > 0.5) shared++;
  }
  return cells > 0 ? shared / cells : 0;
}
