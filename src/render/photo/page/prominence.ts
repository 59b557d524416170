import type { Photo } from "./decode.ts";
import type { Person } from "./detectors.ts";
import type { Subject } from "./examine.ts";
import { faceBox } from "./head.ts";
import { faceQuality } from "./quality.ts";
import { middleOf, type Rect } from "./rects.ts";
import { FACE_SCORE } from "./scores.ts";

/** How many people are kept in all: enough to tell everybody near the player apart. */
export const MAX_PEOPLE = 10;

/** What a place at the photo's side takes from the prominence of a body, and from the weight of a face. */
const OFF_CENTRE_LOSS = { body: 0.7, face: 0.5 };
/** From this sharpness on a face has its full weight; a blurred one has at least this part of it. */
const FULL_SHARPNESS = 0.3;
const MIN_BLURRED_PART = 0.3;
/** The weight of somebody whose face is not seen, as a part of the same with a visible face. */
const UNSEEN_FACE_PART = 0.6;

/** How far something is from the middle of a width, 0 to 1. */
const offCentre = (x: number, width: number) => Math.min(1, Math.abs(x / width - 0.5) * 2);

/** How prominent a person is, 0 to 1: more so the surer the detection, the larger, and the more central. */
export function prominence({ score, crop }: Person, picture: OffscreenCanvas): number {
  const centred = 1 - OFF_CENTRE_LOSS.body * offCentre(crop.cx, picture.width);
  return score * Math.min(1, crop.height / picture.height) * centred;
}

/** Sorts the most prominent first. */
export const byProminence = (picture: OffscreenCanvas) => (a: Person, b: Person) =>
  prominence(b, picture) - prominence(a, picture);

/** How likely the photo is about an examined person. */
export function weightOf(photo: Photo, subject: Subject): number {
  return weightOfHead(photo, faceBox(subject), subject.face?.score ?? 0);
}

/** How likely the photo is about somebody, by size, place and sharpness of the face; a relative weight. */
export function weightOfHead(photo: Photo, face: Rect, score: number): number {
  const { width, height } = photo.search;
  return (
    (face.height / height) *
    (1 - OFF_CENTRE_LOSS.face * offCentre(middleOf(face).x, width)) *
    Math.min(1, Math.max(MIN_BLURRED_PART, faceQuality(photo, face).sharpness / FULL_SHARPNESS)) *
    (score >= FACE_SCORE.seen ? 1 : UNSEEN_FACE_PART)
  );
}
