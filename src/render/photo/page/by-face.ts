import type { Photo } from "./decode.ts";
import { type Face, findFaces, maskPeople, squareAround } from "./detectors.ts";
import { type Chosen, examine, personOf, type Subject } from "./examine.ts";
import { HEAD_PER_LONE_FACE } from "./head.ts";
import type { Mask } from "./masks.ts";
import { type Crop, distance, middleOf } from "./rects.ts";
import { FACE_SCORE, MASK_AGREEMENT, PRESENCE } from "./scores.ts";

/** How many faces are tried, the surest first. */
const MAX_CANDIDATES = 3;

/** A player who is found by the face: in a close-up, bent over, or with the body hidden behind something. */
export async function playerOfFace({ search: picture }: Photo, faces: Face[]): Promise<Chosen | null> {
  for (const face of faces.slice(0, MAX_CANDIDATES)) {
    if (face.score < FACE_SCORE.tried) continue;
    const person = personOf(face);
    const subject = await examine(picture, person, faces);
    if (subject && isBodyOf(subject, face)) return { player: subject, person, others: [] };
    if (face.score < FACE_SCORE.bodiless) continue;
    const again = await findFaces(picture, squareAround(face, 1), FACE_SCORE.tried);
    if (again.length > 0) return { player: await examineFace(picture, face), person, others: [] };
  }
  return null;
}

function isBodyOf({ pose, maskAgreement, face: own, head }: Subject, face: Face): boolean {
  if (!pose || !own || own.score < FACE_SCORE.aboveBody) return false;
  const isThere = distance(head.centre, middleOf(face)) < 0.5 * face.height;
  return isThere && pose.presence >= PRESENCE.belowFace && maskAgreement >= MASK_AGREEMENT.belowFace;
}

/** The height assumed for a body of which only the face is known, in face heights. */
const BODY_PER_FACE = 3;

/**
 * The crop that is searched for the person of a face, in widths and heights of the face, one height of it
 * above the face: the smaller the crop, the finer the mask. MORE_BODY times as large where the body goes on
 * below.
 */
const AROUND_FACE = { width: 3, height: 4 };
const MORE_BODY = 2;
/**
 * A body goes on below its mask when it takes more than this part of the mask's lowest row, and the photo
 * goes on for more than MIN_MORE_PHOTO heights of the face: at the photo's end, masks are a little too long.
 */
const MIN_GOES_ON = 0.3;
const MIN_MORE_PHOTO = 0.5;
/** What is broader than so many heights of the face is not one body but two. */
const MAX_BREADTH = 5;

/** Examines a face without a body: mostly a portrait, sometimes somebody in wide or dark clothes. */
async function examineFace(picture: OffscreenCanvas, face: Face): Promise<Subject> {
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
    head: { centre: middleOf(face), height: HEAD_PER_LONE_FACE * face.height },
    rivals: [],
    maskAgreement: 1,
  };
}

/**
 * The person mask around a face, with the body below it.
 * @param mask runs the person mask network on a crop
 */
export async function maskBelow(
  face: Face,
  photoHeight: number,
  mask: (crop: Crop) => Promise<Mask>,
): Promise<Mask> {
  const around = (more: number) => {
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

/** How much of its broadest row a mask takes, in the picture's pixels. */
function breadth({ values, width, crop }: Mask): number {
  let most = 0;
  for (let from = 0; from < values.length; from += width) {
    const row = values.subarray(from, from + width);
    most = Math.max(most, row.filter((value) => value > 0.5).length);
  }
  return (most / width) * crop.width;
}
