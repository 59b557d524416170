import type { Box, Framing } from "../../../core/card.ts";
import type { Part, Zones } from "./template-layout.ts";

/** Where the cutout goes on the card, in card pixels. */
export interface Placement extends Box {
  /**
   * How far the photo's own straight edges end inside the frame. A wall of this width covers the gap between
   * edge and frame, so that the card crops the player like a window. 0 when the frame itself hides the edge,
   * or there is none.
   */
  walls: { top: number; right: number; left: number };
  /**
   * Whether the photo cuts off the player at that side; there the frame must contain them, elsewhere arms may
   * overlap it.
   */
  cut: { top: boolean; right: boolean; left: boolean };
  /**
   * What the card shows of the cutout's width, as fractions of it, if the card cuts arms that the photo shows
   * whole; null if it does not.
   */
  seen: { from: number; to: number } | null;
  /** Whether the whole figure is shown, its feet before the plate's upper edge. */
  stands: boolean;
}

interface Size {
  width: number;
  height: number;
}

/** Beyond this, skin turns to mush: a smaller player is better than a blurred one. */
const MAX_ENLARGEMENT = 2.4;
/**
 * When only more enlargement lets a photo's lower edge reach the plate, a little more blur is better than a
 * low head.
 */
const MAX_REACH_ENLARGEMENT = 3.4;
/** Brow to chin as a fraction of a head with hair (Farkas, "Anthropometry of the Head and Face", 1994). */
const FACE_PER_HEAD = 0.62;
/**
 * Distance from the crown in face heights: to above the knees on a portrait card, to the hips on a wide one
 * (an adult is about 12).
 */
const KNEES_FACES = 7.4;
const HIPS_FACES = 5.2;
/** A figure of more face heights is shown to the waist, unless at least this broad for its height. */
const FAR_FACES = 6.3;
const WAIST_FACES = 4.5;
const WIDEST_WAIST_POSE = 0.6;
/**
 * Feet do not stand on the plate: this fraction of a player shown whole is visible, the rest is behind the
 * plate.
 */
const SEEN_OF_WHOLE = 0.8;
/**
 * The largest face, as a fraction of the card's shorter side; a larger close-up leaves no room for the card.
 */
const MAX_FACE = 0.5;
/**
 * The largest to which a player grows so that the frame hides the sides cut by the photo, of the height above
 * the plate.
 */
const MAX_COVERING_FACE = 0.53;
/**
 * A player whose head the photo cuts is a close-up in any case, and must reach from the frame's top to the
 * plate. So is one seen less than NECK_FACES face heights from the crown down: at the usual size the head
 * would hang low on an empty card.
 */
const MAX_CUT_FACE = 0.66;
const NECK_FACES = 1.7;
/**
 * Cards taller than 4:5 leave a close-up more room than their width suggests; it may grow by up to this
 * factor.
 */
const MAX_TALL = 1.25;
/**
 * Outstretched arms stay on the card unless that would shrink the player below this fraction of the available
 * size ...
 */
const LEAST_FOR_ARMS = 0.6;
/**
 * ... in which case the card cuts them, and the player is shown this large: cut arms on a small player look
 * worse.
 */
const WITH_CUT_ARMS = 0.78;
/**
 * A whole figure lower than this, in face heights, crouches, dives or flies: its breadth is the picture ...
 */
const LOW_FACES = 5.8;
/**
 * ... and stays on the card, also where the photo's edge touches it, unless that would shrink it below this
 * fraction.
 */
const LEAST_FOR_LOW = 0.55;
/**
 * How much a player may grow beyond the wanted size, as little as is enough, so that the frame hides the
 * sides cut by the photo ...
 */
const COVER = 1.3;
/** ... and at once where that is not enough, unless the card would then cut arms. */
const MAX_COVER = 1.42;
/** Space above crown or raised hands, as a fraction of the card's height. */
const HEADROOM = 0.016;
/** How far the middle of the face may be from its target, as a fraction of the card's width. */
const MAX_FACE_SHIFT = 0.13;
/** Shoulders reach this far from the middle of the face, in face heights: what reaches further is an arm. */
const SHOULDERS_FACES = 1.5;
/** The space kept free at the card's sides, as a fraction of its width. */
const EDGE = 0.022;

/** A whole figure up to this height, in face heights, is shown with its feet, before the plate's edge ... */
const WHOLE_FACES = 8.6;
/** ... as is one whose limbs are spread so wide, in its heights, where the card is nearly as wide ... */
const SPREAD_BREADTH = 0.85;
const MAX_BREADTH_OF_CARD = 1.25;
/** ... and any that would lose only so much of its height behind the plate. */
const LOST_OF_WHOLE = 0.2;
/** The width that the rating takes at the lower left, and how far a figure moves aside for it at most. */
const RATING = 0.27;
const MAX_ASIDE = 0.1;
/** How far feet stand over the plate's edge, as a fraction of the card's height. */
const LIP = 0.005;

/** The face box, or one estimated from the head. */
export function faceOf(framing: Framing): Box {
  if (framing.face) return framing.face;
  const { head } = framing;
  const height = head.height * FACE_PER_HEAD;
  const width = Math.min(head.width, height * 0.8);
  return { x: head.x + (head.width - width) / 2, y: head.y + head.height - height, width, height };
}

/**
 * Places a cutout of `size` pixels on a card of `card` pixels, on the template's stage: crown and raised
 * hands complete, the body to the waist or the knees, or as far as the photo goes, its lower edge always
 * behind the plate, or a whole figure with its feet at the plate's edge, and the face in its zone as far as
 * that allows. A straight photo edge ends behind the frame or at a wall.
 */
export function placeCutout(size: Size, framing: Framing, zones: Zones, card: Size): Placement {
  const { stage } = zones;
  if (!stage) return placeOnStage(size, framing, zones, card);
  const within = (part: Part): Part => ({
    x: (part.x - stage.x) / stage.width,
    y: (part.y - stage.y) / stage.height,
    width: part.width / stage.width,
    height: part.height / stage.height,
  });
  const place = placeOnStage(
    size,
    framing,
    { face: within(zones.face), body: within(zones.body), frame: within(zones.frame) },
    { width: stage.width * card.width, height: stage.height * card.height },
  );
  return { ...place, x: place.x + stage.x * card.width, y: place.y + stage.y * card.height };
}

/** What is known of a cutout before its size on the card is: lengths in pixels of the cutout. */
interface Figure {
  face: Box;
  /** The uppermost point that has to be seen, hair or a raised hand. */
  top: number;
  foot: number;
  /** How much of it is shown, from `top` down. */
  shown: number;
  /** How much there is to be shown. */
  most: number;
  isCloseUp: boolean;
  /** Crouching, diving or flying: its breadth is the picture. */
  isLow: boolean;
}

function figureOf(framing: Framing, card: Size): Figure {
  const face = faceOf(framing);
  const { cutSides, head, body } = framing;
  const crown = Math.min(head.y, face.y);
  // Hair, caps and raised hands reach above the head the pose reports; none of them may be cut.
  const top = cutSides.top ? 0 : Math.max(0, Math.min(crown, body.y));
  // Below the body are only its soft edge, and shreds of what something hides in the photo.
  const foot = body.y + body.height;
  const breadth = body.width / (foot - crown);
  const isSpread = breadth >= SPREAD_BREADTH && breadth < (MAX_BREADTH_OF_CARD * card.width) / card.height;
  const isWhole = !cutSides.bottom && (isSpread || foot - crown < WHOLE_FACES * face.height);
  const seen = (foot - crown) * (cutSides.bottom || isWhole ? 1 : SEEN_OF_WHOLE);
  const isFar = foot - crown >= FAR_FACES * face.height && breadth < WIDEST_WAIST_POSE;
  const toKnees = clamp((KNEES_FACES * 0.8 * card.height) / card.width, HIPS_FACES, KNEES_FACES);
  const mostFaces = isFar ? WAIST_FACES : toKnees;
  return {
    face,
    top,
    foot,
    shown: (isWhole ? seen : Math.min(seen, mostFaces * face.height)) + crown - top,
    most: seen + crown - top,
    isCloseUp: cutSides.top || foot - crown < NECK_FACES * face.height,
    isLow: !cutSides.bottom && foot - top < LOW_FACES * face.height,
  };
}

function placeOnStage(
  size: Size,
  framing: Framing,
  zones: Pick<Zones, "face" | "body" | "frame">,
  card: Size,
): Placement {
  const target = toPixels(zones.face, card);
  const frame = toPixels(zones.frame, card);
  const line = (zones.body.y + zones.body.height) * card.height;
  const { cutSides } = framing;
  const figure = figureOf(framing, card);
  const { face, top, foot } = figure;
  const upper = cutSides.top ? frame.y : HEADROOM * card.height;
  const fitting = scaleFor(size, framing, figure, { target, frame, card, reach: line - upper });
  const edge = line + LIP * card.height;
  const standing = (edge - upper) / (foot - top);
  const stands = !cutSides.bottom && !cutSides.top && standing > fitting * (1 - LOST_OF_WHOLE);
  const scale = stands ? Math.min(fitting, standing) : fitting;
  const across = placeAcross(size, framing, face, scale, target, frame, card);
  const x = stands ? across + besideRating(framing, across, scale, card) : across;
  const y = stands
    ? edge - foot * scale
    : Math.max(
        upper - top * scale,
        cutSides.top
          ? Number.NEGATIVE_INFINITY
          : target.y + target.height / 2 - (face.y + face.height / 2) * scale,
        line - foot * scale,
      );
  return { ...cropped(size, framing, { x, y, scale }, frame, card), stands };
}

/** The scale at which a player is as large as the card, the arms and the photo's resolution allow. */
function scaleFor(
  size: Size,
  framing: Framing,
  figure: Figure,
  { target, frame, card, reach: room }: { target: Box; frame: Box; card: Size; reach: number },
): number {
  const { cutSides } = framing;
  const { face } = figure;
  const blur = sharpness(card);
  const tall = clamp((0.8 * card.height) / card.width, 1, MAX_TALL);
  const largestFace =
    ((figure.isCloseUp ? MAX_CUT_FACE : MAX_FACE) * tall * Math.min(card.width, card.height)) / face.height;
  const reach = room / figure.shown;
  const limit = (cutSides.bottom ? MAX_REACH_ENLARGEMENT : MAX_ENLARGEMENT) * blur;
  const arms = figure.isLow
    ? Math.max((card.width * (1 - 2 * EDGE)) / framing.body.width, LEAST_FOR_LOW * reach)
    : sizeForArms(widthLimit(framing, face, target, card), reach, room / figure.most);
  const wanted = Math.min(reach, arms, largestFace, limit);
  const widestFace = Math.min(1.1 * largestFace, (MAX_COVERING_FACE * room) / face.height);
  const most = (cover: number) =>
    Math.max(wanted, Math.min(wanted * cover, widestFace, MAX_REACH_ENLARGEMENT * blur));
  const across = (scale: number) => placeAcross(size, framing, face, scale, target, frame, card);
  // Larger only where that closes the gap: a wall alone looks better than a wall beside an oversized face.
  const larger = Array.from({ length: 11 }, (_, step) => wanted + ((most(COVER) - wanted) * step) / 10);
  larger.push(Math.min(arms, most(MAX_COVER)));
  return larger.find((one) => gaps(across(one), size, one, cutSides, frame) === 0) ?? wanted;
}

/** How far a whole figure moves aside, so that it stands beside the rating where there is room. */
function besideRating({ cutSides, body }: Framing, x: number, scale: number, card: Size): number {
  if (cutSides.left || cutSides.right) return 0;
  const needed = RATING * card.width - (x + body.x * scale);
  const room = card.width * (1 - EDGE) - (x + (body.x + body.width) * scale);
  return clamp(Math.min(needed, room), 0, MAX_ASIDE * card.width);
}

/** The box of a player at that place and scale, and what the frame does with it. */
function cropped(
  size: Size,
  { cutSides, body }: Framing,
  { x, y, scale }: { x: number; y: number; scale: number },
  frame: Box,
  card: Size,
): Omit<Placement, "stands"> {
  const [width, height] = [size.width * scale, size.height * scale];
  const end = frame.x + frame.width;
  const beyond = {
    left: !cutSides.left && x + body.x * scale < 0,
    right: !cutSides.right && x + (body.x + body.width) * scale > card.width,
  };
  const from = beyond.left ? (frame.x - x) / width : 0;
  const to = beyond.right ? (end - x) / width : 1;
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
      left: cutSides.left || beyond.left,
      right: cutSides.right || beyond.right,
    },
    seen: beyond.left || beyond.right ? { from, to } : null,
  };
}

/**
 * The scale for outstretched arms: the one at which they fit, unless the player would be too small.
 * @param reach the scale at which a player seen to the knees goes from the card's top to the plate
 * @param whole the scale at which everything that is seen of the player does: larger is never too small
 */
function sizeForArms(fitting: number, reach: number, whole: number): number {
  return fitting < Math.min(LEAST_FOR_ARMS * reach, whole) ? WITH_CUT_ARMS * reach : fitting;
}

/**
 * The scale at which a player shown complete from side to side just fits on the card, the face near its
 * target.
 */
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

/**
 * The enlargement allowed: large cards show a small photo's blur more, so the limit loosens only as far as
 * they need filling.
 */
export function sharpness(shown: Size): number {
  return Math.max(1, Math.sqrt((shown.width * shown.height) / (1024 * 1280)));
}

/** How far straight edges end inside the frame, both sides added. */
function gaps(x: number, size: Size, scale: number, cutSides: Framing["cutSides"], frame: Box): number {
  const left = cutSides.left ? Math.max(0, x - frame.x) : 0;
  const right = cutSides.right ? Math.max(0, frame.x + frame.width - x - size.width * scale) : 0;
  return left + right < 0.5 ? 0 : left + right;
}

/**
 * Puts the face on its target; then lets the middle of the whole body pull it a little, so that outstretched
 * arms look balanced; then moves straight edges under the frame where a small step of the face is enough, and
 * keeps a whole player on the card, or the arm on the side that the photo does not cut.
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
  const edge = EDGE * card.width;
  const [leftmost, rightmost] = [edge - body.x * scale, card.width - edge - (body.x + body.width) * scale];
  const shoulders = SHOULDERS_FACES * face.height;
  const middle = face.x + face.width / 2;
  // Where no step is enough there has to be a wall anyway, or the card cuts the arm, so the face keeps its
  // place.
  if (cutSides.left) {
    const under = underLeft < least ? pulled : Math.min(pulled, underLeft);
    const isArm = body.x + body.width - middle > shoulders;
    return isArm && rightmost >= least - 1 ? Math.min(under, rightmost) : under;
  }
  if (cutSides.right) {
    const under = underRight > most ? pulled : Math.max(pulled, underRight);
    const isArm = middle - body.x > shoulders;
    return isArm && leftmost <= most + 1 ? Math.max(under, leftmost) : under;
  }
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
