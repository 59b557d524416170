import type { Box, Framing } from "./card.ts";
import type { TemplateLayout } from "./template-layout.ts";

/** Where the cutout goes on the card in pixels, and how much of a straight photo edge to fade at each side. */
export interface Placement extends Box {
  fade: { top: number; right: number; bottom: number; left: number };
}

/** More than this and skin turns to mush: better a smaller player than a blurred one. */
const MAX_ENLARGEMENT = 2.3;
/** Where only more enlargement lets a small player reach the plate, some more blur is better than floating feet. */
const MAX_REACH_ENLARGEMENT = 2.9;
/** Brow to chin is about this part of a head with hair (Farkas, "Anthropometry of the Head and Face", 1994). */
const FACE_PER_HEAD = 0.62;
/** A full-length player shown at portrait scale would be a bust; this much of the way back shows the stance. */
const FULL_LENGTH_SCALE = 0.74;
/** A body of more than this many faces counts as full length (an adult is about ten faces tall). */
const FULL_LENGTH_FACES = 6.5;

/** The face box, or one estimated from the head. */
function faceOf(framing: Framing): Box {
  if (framing.face) return framing.face;
  const { head } = framing;
  const height = head.height * FACE_PER_HEAD;
  const width = Math.min(head.width, height * 0.8);
  return { x: head.x + (head.width - width) / 2, y: head.y + head.height - height, width, height };
}

/**
 * Places a cutout of `size` pixels on a card of `card` pixels: the face in the layout's face target, the body down
 * to the max-content line, the head never cut, straight photo edges hidden or faded.
 */
export function placeCutout(
  size: { width: number; height: number },
  framing: Framing,
  layout: TemplateLayout,
  card: { width: number; height: number },
): Placement {
  const target = toPixels(layout.face, card);
  const frame = toPixels(layout.frame, card);
  const bottomLine = layout.maxContentY * card.height;
  const face = faceOf(framing);
  // Hair, a cap and raised hands reach above the head as the pose tells it; none of them may be cut.
  const headTop = Math.min(framing.head.y, face.y, framing.body.y);
  const chest = framing.body.y + framing.body.height;
  const topMargin = framing.cutSides.top ? frame.y + 0.02 * card.height : 0.012 * card.height;

  // Faces from behind or in profile are narrow boxes, so height alone sets the scale.
  const byFace = target.height / face.height;
  const fullLength = (chest - headTop) / face.height > FULL_LENGTH_FACES;
  const wanted = Math.min(byFace * (fullLength ? FULL_LENGTH_SCALE : 1), MAX_ENLARGEMENT * sharpness(card));
  // The body has to reach the line, or the player would float.
  const reach =
    (bottomLine - Math.max(topMargin, target.y - target.height * 0.5)) / Math.max(1, size.height - headTop);
  const limit = MAX_REACH_ENLARGEMENT * sharpness(card);
  let scale = Math.max(
    wanted,
    Math.min(reach, limit, byFace * (framing.cutSides.bottom ? 2.1 : 1.6), wanted * 2.4),
  );
  let y = target.y + target.height / 2 - (face.y + face.height / 2) * scale;
  if (scale < byFace * 0.9) y = Math.max(target.y - target.height * 0.42, topMargin) - headTop * scale;

  const overflow = topMargin - (y + headTop * scale);
  if (overflow > 0) {
    const floor = Math.min(scale, Math.max(reach, scale * 0.8));
    scale = Math.max(floor, scale * (1 - (0.45 * overflow) / target.height));
    y = topMargin - headTop * scale;
  }
  const missing = bottomLine - (y + size.height * scale);
  // Whole feet may not hang in the air, so a whole player is moved further than one whom the photo cuts.
  if (missing > 0) y += Math.min(missing, target.height * (framing.cutSides.bottom ? 0.5 : 1.1));
  const x = placeAcross(size, framing, face, scale, target, frame);
  return {
    x,
    y,
    width: size.width * scale,
    height: size.height * scale,
    fade: fades({ x, y }, size, scale, framing, frame, bottomLine),
  };
}

/** Big cards show a small photo's blur more, so the limit loosens for them only as far as the card needs filling. */
function sharpness(card: { width: number; height: number }): number {
  return Math.max(1, Math.sqrt((card.width * card.height) / (1024 * 1280)));
}

/** Face on the target; then the whole body's middle pulls a little, so that outstretched arms stay balanced. */
function placeAcross(
  size: { width: number },
  framing: Framing,
  face: Box,
  scale: number,
  target: Box,
  frame: Box,
): number {
  const faceX = target.x + target.width / 2 - (face.x + face.width / 2) * scale;
  const bodyX = frame.x + frame.width / 2 - (framing.body.x + framing.body.width / 2) * scale;
  let x = faceX + Math.max(-1, Math.min(1, (bodyX - faceX) / target.width)) * target.width * 0.16;
  const right = x + size.width * scale;
  // A straight edge slides under the frame where a small step is enough.
  const step = target.width * 0.35;
  const end = frame.x + frame.width;
  if (framing.cutSides.left && !framing.cutSides.right && x > frame.x && x - frame.x <= step) x = frame.x;
  if (framing.cutSides.right && !framing.cutSides.left && right < end && end - right <= step)
    x += end - right;
  return x;
}

function fades(
  at: { x: number; y: number },
  size: { width: number; height: number },
  scale: number,
  framing: Framing,
  frame: Box,
  bottomLine: number,
): Placement["fade"] {
  const { cutSides } = framing;
  const width = size.width * scale;
  const height = size.height * scale;
  const soft = Math.min(width, height) * 0.1;
  return {
    top: cutSides.top && at.y + 1 >= frame.y ? soft : 0,
    left: cutSides.left && at.x > frame.x ? soft : 0,
    right: cutSides.right && at.x + width < frame.x + frame.width ? soft : 0,
    bottom: at.y + height < bottomLine && cutSides.bottom ? Math.min(height * 0.35, soft * 2) : 0,
  };
}

function toPixels(box: Box, card: { width: number; height: number }): Box {
  return {
    x: box.x * card.width,
    y: box.y * card.height,
    width: box.width * card.width,
    height: box.height * card.height,
  };
}
