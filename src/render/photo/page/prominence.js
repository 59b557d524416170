import { faceBox } from "./head.js";
import { lookOf } from "./quality.js";
import { middleOf } from "./rects.js";
import { FACE_SCORE } from "./scores.js";

/** @import { Photo } from "./decode.js" */
/** @import { Person } from "./detectors.js" */
/** @import { Finding } from "./examine.js" */
/** @import { Rect } from "./rects.js" */

/** How many people are kept in all: enough to tell everybody near the player apart. */
export const MAX_PEOPLE = 10;

/** How far something is from the middle of a width, 0 to 1. @param {number} x @param {number} width */
const offCentre = (x, width) => Math.min(1, Math.abs(x / width - 0.5) * 2);

/**
 * How prominent a detected person is, 0 to 1: more so the surer the detection, the larger, and the more
 * central.
 * @param {Person} person @param {OffscreenCanvas} picture
 */
export function prominence({ score, crop }, picture) {
  return score * Math.min(1, crop.height / picture.height) * (1 - 0.7 * offCentre(crop.cx, picture.width));
}

/**
 * Sorts the most prominent first.
 * @param {OffscreenCanvas} picture
 * @returns {(a: Person, b: Person) => number}
 */
export const byProminence = (picture) => (a, b) => prominence(b, picture) - prominence(a, picture);

/** How likely the photo is about an examined person. @param {Photo} photo @param {Finding} finding */
export function weightOf(photo, finding) {
  return weightOfHead(photo, faceBox(finding), finding.face?.score ?? 0);
}

/**
 * How likely the photo is about somebody, from the face's size, place and sharpness, and whether it is
 * visible. Only meaningful relative to other people's weights.
 * @param {Photo} photo @param {Rect} face @param {number} score
 */
export function weightOfHead(photo, face, score) {
  const { width, height } = photo.search;
  return (
    (face.height / height) *
    (1 - 0.5 * offCentre(middleOf(face).x, width)) *
    Math.min(1, Math.max(0.3, lookOf(photo, face).sharpness / 0.3)) *
    (score >= FACE_SCORE.seen ? 1 : 0.6)
  );
}
