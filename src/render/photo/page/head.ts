import { type Landmark, landmarksOf, type Pose } from "./detectors.ts";
import { centroid, distance, type Point, type Rect } from "./rects.ts";

/** In search pixels, as all boxes here. */
export interface Head {
  centre: Point;
  height: number;
}

/** What is known of somebody's head: the face detector's box, and the head of the pose. */
interface Seen {
  face: Rect | null;
  head: Head;
}

/** The head from crown to chin, relative to the face detector's box, which spans brow to chin. */
const CROWN_ABOVE_FACE = 0.5;
export const HEAD_PER_FACE_HEIGHT = 1.6;
const HEAD_PER_FACE_WIDTH = 1.35;
/** The height of a head of which the face alone is known, in heights of the face. */
export const HEAD_PER_LONE_FACE = 1.5;
/** For heads without a face box. */
const HEAD_WIDTH_PER_HEIGHT = 0.75;
/** Where the middle of the face is, in head heights below the crown. */
export const FACE_BELOW_CROWN = 0.6;

/** The reverse: a face detector's box as parts of the head's box. */
const FACE_IN_HEAD = { width: 0.74, top: 0.31, height: 0.62 };
/** The rows of a head that show its face, where that is only measured and need not end at brow and chin. */
const MIDDLE_OF_HEAD = { width: 1, top: 0.3, height: 0.6 };

/** The whole head with hair or helmet. */
export function headBox({ face, head }: Seen): Rect {
  if (!face) {
    const { centre, height } = head;
    const width = height * HEAD_WIDTH_PER_HEIGHT;
    return { x: centre.x - width / 2, y: centre.y - height * FACE_BELOW_CROWN, width, height };
  }
  const width = face.width * HEAD_PER_FACE_WIDTH;
  return {
    x: face.x + face.width / 2 - width / 2,
    y: face.y - CROWN_ABOVE_FACE * face.height,
    width,
    height: HEAD_PER_FACE_HEIGHT * face.height,
  };
}

/** The player's face, or the middle of the head when no face was detected. */
export const faceBox = (player: Seen): Rect => player.face ?? partOfHead(player, MIDDLE_OF_HEAD);

/** The face, or the box that a detector would have drawn: a narrower measure than `faceBox`. */
export const estimatedFace = (player: Seen): Rect => player.face ?? partOfHead(player, FACE_IN_HEAD);

function partOfHead(player: Seen, part: typeof FACE_IN_HEAD): Rect {
  const head = headBox(player);
  const width = part.width * head.width;
  const x = head.x + (head.width - width) / 2;
  return { x, y: head.y + part.top * head.height, width, height: part.height * head.height };
}

/** The shoulders' width by the trunk's length: a body that turns or bends hides one of them. */
const SHOULDERS_PER_TRUNK = 0.55;
/** The box around head and neck by the shoulders' width, and its least side. */
const BOX_PER_SHOULDERS = 1.6;
const MIN_BOX_PX = 24;
/** The close-up's side by that box, and by the head's height. */
const CLOSE_UP_PER_BOX = 1.6;
const CLOSE_UP_PER_HEAD = 2.6;

/** The head of a pose, around its eleven face landmarks, and the side of a close-up of it. */
export function headOf(pose: Pose): Head & { closeUp: number } {
  const shoulders = landmarksOf(pose, "shoulders") as [Landmark, Landmark];
  const trunk = distance(centroid(shoulders), centroid(landmarksOf(pose, "hips")));
  const width = Math.max(distance(...shoulders), SHOULDERS_PER_TRUNK * trunk);
  const closeUp = CLOSE_UP_PER_BOX * Math.max(MIN_BOX_PX, BOX_PER_SHOULDERS * width);
  return { centre: centroid(landmarksOf(pose, "face")), height: closeUp / CLOSE_UP_PER_HEAD, closeUp };
}
