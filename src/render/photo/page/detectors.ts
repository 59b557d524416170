import type { Mask } from "./masks.ts";
import { runNetwork } from "./networks.ts";
import { type Crop, middleOf, type Point, type Rect, squareAt } from "./rects.ts";

/** A box that a detector found, with its key points, in search pixels. */
type Detection = Rect & { score: number; points: Point[] };
/** A face from brow to chin. Its six points are the eyes, the tip of the nose, the mouth and the ears. */
export type Face = Detection;

export interface Person {
  score: number;
  /** Roughly the face. */
  head: Rect;
  /** For the landmark network: a square around the whole body, turned so that the body is upright. */
  crop: Crop;
}

export interface Landmark extends Point {
  /** How surely it can be seen, 0 to 1. */
  visibility: number;
}

export interface Pose {
  /** How sure the network is that the crop shows a person, 0 to 1. */
  presence: number;
  /** Of the body, numbered as in BlazePose: see `landmarksOf`. */
  points: Landmark[];
  mask: Mask;
}

/** Sides of the networks' square inputs, in pixels. */
const POSE_SIDE = 256;
const MASK_SIDE = 256;

const POSE_LANDMARKS = 33;
/** The numbers of the body's landmarks, the first and the one after the last; left and right alternate. */
const LANDMARKS = { face: [0, 11], shoulders: [11, 13], hands: [15, 23], hips: [23, 25] };
/** Each landmark has x, y, z, visibility and presence. */
const LANDMARK_VALUES = 5;
/** The network's output has 6 auxiliary points besides the body's 33. */
const LANDMARK_OUTPUT_LENGTH = (POSE_LANDMARKS + 6) * LANDMARK_VALUES;

/** Side of a body's crop, relative to the diameter of the circle around the body, as in BlazePose. */
const POSE_CROP_MARGIN = 1.25;

/** Boxes that overlap by at least this (intersection over union) are the same finding. */
const SAME_FINDING_OVERLAP = 0.3;

/**
 * The single-shot detectors: the side of their square input, the anchors, and how many key points follow each
 * box in their output. Faces have one anchor per cell of a 48 x 48 grid, people those of BlazePose's layers.
 */
const FACES = { network: "faceDetector", side: 192, keyPoints: 6, anchors: anchorGrid(48, 1) } as const;
const PEOPLE = {
  network: "personDetector",
  side: 224,
  keyPoints: 4,
  anchors: [...anchorGrid(28, 2), ...anchorGrid(14, 2), ...anchorGrid(7, 6)],
} as const;

function anchorGrid(cells: number, perCell: number): Point[] {
  return Array.from({ length: cells * cells * perCell }, (_, i) => {
    const cell = Math.floor(i / perCell);
    return { x: ((cell % cells) + 0.5) / cells, y: (Math.floor(cell / cells) + 0.5) / cells };
  });
}

/** The square that holds the whole picture. */
export function wholePicture({ width, height }: OffscreenCanvas): Crop {
  return squareAt({ x: width / 2, y: height / 2 }, Math.max(width, height));
}

/**
 * An upright square around a rectangle.
 * @param margin added on each side, as a part of the longer side
 */
export function squareAround(rect: Rect, margin: number): Crop {
  return squareAt(middleOf(rect), Math.max(rect.width, rect.height) * (1 + 2 * margin));
}

/** Faces in a square crop, surest first. */
export function findFaces(picture: OffscreenCanvas, crop: Crop, minScore: number): Promise<Face[]> {
  return detect(FACES, picture, crop, minScore);
}

/** People in a square crop, surest first. */
export async function findPeople(picture: OffscreenCanvas, crop: Crop, minScore: number): Promise<Person[]> {
  const boxes = await detect(PEOPLE, picture, crop, minScore);
  return boxes.map(({ score, points, ...head }) => {
    const [hips, top] = points as [Point, Point];
    return { score, head, crop: bodyCrop(hips, top) };
  });
}

/**
 * The crop centred on the hips, turned so that the direction from the hips to `top` points up.
 * @param top on the circle around the whole body
 */
export function bodyCrop(hips: Point, top: Point): Crop {
  const side = 2 * Math.hypot(top.x - hips.x, top.y - hips.y) * POSE_CROP_MARGIN;
  const rotation = Math.PI / 2 - Math.atan2(hips.y - top.y, top.x - hips.x);
  return { cx: hips.x, cy: hips.y, width: side, height: side, rotation };
}

/**
 * Finds a person's joints in a body crop, and a rough mask of the person.
 * @param heavy use the heavy network, which takes three times as long
 */
export async function readPose(picture: OffscreenCanvas, crop: Crop, heavy = false): Promise<Pose> {
  const network = heavy ? "heavyPoseLandmarks" : "poseLandmarks";
  const size = POSE_SIDE;
  const outputs = await runNetwork(network, picture, crop, size);
  const landmarks = outputs.find((output) => output.length === LANDMARK_OUTPUT_LENGTH);
  const presence = outputs.find((output) => output.length === 1);
  const mask = outputs.find((output) => output.length === size * size);
  if (!landmarks || !presence || !mask)
    throw new Error("The pose network's outputs are not the expected ones.");
  const cos = Math.cos(crop.rotation);
  const sin = Math.sin(crop.rotation);
  const points = Array.from({ length: POSE_LANDMARKS }, (_, i) => {
    const u = (landmarks[i * LANDMARK_VALUES] / size - 0.5) * crop.width;
    const v = (landmarks[i * LANDMARK_VALUES + 1] / size - 0.5) * crop.height;
    const visibility = sigmoid(landmarks[i * LANDMARK_VALUES + 3]);
    return { x: crop.cx + u * cos - v * sin, y: crop.cy + u * sin + v * cos, visibility };
  });
  return {
    presence: presence[0],
    points,
    mask: { values: mask.map(sigmoid), width: size, height: size, crop },
  };
}

/** The landmarks of a part of the body. */
export const landmarksOf = ({ points }: Pose, part: keyof typeof LANDMARKS) =>
  points.slice(...LANDMARKS[part]);

/** A mask of all people in a crop. Sharper than a pose's mask, but it does not tell people apart. */
export async function maskPeople(picture: OffscreenCanvas, crop: Crop): Promise<Mask> {
  const [values] = await runNetwork("personMask", picture, crop, MASK_SIDE);
  return { values, width: MASK_SIDE, height: MASK_SIDE, crop };
}

function sigmoid(x: number): number {
  return 1 / (1 + Math.exp(-Math.max(-100, Math.min(100, x))));
}

/**
 * What a single-shot detector finds in a crop, highest score first. Its output holds the box's centre, its
 * size and the key points for each anchor, all in input pixels; centre and key points are relative to the
 * anchor.
 */
async function detect(
  { network, side, keyPoints, anchors }: typeof FACES | typeof PEOPLE,
  picture: OffscreenCanvas,
  crop: Crop,
  minScore: number,
): Promise<Detection[]> {
  const [boxes, scores] = await runNetwork(network, picture, crop, side);
  if (!scores) throw new Error("A detector gave fewer than two outputs.");
  const found: Detection[] = [];
  for (const [i, anchor] of anchors.entries()) {
    const score = sigmoid(scores[i]);
    if (score < minScore) continue;
    const base = i * (4 + 2 * keyPoints);
    const point = (at: number) => ({
      x: crop.cx + (boxes[base + at] / side + anchor.x - 0.5) * crop.width,
      y: crop.cy + (boxes[base + at + 1] / side + anchor.y - 0.5) * crop.height,
    });
    const width = (boxes[base + 2] / side) * crop.width;
    const height = (boxes[base + 3] / side) * crop.height;
    const centre = point(0);
    const points = Array.from({ length: keyPoints }, (_, k) => point(4 + 2 * k));
    found.push({ x: centre.x - width / 2, y: centre.y - height / 2, width, height, score, points });
  }
  found.sort((a, b) => b.score - a.score);
  const kept: Detection[] = [];
  for (const box of found) {
    if (kept.every((better) => overlap(better, box) < SAME_FINDING_OVERLAP)) kept.push(box);
  }
  return kept;
}

/** Intersection over union. */
function overlap(a: Rect, b: Rect): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0;
  return (width * height) / (a.width * a.height + b.width * b.height - width * height);
}
