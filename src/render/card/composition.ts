import type { AskedComposition, Box, Composition, CutoutFile } from "../../core/card.ts";
import type { PhotoPlacement } from "./photo-place.ts";
import { asBust, asCutout, hasWalls, inPhoto, type PlacedPlayer, type ShownPlayer } from "./player-place.ts";
import type { Zones } from "./template-layout.ts";

/**
 * From this agreement of the networks on a player is cut out well: above it judges prefer the cutout, below
 * it the photo (docs/decisions/0022-cutout-or-photo.md). A little less is enough before a room or a street,
 * which sharp behind the player looks like a snapshot on a card, and where the photo does not reach the
 * window's edges.
 */
const SURE_MASKS = { usually: 0.972, beforeAPoorPhoto: 0.955 };
/** From this part of sharp edges on; walls and backgrounds out of focus have less. */
const CLUTTERED = 0.07;

/**
 * How and where a card shows its player: as asked for where the template supports it, otherwise as it looks
 * better. Without a photo there is only the silhouette. A request for what the template does not support was
 * refused, unless the template has changed since.
 * @param photo whether the photo itself is at hand
 * @param isBust whether a cut-out player is shown as a bust
 */
export function placePlayer(
  asked: AskedComposition | undefined,
  supported: readonly Composition[],
  {
    cutout,
    shown,
    photo,
    isBust = false,
  }: { cutout: CutoutFile | null; shown: ShownPlayer; photo: boolean; isBust?: boolean },
  zones: Zones,
  card: Box,
): PlacedPlayer {
  const wanted = supported.find((one) => one === asked);
  const cut = isBust ? asBust(shown, zones, card) : asCutout(shown, cutout, zones, card);
  if (!cutout || !photo || wanted === "cutout" || !supported.includes("photo")) return cut;
  const shownWhole = inPhoto(cutout, zones, card);
  const isOpen = !wanted && supported.includes("cutout");
  return isOpen && !hasWalls(cut.place) && looksBetter(cutout, shownWhole) ? cut : shownWhole;
}

/**
 * The composition that a test image tells: what is asked for where the template supports it, otherwise the
 * first it supports.
 */
export function compositionFor(
  asked: AskedComposition | undefined,
  supported: readonly Composition[],
): Composition {
  return supported.find((one) => one === asked) ?? supported[0] ?? "cutout";
}

/**
 * Whether a die-cut player makes the better card: a photo without a background anyway; or a head that the
 * photo shows whole, since an outline ends flat where it does not, and a player on whom the networks agree
 * with nobody near of whom something may be in the cutout, or one before a cluttered background.
 */
function looksBetter({ signs, framing }: CutoutFile, { window }: PlacedPlayer): boolean {
  if (!signs || signs.loose) return true;
  const isCluttered = signs.clutter >= CLUTTERED;
  const isPoor = isCluttered || (window !== null && leavesGap(window));
  const sure = isPoor ? SURE_MASKS.beforeAPoorPhoto : SURE_MASKS.usually;
  return !framing.cutSides.top && signs.masks >= sure && signs.rivals <= (isCluttered ? 1 : 0);
}

/** Whether the photo ends inside the card's window, and is drawn out to its edge. */
function leavesGap({ photo, window }: PhotoPlacement): boolean {
  const [left, top, right] = [photo.x - window.x, photo.y - window.y, window.x + window.width];
  return left > 1 || top > 1 || right - photo.x - photo.width > 1;
}
