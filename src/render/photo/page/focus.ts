import { playerOfFace } from "./by-face.ts";
import type { Seen } from "./check-player.ts";
import type { Photo } from "./decode.ts";
import type { Person } from "./detectors.ts";
import type { Chosen, Subject } from "./examine.ts";
import { faceBox } from "./head.ts";
import { sampleMask } from "./masks.ts";
import { distance, middleOf, type Point, type Rect } from "./rects.ts";
import { FACE_SCORE } from "./scores.ts";

/** How many people and faces are examined, those nearest to the point first. */
const MAX_NEAR = 5;
/** How far from a face the point may be, in heights of the face. */
const MAX_AWAY = 1;
/** What a point on a body counts, in the same heights: one on a face is surer. */
const ON_BODY = 0.25;

/**
 * The player at the point, or else the nearest within a face's height.
 * @param qualified examines one of the people
 */
export async function choiceAt(
  photo: Photo,
  point: Point,
  { people, faces }: Seen,
  qualified: (person: Person) => Promise<Chosen | null>,
): Promise<Chosen | null> {
  const found: { chosen: Chosen; away: number }[] = [];
  const add = (chosen: Chosen | null) => {
    const away = chosen ? awayFrom(chosen.player, point) : Infinity;
    if (chosen && away <= MAX_AWAY) found.push({ chosen, away });
  };
  for (const person of nearest(people, (one) => middleOf(one.head), point)) add(await qualified(person));
  // Bodies that hide each other are often one to the person detector, and their faces are still two.
  if (!found.some(({ away }) => away === 0))
    for (const face of nearest(faces, middleOf, point)) {
      if (gap(face, point) <= MAX_AWAY * face.height) add(await playerOfFace(photo, [face]));
    }
  found.sort((a, b) => a.away - b.away);
  // Somebody whose face is under the point is meant, even if only others qualify.
  const pointedAt = faces.find((face) => face.score >= FACE_SCORE.pointedAt && gap(face, point) === 0);
  const isOf = ({ chosen }: { chosen: Chosen }) =>
    !pointedAt || gap(faceBox(chosen.player), middleOf(pointedAt)) === 0;
  return found.find(isOf)?.chosen ?? null;
}

function nearest<T>(all: T[], place: (one: T) => Point, point: Point): T[] {
  const byDistance = all.toSorted((a, b) => distance(place(a), point) - distance(place(b), point));
  return byDistance.slice(0, MAX_NEAR);
}

/** How far somebody is from the point, in heights of the face. */
function awayFrom(subject: Subject, point: Point): number {
  const box = faceBox(subject);
  const fromFace = gap(box, point) / box.height;
  const cell = { x: point.x, y: point.y, width: 1, height: 1, step: 1 };
  const isOnBody = subject.pose !== null && sampleMask(subject.pose.mask, cell)[0] > 0.5;
  return Math.min(fromFace, isOnBody ? ON_BODY : Infinity);
}

/** The distance of a point from a box, 0 inside of it. */
function gap({ x, y, width, height }: Rect, point: Point): number {
  return Math.hypot(
    Math.max(0, x - point.x, point.x - x - width),
    Math.max(0, y - point.y, point.y - y - height),
  );
}
