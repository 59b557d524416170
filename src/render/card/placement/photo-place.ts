import type { Box, CutoutDescription, CutoutSigns, Framing } from "../../../core/card.ts";
import { faceOf, sharpness } from "./framing.ts";
import type { Zones } from "./template-layout.ts";

/** Where the whole upright photo goes behind a card's window, and with it the player, in card pixels. */
export interface PhotoPlacement {
  window: Box;
  photo: Box;
  player: Box;
  face: Box;
  /** Whether the head rises over the window's upper edge. */
  crosses: boolean;
}

interface Size {
  width: number;
  height: number;
}

/**
 * A photo that shows somebody from the crown down over more face heights than this was taken from afar: the
 * card shows the upper body, since judges prefer a large face to whole legs
 * (docs/decisions/0022-cutout-or-photo.md). A nearer photo is shown down to where it ends, and so is a player
 * as wide as this part of their height, with arms and legs spread, whose arms then fit the window.
 */
const FAR_FACES = 6.3;
const SPREAD = 0.85;
/**
 * How far down the upper body goes, in face heights for each height of the window in its widths, and within
 * which limits.
 */
const UPPER_BODY = { perShape: 3.6, least: 3.3, most: 4.1 };
/** Outstretched arms and held things stay inside this part of the window ... */
const ARMS_IN = 0.95;
/**
 * ... unless that would shrink the player below this part of the available size: then they are cut, and the
 * player is this large.
 */
const LEAST_FOR_ARMS = 0.62;
const WITH_CUT_ARMS = 0.85;
/**
 * Where so little more lets the photo cover the whole window, it does; a little more where the photo cuts an
 * arm or a shoulder, which would be drawn out beyond it.
 */
const SNUG = { usually: 1.12, cutPlayer: 1.27 };
/** What is held is rarely wider than this, in widths of the body; wider cutouts hold something else too. */
const MOST_HELD = 1.4;
/** A head rises over the window only if the photo goes on above the hair by this part of its height. */
const ABOVE_HAIR = 0.012;
/**
 * The largest face a player is enlarged to, and the largest where the photo has to fill the window, of its
 * shorter side.
 */
const MAX_FACE = 0.46;
const MAX_FILLING_FACE = 0.68;
/** The enlargement of a photo's own pixels, and how much more is allowed to fill the window. */
const MAX_ENLARGEMENT = 2.7;
const FILLING = 1.35;
/**
 * Space above the crown where the head rises over the window, as a part of the card's height, and where it
 * stays inside.
 */
const HEADROOM = 0.03;
const INSIDE_HEADROOM = 0.055;
/** The face's height in the window if the photo has room above and below it, as a part of the height. */
const FACE_AT = 0.28;
/** How close to the window's sides a face's middle may come, as a part of its width. */
const FACE_MARGIN = 0.2;
/**
 * A player is balanced in the window by the face, and by the middle of what is seen of the body by this part.
 */
const LEAN = 0.35;
/** Room between the chin and the plate, in face heights. */
const CHIN_ROOM = 0.2;
/** A face that fills the window may lose so much hair, in face heights; where more is lost it is smaller. */
const LOST_HAIR = 0.2;
/**
 * Only a head on which the networks agree to this part rises over the window: what is wrong with its edge
 * would be seen there.
 */
const CLEAN_HEAD = 0.965;
/**
 * ... and whose crown's edge lies to this part where the photo has one: judges prefer a head that rises from
 * there on, and a lower one below it (docs/decisions/0022-cutout-or-photo.md).
 */
const CLEAN_CROWN = 0.645;
/**
 * A head crosses the window's edge clearly or not at all: its crown is this much above it, in face heights.
 */
const CLEARLY = 0.12;

/**
 * Places a photo behind the window so that the player stands as on a designed card: crown near the card's
 * top, hands inside, the window covered as far as the photo's size and resolution allow.
 */
export function placePhoto(shown: CutoutDescription, zones: Zones, card: Size): PhotoPlacement {
  const window = pixels(zones.frame, card);
  const line = Math.min((zones.body.y + zones.body.height) * card.height, window.y + window.height);
  const seen = { ...window, height: line - window.y };
  const { framing, inPhoto } = shown;
  // All in pixels of the cutout, with the photo's upper left corner as origin.
  const photo = { width: shown.width / inPhoto.width, height: shown.height / inPhoto.height };
  const at = { x: inPhoto.x * photo.width, y: inPhoto.y * photo.height };
  const moved = (box: Box): Box => ({ ...box, x: box.x + at.x, y: box.y + at.y });
  const [face, head, body] = [moved(faceOf(framing)), moved(framing.head), moved(framing.body)];
  const crown = Math.min(head.y, face.y - 0.3 * face.height);
  const top = Math.max(0, Math.min(crown, body.y));
  const wide =
    shown.width <= MOST_HELD * framing.body.width
      ? moved({ ...framing.body, x: 0, width: shown.width })
      : body;
  const endsAbove = !framing.cutSides.top && at.y >= ABOVE_HAIR * photo.height;
  const isClean = risesCleanly(shown.signs);
  // Where the stage does not begin above the window, a headline or a badge stands there.
  const hasRoomAbove = window.y <= 0 || (zones.stage?.y ?? 0) * card.height < window.y - 1;
  const canCross = hasRoomAbove && isClean && endsAbove && body.y >= crown - 0.25 * face.height;
  const inside = framing.cutSides.top ? 0 : INSIDE_HEADROOM;
  const upper = canCross ? HEADROOM * card.height : seen.y + inside * seen.height;
  const scale = scaleFor({ ...framing, face, body }, { wide: wide.width, crown, top }, photo, {
    seen,
    room: line - upper,
    sharp: MAX_ENLARGEMENT * sharpness(window),
  });
  const high = upper - top * scale;
  const down = (wanted: number) => downWindow(wanted, photo.height * scale, seen);
  // A head that stays inside may come down a little where the photo has room above it.
  const atFace = seen.y + FACE_AT * seen.height - (face.y + face.height / 2) * scale;
  // A face that fills the window loses hair rather than its chin.
  const chin = line - CHIN_ROOM * face.height * scale - (face.y + face.height) * scale;
  const free = down(
    Math.min(chin, canCross ? high : Math.max(high, Math.min(atFace, high + 0.06 * seen.height))),
  );
  const crosses = canCross && free + top * scale < window.y - CLEARLY * face.height * scale;
  // Hair that would hardly rise over the edge stays below it.
  const below = seen.y + (INSIDE_HEADROOM / 2) * seen.height - top * scale;
  const y = crosses || framing.cutSides.top ? free : down(Math.min(chin, Math.max(free, below)));
  const cutout = { ...at, width: shown.width, height: shown.height };
  const part = partBetween((seen.y - y) / scale, (line - y) / scale, cutout, framing.extents) ?? wide;
  const x = acrossWindow(face, part, photo.width, scale, zones, card, seen);
  const placed = (box: Box): Box => ({
    x: x + box.x * scale,
    y: y + box.y * scale,
    width: box.width * scale,
    height: box.height * scale,
  });
  return {
    window,
    photo: { x, y, width: photo.width * scale, height: photo.height * scale },
    player: placed(cutout),
    face: placed(face),
    crosses,
  };
}

/** The part of the player between two heights of the photo, in its pixels; null where that is not known. */
function partBetween(top: number, bottom: number, cutout: Box, extents: Framing["extents"] = []): Box | null {
  const high = cutout.height / extents.length;
  const seen = extents.filter((_, k) => cutout.y + (k + 1) * high > top && cutout.y + k * high < bottom);
  const ends = seen.filter((extent) => extent !== null);
  if (ends.length === 0) return null;
  const left = Math.min(...ends.map(([left]) => left));
  const right = Math.max(...ends.map(([, right]) => right));
  return { ...cutout, x: cutout.x + left, width: right - left };
}

/** Whether the head's edge would bear to be seen before the frame. */
const risesCleanly = ({ masks, crown }: CutoutSigns) => masks >= CLEAN_HEAD && crown >= CLEAN_CROWN;

/** In pixels of the cutout: the width with what is held, the crown, the topmost point. */
interface Extent {
  wide: number;
  crown: number;
  top: number;
}

/** What is seen of the window, the height from the topmost point to the plate, the largest enlargement. */
interface Limits {
  seen: Box;
  room: number;
  sharp: number;
}

/**
 * The scale at which the player is as large as the window, the arms and the photo's sharpness allow, and the
 * photo covers the window.
 */
function scaleFor(
  { face, body, cutSides }: { face: Box; body: Box; cutSides: Framing["cutSides"] },
  { wide, crown, top }: Extent,
  photo: Size,
  { seen, room, sharp }: Limits,
): number {
  const tall = body.y + body.height - crown;
  const { perShape, least, most: mostFaces } = UPPER_BODY;
  const upperBody = clamp((perShape * seen.height) / seen.width, least, mostFaces) * face.height;
  const whole = room / Math.max(1, tall + crown - top);
  const arms = (ARMS_IN * seen.width) / wide;
  const fitsArms = (scale: number) => arms >= LEAST_FOR_ARMS * scale;
  const isSpread = body.width >= SPREAD * tall && fitsArms(whole);
  const isFar = tall >= FAR_FACES * face.height && !isSpread;
  const reach = isFar ? room / Math.max(1, upperBody + crown - top) : whole;
  const side = Math.min(seen.width, 0.8 * seen.height);
  const wanted = Math.min(
    fitsArms(reach) ? Math.min(arms, reach) : WITH_CUT_ARMS * reach,
    (MAX_FACE * side) / face.height,
    sharp,
  );
  const cover = Math.max(seen.width / photo.width, seen.height / photo.height);
  const wholeHead = room / (face.y + (1 + CHIN_ROOM - LOST_HAIR) * face.height - top);
  const most = Math.max(
    wanted,
    Math.min((MAX_FILLING_FACE * side) / face.height, wholeHead, sharp * FILLING),
  );
  const scale = Math.min(Math.max(wanted, cover), cutSides.top ? Math.max(wanted, wholeHead) : most);
  const snug = cutSides.left || cutSides.right ? SNUG.cutPlayer : SNUG.usually;
  return cover > scale && cover <= snug * scale ? cover : scale;
}

/**
 * The photo's left edge: face and what is seen of the body balanced about the face's target, hands that are
 * seen inside where there is room, and the photo under the whole window.
 */
function acrossWindow(
  face: Box,
  part: Box,
  width: number,
  scale: number,
  zones: Zones,
  card: Size,
  seen: Box,
): number {
  const middle = (face.x + face.width / 2) * scale;
  const balance = (1 - LEAN) * middle + LEAN * (part.x + part.width / 2) * scale;
  const target = (zones.face.x + zones.face.width / 2) * card.width;
  const [left, right] = [seen.x, seen.x + seen.width];
  let x = target - balance;
  if (part.width * scale <= 0.97 * seen.width)
    x = clamp(
      x,
      left + 0.015 * seen.width - part.x * scale,
      right - 0.015 * seen.width - (part.x + part.width) * scale,
    );
  const spare = width * scale - seen.width;
  x = spare >= 0 ? clamp(x, right - width * scale, left) : clamp(x, left, right - width * scale);
  const margin = FACE_MARGIN * seen.width;
  return clamp(x, left + margin - middle, right - margin - middle);
}

/**
 * The photo's upper edge: as wanted, but with no gap above the plate, and none above the photo where it is
 * high enough.
 */
function downWindow(wanted: number, height: number, seen: Box): number {
  const lowest = seen.y + seen.height - height;
  return height >= seen.height ? clamp(wanted, lowest, seen.y) : lowest;
}

const clamp = (value: number, low: number, high: number) =>
  Math.min(Math.max(value, Math.min(low, high)), Math.max(low, high));

const pixels = (part: { x: number; y: number; width: number; height: number }, card: Size): Box => ({
  x: Math.round(part.x * card.width),
  y: Math.round(part.y * card.height),
  width: Math.round(part.width * card.width),
  height: Math.round(part.height * card.height),
});
