import type { PlayerRefusal } from "../../../core/photo-refusals.ts";
import { BACKDROP, canvasOf, contextOf, type Photo, pixelsPerSearchPx } from "./decode.ts";
import { lumaOf } from "./pixels.ts";
import { type Rect, scaled } from "./rects.ts";

/** The face is measured at this side in pixels, about its size on the smallest card. */
const FACE_PX = 64;
/** A face with this many pixels looks at FACE_PX as it does with more. */
export const SHARP_FACE_PX = 2 * FACE_PX;

/** Sharp faces measure at least 0.25; at half of that, nose and mouth merge. */
const MIN_SHARPNESS = 0.13;
/** A face whose bright parts (0 to 255) stay below this is black: brightened, it would show noise. */
const MIN_BRIGHT = 14;
/** A face whose median brightness is below this is a silhouette, however bright the sky around it. */
const MIN_FACE_MEDIAN = 8;
/**
 * A face whose bright parts stay below this brightness and whose contrast is below this part of it has no
 * light and shade that could be brightened, as in a dark room by night.
 */
const MIN_FLAT_BRIGHT = 100;
const FLAT_PART = 0.22;
/** A face with a higher median brightness and a lower contrast than these is overexposed. */
const MAX_MEDIAN = 225;
const MIN_BRIGHT_CONTRAST = 12;

/** What a face looks like in a photo, measured at FACE_PX. Brightness is from 0 to 255. */
export interface FaceQuality {
  /** Strength of the finest details, relative to the contrast: 0.3 to 1 if sharp, below 0.15 if blurred. */
  sharpness: number;
  /** Standard deviation of the brightness. */
  contrast: number;
  /** Of the brightness. */
  median: number;
  /** 95th percentile of the brightness. */
  bright: number;
}

/** @param face in search pixels */
export function faceQuality(photo: Photo, face: Rect): FaceQuality {
  const { x, y, width, height } = scaled(face, pixelsPerSearchPx(photo));
  const context = contextOf(canvasOf(FACE_PX, FACE_PX));
  context.imageSmoothingQuality = "high";
  context.fillStyle = BACKDROP;
  context.fillRect(0, 0, FACE_PX, FACE_PX);
  context.drawImage(photo.bitmap, x, y, width, height, 0, 0, FACE_PX, FACE_PX);
  const { data } = context.getImageData(0, 0, FACE_PX, FACE_PX);
  const grey = new Float32Array(FACE_PX * FACE_PX);
  for (let i = 0; i < grey.length; i++) grey[i] = lumaOf(data, i);
  const mean = grey.reduce((sum, value) => sum + value, 0) / grey.length;
  const contrast = rootMeanSquare(grey.map((value) => value - mean));
  const sorted = grey.toSorted();
  return {
    sharpness: rootMeanSquare(laplacian(grey)) / Math.max(1, contrast),
    contrast,
    median: Number(sorted[sorted.length >> 1]),
    bright: Number(sorted[Math.floor(0.95 * sorted.length)]),
  };
}

function rootMeanSquare(values: Float32Array): number {
  return Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
}

/** The Laplacian of all pixels except those on the border. */
function laplacian(grey: Float32Array): Float32Array {
  const inner = FACE_PX - 2;
  return Float32Array.from({ length: inner * inner }, (_, k) => {
    const i = (Math.floor(k / inner) + 1) * FACE_PX + (k % inner) + 1;
    const around =
      Number(grey[i - 1]) + Number(grey[i + 1]) + Number(grey[i - FACE_PX]) + Number(grey[i + FACE_PX]);
    return 4 * Number(grey[i]) - around;
  });
}

/** What is wrong with a face for a card. */
export function faceFault(quality: FaceQuality): PlayerRefusal | null {
  const isFlat = quality.bright < MIN_FLAT_BRIGHT && quality.contrast < FLAT_PART * quality.bright;
  if (quality.median < MIN_FACE_MEDIAN || isFlat) return "too_dark";
  return lightFault(quality) ?? (quality.sharpness < MIN_SHARPNESS ? "too_blurred" : null);
}

/** What is wrong with the light on a face, or in a whole photo in which nobody is found. */
export function lightFault({ contrast, median, bright }: FaceQuality): PlayerRefusal | null {
  if (bright < MIN_BRIGHT) return "too_dark";
  return median > MAX_MEDIAN && contrast < MIN_BRIGHT_CONTRAST ? "too_bright" : null;
}
