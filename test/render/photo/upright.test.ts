import { expect, test } from "bun:test";
import type { Face, Person, Pose } from "../../../src/render/photo/page/detectors.ts";
import { type Crop, squareAt } from "../../../src/render/photo/page/rects.ts";
import { findTurn } from "../../../src/render/photo/page/upright.ts";

const picture = { width: 1000, height: 800 } as OffscreenCanvas;
const quarterOf = (crop: Crop) => Math.round(-crop.rotation / (Math.PI / 2));

/** A face of this score that leans by so many degrees in the photo as it is turned. */
function face(score: number, roll = 0): Face {
  const [x, y] = [Math.sin((roll * Math.PI) / 180), Math.cos((roll * Math.PI) / 180)];
  const eye = { x: 100 + 40 * x, y: 100 - 40 * y };
  const points = [eye, eye, { x: 100, y: 100 }, { x: 100, y: 100 }];
  return { x: 80, y: 60, width: 40, height: 60, score, points };
}

/** Somebody whose body leans by so many degrees, clockwise. */
const leaning = (degrees: number): Person => ({
  score: 0.9,
  head: { x: 80, y: 60, width: 40, height: 60 },
  crop: { ...squareAt({ x: 200, y: 200 }, 300), rotation: (degrees * Math.PI) / 180 },
});

/** Networks that see these faces, by how often the photo is turned, and a pose as sure as this. */
const seeing = (faces: Record<number, Face>, presence = 1) => ({
  findFaces: async (_: OffscreenCanvas, crop: Crop, least: number) => {
    const seen = faces[quarterOf(crop)];
    return seen && seen.score >= least ? [seen] : [];
  },
  readPose: async () => ({ presence }) as Pose,
});
const turnOf = (degrees: number, ...networks: Parameters<typeof seeing>) =>
  findTurn(picture, leaning(degrees), [], seeing(...networks));

test("a photo on its side is turned where the face, once upright, is clearly surer", async () => {
  expect(await turnOf(90, { 0: face(0.5), 3: face(0.9) })).toEqual({ quarters: 3 });
  expect(await turnOf(-90, { 0: face(0.5), 1: face(0.9) })).toEqual({ quarters: 1 });
});

test("somebody who dives or is tackled is left as photographed: the face is as sure as it lies", async () => {
  expect(await turnOf(90, { 0: face(0.9), 3: face(0.9) })).toEqual({ quarters: 0 });
  expect(await turnOf(40, { 0: face(0.1), 3: face(0.9) })).toEqual({ quarters: 0 });
});

test("upside down the body alone decides, since faces are as sure there", async () => {
  expect(await turnOf(180, { 0: face(0.9), 2: face(0.9) })).toEqual({ quarters: 2 });
});

test("somebody who leans even once turned needs a face that leaves no doubt", async () => {
  expect(await turnOf(70, { 0: face(0.6), 3: face(0.9) })).toEqual({ quarters: 3 });
  expect(await turnOf(70, { 0: face(0.7), 3: face(0.9) })).toEqual({ quarters: 0 });
  expect(await turnOf(70, { 0: face(0.2), 3: face(0.6) })).toEqual({ quarters: 0 });
  expect(await turnOf(70, { 0: face(0.2), 3: face(0.9, 25) })).toEqual({ quarters: 0 });
});

test("a player who lies, and whose face does not say which way is up, is refused as sideways", async () => {
  expect(await turnOf(90, { 0: face(0.2), 3: face(0.5) })).toEqual({ refusal: "sideways" });
  expect(await turnOf(90, { 0: face(0.2), 3: face(0.9, 50) })).toEqual({ refusal: "sideways" });
});

test("a tower or a ship that passes for somebody lying is not", async () => {
  expect(await turnOf(90, { 0: face(0.2), 3: face(0.5) }, 0.9)).toEqual({ quarters: 0 });
  expect(await turnOf(90, { 3: face(0.3) })).toEqual({ quarters: 0 });
});

test("a close-up without a body is turned by a face that is sure and upright only then", async () => {
  const turnOfFace = (...networks: Parameters<typeof seeing>) =>
    findTurn(picture, undefined, [face(0.5)], seeing(...networks));
  expect(await turnOfFace({ 1: face(0.9) })).toEqual({ quarters: 1 });
  expect(await turnOfFace({ 3: face(0.9) })).toEqual({ quarters: 3 });
  expect(await turnOfFace({ 1: face(0.75), 3: face(0.9, 50) })).toEqual({ quarters: 0 });
  const sure = [face(0.75)];
  expect(await findTurn(picture, undefined, sure, seeing({ 1: face(0.99) }))).toEqual({ quarters: 0 });
});
