import type { AskedComposition, Box, Composition, CutoutFile } from "../../core/card.ts";
import { asCutout, inPhoto, type PlacedPlayer } from "./player-place.ts";
import type { Zones } from "./template-layout.ts";

/**
 * From this agreement of the networks on a player is cut out well. Measured on 102 photos of which two judges
 * graded both compositions: where the scene takes the wall's place, hair keeps its strands and the photo
 * wins; elsewhere a good cutout is better than a place.
 */
const SURE_MASKS = 0.955;
/** With this agreement the cutout is also better than a photo in which the window would cut arms. */
const SURE_FOR_ARMS = 0.88;
/** A crown or raised hands lower than this part of the card's height leave a drawn ground empty. */
const HIGHEST_POINT = 0.2;

/**
 * How and where a card shows its player: as asked for where the template supports it, otherwise as it looks
 * better. Without a photo there is only the silhouette. A request for what the template does not support was
 * refused, unless the template has changed since.
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
  const within = inPhoto(cutout, zones, card);
  return looksGood(cutout, cut, within, card) ? cut : within;
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

type ShownPlayer = Pick<CutoutFile, "width" | "height" | "framing">;

/**
 * Whether a die-cut player makes the better card: a photo without a background anyway; or nobody near of whom
 * something may be in the cutout, a head that the photo shows whole, no straight edge of the photo inside the
 * frame, a player who fills the card and whom the networks agree on, and a place behind that the card's scene
 * cannot take.
 */
function looksGood(
  { signs, framing, height }: CutoutFile,
  { place }: PlacedPlayer,
  { window }: PlacedPlayer,
  card: Box,
): boolean {
  if (signs?.loose) return true;
  const { top, left, right } = place.walls;
  const highest = place.y + (Math.min(framing.head.y, framing.body.y) / height) * place.height;
  if (framing.cutSides.top || top + left + right > 0 || highest > HIGHEST_POINT * card.height) return false;
  if (!signs) return true;
  if (signs.rivals > 0 || window?.opens) return false;
  const losesArms = window?.cutsArms && place.seen === null;
  return signs.masks >= (losesArms ? SURE_FOR_ARMS : SURE_MASKS);
}
