import type { Photo } from "./decode.ts";
import type { Person } from "./detectors.ts";
import type { Finding } from "./examine.ts";
import { faceBox } from "./head.ts";
import { lookOf } from "./quality.ts";
import { middleOf, type Rect } from "./rects.ts";
import { FACE_SCORE } from "./scores.ts";

/** How many people are kept in all: enough to tell everybody near the player apart. */
export const MAX_PEOPLE = 10;

/** How far something is from the middle of a width, 0 to 1. */
const offCentre = (x: number, width: number) => Math.min(1, Math.abs(x / width - 0.5) * 2);

/** How prominent a person is, 0 to 1: more so the surer the detection, the larger, and the more central. */
export function prominence({ score, crop }: Person, picture: OffscreenCanvas): number {
  return score * Math.min(1, crop.height / picture.height) * (1 - 0.7 * offCentre(crop.cx, picture.width));
}

/** Sorts the most prominent first. */
export const byProminence = (picture: OffscreenCanvas) => (a: Person, b: Person) =>
  prominence(b, picture) - prominence(a, picture);

/** How likely the photo is about an examined person. */
export function weightOf(photo: Photo, finding: Finding): number {
  return weightOfHead(photo, faceBox(finding), finding.face?.score ?? 0);
}

/**
 * How likely the photo is about somebody, from the face's size, place and sharpness, and whether it is
 * visible. Only meaningful relative to other people's weights.
 */
export function weightOfHead(photo: Photo, face: Rect, score: number): number {
  const { width, height } = photo.search;
  return (
    (face.height / height) *
    (1 - 0.5 * offCentre(middleOf(face).x, width)) *
    Math.min(1, Math.max(0.3, lookOf(photo, face).sharpness / 0.3)) *
    (score >= FACE_SCORE.seen ? 1 : 0.6)
  );
}
