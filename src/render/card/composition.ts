import type { AskedComposition, Box, Composition, CutoutFile } from "../../core/card.ts";
import { asCutout, inPhoto, type PlacedPlayer } from "./player-place.ts";
import type { Zones } from "./template-layout.ts";

/**
 * With less agreement than this between pose, person mask and cutout, the cutout is doubtful. Of 49 photos for which two judges preferred
 * one composition, this and the other signs below choose that one for 37; the agreement of other networks and limbs outside the cutout
 * told no more.
 */
const SURE_MASKS = 0.85;
/** A crown or raised hands lower than this part of the card's height leaves a drawn ground empty. */
const HIGHEST_POINT = 0.2;

/**
 * How and where a card shows its player: as asked for where the template supports it, otherwise as it looks better. Without a
 * photo there is only the silhouette. A request for what the template does not support was refused, unless the template has
 * changed since.
 * @param photo whether the photo itself is at hand
 */
export function placePlayer(
  asked: AskedComposition | undefined,
  supported: readonly Composition[],
  { cutout, shown, photo }: { cutout: CutoutFile | null; shown: ShownPlayer; photo: boolean },
  zones: Zones,
  card: Box,
): PlacedPlayer {
  const wanted = supported.find((one) => one === asked);
  const cut = asCutout(shown, zones, card);
  if (!cutout || !photo || wanted === "cutout" || !supported.includes("photo")) return cut;
  if (wanted === "photo" || !supported.includes("cutout")) return inPhoto(cutout, zones, card);
  return looksGood(cutout, cut, card) ? cut : inPhoto(cutout, zones, card);
}

/** The composition that a test image tells: what is asked for where the template supports it, otherwise the first it supports. */
export function compositionFor(
  asked: AskedComposition | undefined,
  supported: readonly Composition[],
): Composition {
  return supported.find((one) => one === asked) ?? supported[0] ?? "cutout";
}

type ShownPlayer = Pick<CutoutFile, "width" | "height" | "framing">;

/**
 * Whether a die-cut player makes the better card: nobody near of whom something may be in the cutout, no doubt about it, a head that the
 * photo shows whole, no straight edge of the photo inside the frame, and a player who fills the card.
 */
function looksGood({ signs, framing, height }: CutoutFile, { place }: PlacedPlayer, card: Box): boolean {
  if (framing.cutSides.top || (signs && (signs.rivals > 0 || signs.masks < SURE_MASKS))) return false;
  const { top, left, right } = place.walls;
  const highest = place.y + (Math.min(framing.head.y, framing.body.y) / height) * place.height;
  return top + left + right === 0 && highest <= HIGHEST_POINT * card.height;
}
