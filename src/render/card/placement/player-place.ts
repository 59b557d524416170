import type { Box, Composition, CutoutFile } from "../../../core/card.ts";
import type { TemplateManifest } from "../../../templates/manifest.ts";
import type { CardFill } from "../page/messages.ts";
import type { OutlineStyle } from "../page/outline.ts";
import { faceOf, type Placement, placeCutout } from "./framing.ts";
import { type PhotoPlacement, placePhoto } from "./photo-place.ts";
import type { LayoutName, Part, Zones } from "./template-layout.ts";

/** How and where a card shows its player. */
export interface PlacedPlayer {
  composition: Composition;
  place: Placement;
  /** Where the photo lies behind its window; null on a card with a cut-out player. */
  window: PhotoPlacement | null;
}

/**
 * A player cut out and placed before the card's ground. One whom the photo cuts at a side is so large that
 * the window's edge does instead; where that would be too large, a wall hides the photo's edge.
 * @param shown the player, or the silhouette of a card without a photo, of which there is no cutout
 */
export function asCutout(
  shown: ShownPlayer,
  cutout: CutoutFile | null,
  zones: Zones,
  card: Box,
): PlacedPlayer {
  const place = placeCutout(shown, shown.framing, zones, card);
  const filling = cutout && hasWalls(place) ? fillingWindow(cutout, zones, card) : null;
  return { composition: "cutout", place: filling ?? place, window: null };
}

/**
 * A cut-out player as a bust: the face fills its zone, so that heads are alike on all cards, whatever the
 * photo shows of arms and legs. Lower only where the photo ends above the line that the body reaches.
 */
export function asBust({ width, height, framing }: ShownPlayer, zones: Zones, card: Box): PlacedPlayer {
  const face = faceOf(framing);
  const scale = (zones.face.height * card.height) / face.height;
  const line = (zones.body.y + zones.body.height) * card.height;
  const middle = (zones.face.y + zones.face.height / 2) * card.height;
  const player = {
    x: (zones.face.x + zones.face.width / 2) * card.width - (face.x + face.width / 2) * scale,
    y: Math.max(middle - (face.y + face.height / 2) * scale, line - height * scale),
    width: width * scale,
    height: height * scale,
  };
  return { composition: "cutout", place: { ...inWindow(player), cut: framing.cutSides }, window: null };
}

/** A player, or the silhouette of a card without a photo, of which there is no cutout. */
export type ShownPlayer = Pick<CutoutFile, "width" | "height" | "framing">;

/** Whether a straight edge of the photo ends inside the frame. */
export const hasWalls = ({ walls }: Placement) => walls.top + walls.left + walls.right > 0;

/**
 * A cut-out player as large as the photo in the window would be; null where that leaves a gap, or puts the
 * head above the picture: a close-up may lose hair in the window, but before the frame it would look sliced.
 */
function fillingWindow(cutout: CutoutFile, zones: Zones, card: Box): Placement | null {
  const { window, player } = placePhoto(cutout, zones, card);
  const { top, left, right } = cutout.framing.cutSides;
  const leavesGap =
    (top && player.y > window.y + 1) ||
    (left && player.x > window.x + 1) ||
    (right && player.x + player.width < window.x + window.width - 1);
  if (leavesGap || (!top && player.y < 0)) return null;
  return { ...inWindow(player), cut: { top, left: true, right: true } };
}

/** A player whose place the photo's own place decides. */
const inWindow = (player: Box): Placement => ({
  ...player,
  walls: { top: 0, right: 0, left: 0 },
  cut: { top: false, right: false, left: false },
  seen: null,
  stands: false,
});

/** A player in the photo itself, which lies behind the card's window and crops both. */
export function inPhoto(cutout: CutoutFile, zones: Zones, card: Box): PlacedPlayer {
  const window = placePhoto(cutout, zones, card);
  return { composition: "photo", place: inWindow(window.player), window };
}

/** A length in pixels, as style sheets have it. */
export const px = (value: number) => `${Math.round(value * 100) / 100}px`;

/** Beyond the face, how far hair may rise over the window on each side, in face widths. */
const HAIR_WIDTHS = 0.6;

/** The positions of player, walls and window, as lengths for the style sheet. */
export function placesOf({ place, window }: PlacedPlayer): Record<string, string> {
  return {
    "player-x": px(place.x),
    "player-y": px(place.y),
    "player-width": px(place.width),
    "player-height": px(place.height),
    "wall-top": px(place.walls.top),
    "wall-left": px(place.walls.left),
    "wall-right": px(place.walls.right),
    ...(window && {
      "window-x": px(window.window.x),
      "window-y": px(window.window.y),
      "window-width": px(window.window.width),
      "window-height": px(window.window.height),
      "head-left": px(window.face.x - HAIR_WIDTHS * window.face.width),
      "head-right": px(window.face.x + (1 + HAIR_WIDTHS) * window.face.width),
    }),
  };
}

/** What the style sheet may select on. */
export function placeAttributes({ composition, place, window }: PlacedPlayer): Record<string, string> {
  return {
    composition,
    cut: sidesOf(place.cut),
    walls: sidesOf(place.walls),
    stands: place.stands ? "yes" : "no",
    crosses: window?.crosses ? "yes" : "no",
  };
}

/** The sides with a value, as words the style sheet can select on. */
function sidesOf(sides: Record<string, number | boolean>): string {
  return Object.keys(sides)
    .filter((side) => sides[side])
    .join(" ");
}

/** The outline of a die-cut player, in hundredths of the card's width: see OutlineStyle. */
const OUTLINE = { margin: 2, line: 0.25, opacity: 0.88 };
/**
 * A line from this width on is cut paper, as of a sticker: it does not follow each lock of hair but runs in
 * curves of so many widths.
 */
const PAPER = { from: 0.6, round: 1.6 };
/** The margin beyond the line's curves in which its shadow fits. */
const SHADOW_MARGIN = 1.2;

/**
 * How the die-cut player's outline is drawn; null for a player in the photo, who has none.
 * @param own what the template says of it
 * @param dark the colour where the template names none
 */
export function outlineStyle(
  { place, window }: PlacedPlayer,
  layout: LayoutName,
  card: Box,
  own: TemplateManifest["outline"],
  dark: string,
): OutlineStyle | null {
  if (window) return null;
  const unit = unitOf(layout, card);
  const { width = OUTLINE.line, color } = own ?? {};
  const round = width >= PAPER.from ? PAPER.round * width : 0;
  const length = (hundredths: number) => Math.round(hundredths * unit * 10) / 10;
  return {
    width: place.width,
    height: place.height,
    margin: Math.ceil(Math.max(OUTLINE.margin, width + SHADOW_MARGIN, round + SHADOW_MARGIN) * unit),
    line: length(width),
    round: length(round),
    shadow: length(OUTLINE.line),
    colour: color ?? dark,
    opacity: color ? 1 : OUTLINE.opacity,
  };
}

/**
 * A hundredth of a card's width at the design's own shape, in pixels: wide and tall cards are not drawn
 * larger for that.
 */
function unitOf(layout: LayoutName, { width, height }: Box): number {
  const perWidth = layout === "landscape" ? 0.64 : 1;
  return Math.min((perWidth * width) / 100, ((layout === "portrait" ? 0.8 : 1) * height) / 100);
}

/**
 * From this agreement of the networks on, a pale wall is lit without the player: below it, parts of the wall
 * or of the player are on the wrong side of the edge, and would show as patches.
 */
const WALL_MASKS = 0.89;

/**
 * How the photo is drawn as this card's ground, and what tells that picture apart; null on a card with a
 * cut-out player.
 */
export function backdropOf(
  { window }: PlacedPlayer,
  photo: string,
  cutout: CutoutFile | null,
  { body }: Zones,
  card: Box,
  isShaded: boolean,
): { style: NonNullable<CardFill["backdrop"]>; source: string } | null {
  if (!window || !cutout) return null;
  const { quarters, tones, signs, inCompany } = cutout;
  const style = {
    window: window.window,
    photo: window.photo,
    player: window.player,
    face: window.face,
    line: (body.y + body.height) * card.height,
    quarters,
    tones,
    isShaded,
    // Light that leaves the player alone would darken others beside.
    lightsWall: isShaded && !inCompany && signs.masks >= WALL_MASKS,
  };
  return { style, source: `backdrop:${photo} ${Bun.hash.xxHash3(JSON.stringify(style)).toString(16)}` };
}

/**
 * What of the player the rating may hide, at one side or the other; null where the template's rating does not
 * move.
 */
export function ratingSides({ place }: PlacedPlayer, { rating }: Zones, card: Box): CardFill["sides"] {
  if (!rating) return null;
  const player: Part = {
    x: place.x / card.width,
    y: place.y / card.height,
    width: place.width / card.width,
    height: place.height / card.height,
  };
  return { player, rating };
}
