import type { Finding } from "./examine.ts";
import type { Rect } from "./rects.ts";

/** The head from crown to chin, relative to the detector's face box, which spans brow to chin. */
const CROWN_ABOVE_FACE = 0.5;
const HEAD_PER_FACE_HEIGHT = 1.6;
const HEAD_PER_FACE_WIDTH = 1.35;
/** For heads without a face box. */
const HEAD_WIDTH_PER_HEIGHT = 0.75;

/** The reverse: a detector's face box as parts of the head's box. */
const FACE_IN_HEAD = { width: 0.74, top: 0.31, height: 0.62 };
/** The rows of a head that show its face, where that is only measured and need not end at brow and chin. */
const MIDDLE_OF_HEAD = { top: 0.3, height: 0.6 };

/** The whole head with hair or helmet, in search pixels. */
export function headBox({ face, head }: Finding): Rect {
  if (face) {
    const width = face.width * HEAD_PER_FACE_WIDTH;
    return {
      x: face.x + face.width / 2 - width / 2,
      y: face.y - CROWN_ABOVE_FACE * face.height,
      width,
      height: HEAD_PER_FACE_HEIGHT * face.height,
    };
  }
  const width = head.height * HEAD_WIDTH_PER_HEIGHT;
  return { x: head.centre.x - width / 2, y: head.centre.y - head.height * 0.6, width, height: head.height };
}

/** The player's face, or the middle of the head when no face was detected. */
export function faceBox(player: Finding): Rect {
  if (player.face) return player.face;
  const head = headBox(player);
  const { top, height } = MIDDLE_OF_HEAD;
  return { ...head, y: head.y + top * head.height, height: height * head.height };
}

/**
 * The player's face, or an estimate of the box that a detector would have drawn: narrower than `faceBox`, for
 * use as a measure of the body.
 */
export function estimatedFace(player: Finding): Rect {
  if (player.face) return player.face;
  const head = headBox(player);
  const width = FACE_IN_HEAD.width * head.width;
  return {
    x: head.x + (head.width - width) / 2,
    y: head.y + FACE_IN_HEAD.top * head.height,
    width,
    height: FACE_IN_HEAD.height * head.height,
  };
}
