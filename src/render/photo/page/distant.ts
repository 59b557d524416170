import { findPeople, type Person } from "./detectors.ts";
import { dilate } from "./dilate.ts";
import { agreementGrid, type Subject, sharedPart } from "./examine.ts";
import { sampleMask } from "./masks.ts";
import { byProminence, MAX_PEOPLE } from "./prominence.ts";
import { squareAt } from "./rects.ts";
import { FACE_SCORE, PERSON_SCORE } from "./scores.ts";

/** Side of the overlapping squares that are looked at one by one, as a part of the photo's longer side. */
const CLOSER_LOOK_PART = 0.5;
/** Area that others may take around a distant player, relative to it: 0.1 measured, in a crowd 0.7. */
const MAX_COMPANY = 0.35;
/** From this part of the photo's height on, a body is not distant: cropping the photo helps. */
const NEAR_PART = 0.6;
/** Two people whose centres are closer than this part of their size are one, seen in two squares. */
const SAME_PLACE_PART = 0.3;

/** People who are too small to be found in the photo as a whole, the most prominent first. */
export async function findDistantPeople(picture: OffscreenCanvas): Promise<Person[]> {
  const side = CLOSER_LOOK_PART * Math.max(picture.width, picture.height);
  const found: Person[] = [];
  for (const y of middles(picture.height, side)) {
    for (const x of middles(picture.width, side)) {
      found.push(...(await findPeople(picture, squareAt({ x, y }, side), PERSON_SCORE.inPhoto)));
    }
  }
  found.sort(byProminence(picture));
  const people = found.filter(
    (person, i) => !found.slice(0, i).some((better) => isSamePlace(person, better)),
  );
  return people.slice(0, MAX_PEOPLE);
}

/** Whether somebody found by looking closer is not distant, only unusual: arms up, head back. */
export function isNear({ body, face }: Subject, picture: OffscreenCanvas): boolean {
  return body.height >= NEAR_PART * picture.height && (face?.score ?? 0) >= FACE_SCORE.company;
}

/** Whether a distant player is clear of others: in a crowd, people this small cannot be told apart. */
export function standsAlone({ pose, people }: Subject, picture: OffscreenCanvas): boolean {
  if (!pose) return false;
  const grid = agreementGrid(picture);
  const around = dilate(sampleMask(pose.mask, grid), grid.width, 2);
  const own = sharedPart(sampleMask(people, grid), around);
  return 1 - own <= MAX_COMPANY * own;
}

/** Centres of squares that cover a length and overlap by at least half. */
function middles(length: number, side: number): number[] {
  if (length <= side) return [length / 2];
  const steps = Math.ceil((length - side) / (side / 2));
  return Array.from({ length: steps + 1 }, (_, i) => side / 2 + i * ((length - side) / steps));
}

function isSamePlace({ crop: one }: Person, { crop: other }: Person): boolean {
  return (
    Math.hypot(one.cx - other.cx, one.cy - other.cy) < SAME_PLACE_PART * Math.max(one.width, other.width)
  );
}
