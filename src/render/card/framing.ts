import type { Box, Framing } from "../../core/card.ts";
import type { Part, Zones } from "./template-layout.ts";

/** Where the cutout goes on the card, in pixels of the card. */
export interface Placement extends Box {
  /**
   * How far the photo's own straight edges lie inside the frame: a wall as wide hides the gap between edge and frame, so
   * that the card crops the player like a window. 0 where the frame itself hides the edge or there is none.
   */
  walls: { top: number; right: number; left: number };
  /** Whether the photo cuts the player at that side: there the frame has to keep them in, elsewhere arms may step over it. */
  cut: { top: boolean; right: boolean; left: boolean };
}

interface Size {
  width: number;
  height: number;
}

/** More than this and skin turns to mush: better a smaller player than a blurred one. */
const MAX_ENLARGEMENT = 2.4;
/** Where only more enlargement lets a photo's lower edge reach the plate, some more blur is better than a head that hangs low. */
const MAX_REACH_ENLARGEMENT = 3.4;
/** Brow to chin is about this part of a head with hair (Farkas, "Anthropometry of the Head and Face", 1994). */
const FACE_PER_HEAD = 0.62;
/** From the crown down, in faces: to above the knees on a portrait card, to the hips on a wide one (an adult is about 12). */
const KNEES_FACES = 7.4;
const HIPS_FACES = 5.2;
/** Feet do not stand on the plate: of a player whom the photo shows whole this part is seen, the rest lies behind it. */
const SEEN_OF_WHOLE = 0.8;
/** The largest face, as a part of the card's shorter side: beyond it a close-up has no room for its card. */
const MAX_FACE = 0.5;
/** One whose head the photo cuts is a close-up in any case, and has to reach from the frame's upper side to the plate. */
const MAX_CUT_FACE = 0.66;
/** Cards taller than 4:5 give a close-up more room than their width tells: it may fill this much more, or the scene stands above it. */
const MAX_TALL = 1.25;
/** Outstretched arms stay on the card, unless the rest would become smaller than this part of what there is room for. */
const LEAST_FOR_ARMS = 0.78;
/** How much larger than wanted a player may become so that the frame hides the sides at which the photo cuts them. */
const MAX_COVER = 1.3;
/** Above crown or raised hands, as a part of the card's height. */
const HEADROOM = 0.016;
/** The face's middle stays within this part of the card's width on either side of its target. */
const MAX_FACE_SHIFT = 0.13;
/** What stays free at the card's sides, as a part of its width. */
const EDGE = 0.01;

/** The face box, or one estimated from the head. */
function faceOf(framing: Framing): Box {
  if (framing.face) return framing.face;
  const { head } = framing;
  const height = head.height * FACE_PER_HEAD;
  const width = Math.min(head.width, height * 0.8);
  return { x: head.x + (head.width - width) / 2, y: head.y + head.height - height, width, height };
}

/**
 * Places a cutout of `size` pixels on a card of `card` pixels: crown and raised hands whole, the body down to the knees
 * or as far as the photo goes, and its lower edge always behind the plate; the face in its zone as far as that
 * allows. A straight photo edge ends behind the frame, or at a wall.
 */
export function placeCutout(size: Size, framing: Framing, zones: Zones, card: Size): Placement {
  const target = toPixels(zones.face, card);
  const frame = toPixels(zones.frame, card);
  const line = (zones.body.y + zones.body.height) * card.height;
  const face = faceOf(framing);
  const { cutSides } = framing;
  const crown = Math.min(framing.head.y, face.y);
  // Hair, a cap and raised hands reach above the head as the pose tells it; none of them may be cut.
  const top = cutSides.top ? 0 : Math.max(0, Math.min(crown, framing.body.y));
  const upper = cutSides.top ? frame.y : HEADROOM * card.height;

  const seen = (size.height - crown) * (cutSides.bottom ? 1 : SEEN_OF_WHOLE);
  const mostFaces = clamp((KNEES_FACES * 0.8 * card.height) / card.width, HIPS_FACES, KNEES_FACES);
  const shown = Math.min(seen, mostFaces * face.height) + crown - top;
  const blur = sharpness(card);
  const tall = clamp((0.8 * card.height) / card.width, 1, MAX_TALL);
  const largestFace =
    ((cutSides.top ? MAX_CUT_FACE : MAX_FACE) * tall * Math.min(card.width, card.height)) / face.height;
  const reach = (line - upper) / shown;
  const limit = (cutSides.bottom ? MAX_REACH_ENLARGEMENT : MAX_ENLARGEMENT) * blur;
  const arms = Math.max(widthLimit(framing, face, target, card), LEAST_FOR_ARMS * reach);
  const wanted = Math.min(reach, arms, largestFace, limit);
  const most = Math.min(wanted * MAX_COVER, largestFace * 1.1, MAX_REACH_ENLARGEMENT * blur);

  const across = (scale: number) => placeAcross(size, framing, face, scale, target, frame, card);
  // Larger only where that closes the gap: a wall looks better than a face too large beside a wall.
  const larger = Array.from({ length: 11 }, (_, step) => wanted + ((most - wanted) * step) / 10);
  const scale = larger.find((one) => gaps(across(one), size, one, cutSides, frame) === 0) ?? wanted;
  const x = across(scale);
  const y = Math.max(
    upper - top * scale,
    cutSides.top
      ? Number.NEGATIVE_INFINITY
      : target.y + target.height / 2 - (face.y + face.height / 2) * scale,
    line - size.height * scale,
  );
  const [width, height] = [size.width * scale, size.height * scale];
  const end = frame.x + frame.width;
  return {
    x,
    y,
    width,
    height,
    walls: {
      top: cutSides.top ? Math.max(0, y - frame.y) : 0,
      left: cutSides.left ? Math.max(0, x - frame.x) : 0,
      right: cutSides.right ? Math.max(0, end - x - width) : 0,
    },
    cut: {
      top: cutSides.top,
      left: cutSides.left || x + framing.body.x * scale < 0,
      right: cutSides.right || x + (framing.body.x + framing.body.width) * scale > card.width,
    },
  };
}

/** The scale at which a player whom the photo shows from side to side just stays on the card, the face near its target. */
function widthLimit({ cutSides, body }: Framing, face: Box, target: Box, card: Size): number {
  const step = MAX_FACE_SHIFT * card.width;
  const middle = target.x + target.width / 2;
  const faceX = face.x + face.width / 2;
  const edge = EDGE * card.width;
  const left = cutSides.left ? 0 : faceX - body.x;
  const right = cutSides.right ? 0 : body.x + body.width - faceX;
  return Math.min(
    (middle + step - edge) / Math.max(1, left),
    (card.width - edge - middle + step) / Math.max(1, right),
    cutSides.left || cutSides.right ? Number.POSITIVE_INFINITY : (card.width - 2 * edge) / body.width,
  );
}

/** Big cards show a small photo's blur more, so the limit loosens for them only as far as the card needs filling. */
function sharpness(card: Size): number {
  return Math.max(1, Math.sqrt((card.width * card.height) / (1024 * 1280)));
}

/** How far straight edges lie inside the frame, both sides together. */
function gaps(x: number, size: Size, scale: number, cutSides: Framing["cutSides"], frame: Box): number {
  const left = cutSides.left ? Math.max(0, x - frame.x) : 0;
  const right = cutSides.right ? Math.max(0, frame.x + frame.width - x - size.width * scale) : 0;
  return left + right < 0.5 ? 0 : left + right;
}

/**
 * Face on the target; then the whole body's middle pulls a little, so that outstretched arms stay balanced; then a
 * straight edge slides under the frame where a step of the face is enough, and a whole player stays on the card.
 */
function placeAcross(
  size: Size,
  framing: Framing,
  face: Box,
  scale: number,
  target: Box,
  frame: Box,
  card: Size,
): number {
  const { cutSides, body } = framing;
  const faceX = target.x + target.width / 2 - (face.x + face.width / 2) * scale;
  const bodyX = frame.x + frame.width / 2 - (body.x + body.width / 2) * scale;
  const step = MAX_FACE_SHIFT * card.width;
  const pulled = faceX + clamp(bodyX - faceX, -0.25 * step, 0.25 * step);
  const [least, most] = [faceX - step, faceX + step];
  const underLeft = frame.x;
  const underRight = frame.x + frame.width - size.width * scale;
  if (cutSides.left && cutSides.right)
    return underRight <= underLeft
      ? clamp(clamp(pulled, underRight, underLeft), least, most)
      : clamp((underLeft + underRight) / 2, faceX - 0.4 * step, faceX + 0.4 * step);
  // Where no step is enough there has to be a wall anyway, and the face keeps its place.
  if (cutSides.left) return underLeft < least ? pulled : Math.min(pulled, underLeft);
  if (cutSides.right) return underRight > most ? pulled : Math.max(pulled, underRight);
  const edge = EDGE * card.width;
  const [leftmost, rightmost] = [edge - body.x * scale, card.width - edge - (body.x + body.width) * scale];
  const kept = leftmost <= rightmost ? clamp(pulled, leftmost, rightmost) : (leftmost + rightmost) / 2;
  return clamp(kept, least, most);
}

const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));

function toPixels(box: Part, card: Size): Box {
  return {
    x: box.x * card.width,
    y: box.y * card.height,
    width: box.width * card.width,
    height: box.height * card.height,
  };
}
