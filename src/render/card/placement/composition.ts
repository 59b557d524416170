import type { AskedComposition, Box, Composition, CutoutFile } from "../../../core/card.ts";
import type { PhotoPlacement } from "./photo-place.ts";
import { asBust, asCutout, hasWalls, inPhoto, type PlacedPlayer, type ShownPlayer } from "./player-place.ts";
import type { ZonesOf } from "./template-layout.ts";

/**
 * From this agreement of the networks on a player is cut out well enough to be shown in place of a photo that
 * does not reach the window's edges. Judges prefer any other photo to the best cutout of it
 * (docs/decisions/0022-cutout-or-photo.md).
 */
const SURE_MASKS = 0.955;

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
  zones: ZonesOf,
  card: Box,
): PlacedPlayer {
  const wanted = supported.find((one) => one === asked);
  const cut = isBust ? asBust(shown, zones.cutout, card) : asCutout(shown, cutout, zones.cutout, card);
  if (!cutout || !photo || wanted === "cutout" || !supported.includes("photo")) return cut;
  const shownWhole = inPhoto(cutout, zones.photo, card);
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
 * Whether a card can only show the photo itself, where others may be in the picture: it was asked for, or the
 * template shows nothing else.
 */
export const isPhotoOnly = (asked: AskedComposition | undefined, supported: readonly Composition[]) =>
  (supported.length === 1 ? supported[0] : supported.find((one) => one === asked)) === "photo";

/**
 * Whether a cut-out player makes the better card: of a photo without a background anyway; or of one that
 * does not fill the window, with the whole head, a player on whom the networks agree, and nobody near of whom
 * something may be in the cutout.
 */
function looksBetter({ signs, framing }: CutoutFile, { window }: PlacedPlayer): boolean {
  if (signs.loose) return true;
  const isWhole = !framing.cutSides.top && signs.masks >= SURE_MASKS && signs.rivals === 0;
  return isWhole && window !== null && leavesGap(window);
}

/** Whether the photo ends inside the card's window, and is drawn out to its edge. */
function leavesGap({ photo, window }: PhotoPlacement): boolean {
  const [left, top, right] = [photo.x - window.x, photo.y - window.y, window.x + window.width];
  return left > 1 || top > 1 || right - photo.x - photo.width > 1;
}
