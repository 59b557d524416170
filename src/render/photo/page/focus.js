import { playerOfFace } from "./by_face.js";
import { faceBox } from "./head.js";
import { sampleMask } from "./masks.js";
import { distance, middleOf } from "./rects.js";
import { FACE_SCORE } from "./scores.js";

/** @import { Focus } from "../../../core/card.ts" */
/** @import { Photo } from "./decode.js" */
/** @import { Face, Person } from "./detectors.js" */
/** @import { Chosen, Finding } from "./examine.js" */
/** @import { Point, Rect } from "./rects.js" */

/** How many people and faces are examined, those nearest to the point first. */
const MAX_NEAR = 5;
/** How far from a face the point may be, in heights of the face. */
const MAX_AWAY = 1;
/** What a point on a body counts, in the same heights: one on a face is surer. */
const ON_BODY = 0.25;

/** @param {Focus} focus @param {OffscreenCanvas} picture @returns {Point} in pixels of the picture */
export function pointOf({ x, y }, { width, height }) {
  return { x: x * width, y: y * height };
}

/**
 * Whoever is at the point, or else the nearest within a face's height.
 * @param {Photo} photo @param {Point} point @param {object} seen
 * @param {Person[]} seen.people
 * @param {Face[]} seen.faces
 * @param {(person: Person) => Promise<Chosen | null>} seen.qualified examines one of the people
 * @returns {Promise<Chosen | null>}
 */
export async function choiceAt(photo, point, { people, faces, qualified }) {
  /** @type {{ chosen: Chosen, away: number }[]} */
  const found = [];
  const add = (/** @type {Chosen | null} */ chosen) => {
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
  const isOf = (/** @type {{ chosen: Chosen }} */ { chosen }) =>
    !pointedAt || gap(faceBox(chosen.player), middleOf(pointedAt)) === 0;
  return found.find(isOf)?.chosen ?? null;
}

/** @template T @param {T[]} all @param {(one: T) => Point} place @param {Point} point */
function nearest(all, place, point) {
  const byDistance = all.toSorted((a, b) => distance(place(a), point) - distance(place(b), point));
  return byDistance.slice(0, MAX_NEAR);
}

/**
 * How far somebody is from the point, in heights of the face.
 * @param {Finding} finding @param {Point} point
 */
function awayFrom(finding, point) {
  const box = faceBox(finding);
  const fromFace = gap(box, point) / box.height;
  const cell = { x: point.x, y: point.y, width: 1, height: 1, step: 1 };
  const isOnBody = finding.pose !== null && sampleMask(finding.pose.mask, cell)[0] > 0.5;
  return Math.min(fromFace, isOnBody ? ON_BODY : Infinity);
}

/** The distance of a point from a box, 0 inside of it. @param {Rect} box @param {Point} point */
function gap({ x, y, width, height }, point) {
  return Math.hypot(
    Math.max(0, x - point.x, point.x - x - width),
    Math.max(0, y - point.y, point.y - y - height),
  );
}
