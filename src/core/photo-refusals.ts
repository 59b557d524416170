/** Why a photo cannot become a card, as partners read it; each says how to do better. */
export const PHOTO_REFUSALS = {
  no_player:
    "No player was found in the photo. Use one where the player's face and upper body are clear and well lit.",
  player_too_small:
    "The player is too small in the photo. Use one where the player fills at least a third of the height, 400 pixels or more.",
  face_cut: "The player's face is cut off at the edge of the photo. Use a photo that shows the whole face.",
  undecodable:
    "The photo could not be read: it is damaged, incomplete, larger than 40 megapixels, or not a JPEG, PNG or WebP. Save it again and send a new address.",
} as const;

/** Why a badge that could be decoded when it was fetched cannot be shown: the browser's decoder is another one. */
export const BADGE_REFUSAL =
  "The club badge could not be read by the browser that draws the card. Export it again as PNG and send its new address.";

export type PhotoRefusal = keyof typeof PHOTO_REFUSALS;
