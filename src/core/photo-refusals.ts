import type { FailureReason } from "./failure-reasons.ts";

/**
 * Why no player can be cut out of a readable photo, as partners read it. Each text says what to send instead,
 * with the limits that are actually enforced.
 */
const PLAYER_REFUSALS = {
  no_player:
    "No player was found in the photo. Use one where the player's face and upper body are clear and well lit: a photo, not a drawing or a render.",
  nobody_at_focus:
    "No player was found at the point given in the photo. Point at the middle of the player's face (player.focus: fractions of the upright photo's width and height), or give no point.",
  overlapped:
    "Others in the photo cover the player pointed at, or are too close to be cut away. Use one where the player stands clear of others.",
  several_people:
    "Several people are equally prominent in the photo, so it is not clear whose card it is. Use one where one person stands out, crop this one to the player, or point at the player in it (player.focus).",
  face_cut:
    "The player's face is cut off at the edge of the photo. Use a photo that shows the whole face, and better the whole head.",
  face_covered:
    "The player's face is covered, by a mask, a visor or something held in front of it, so nobody would recognise the player. Use one that shows eyes, nose and mouth; sunglasses, goggles and helmets are fine.",
  sideways:
    "The player lies on the side or upside down in the photo, and it could not be turned upright safely. Use one with the player upright: turn this one and save it again.",
  player_too_small:
    "The player is too small in the photo. Use one where the player takes up at least an eighth of its height and the face at least 26 pixels, as in a standing player of 300 pixels; 1,000 pixels give a sharp card.",
  too_blurred:
    "The player's face is too blurred. Use a sharp photo: the original file rather than a small copy of it, without motion blur.",
  too_dark:
    "The player's face is too dark to be seen. Use one where light falls on the face, not from behind it.",
  too_bright: "The player's face is burnt out to plain white. Use one with less light on the face.",
} as const;

/** Why a photo cannot become a card, as partners read it; each text says what would work. */
export const PHOTO_REFUSALS = {
  ...PLAYER_REFUSALS,
  undecodable:
    "The photo could not be read: it is damaged, incomplete, larger than 40 megapixels, or not a JPEG, PNG or WebP. Save it again and send a new address.",
} as const;

/** Why a badge that was decoded when fetched still cannot be shown: the browser uses a different decoder. */
export const BADGE_REFUSAL =
  "The club badge could not be read by the browser that draws the card. Export it again as PNG and send its new address.";

/** The same of a picture among a preset's own fields. */
export const PICTURE_REFUSAL =
  "A picture among the preset's own fields could not be read by the browser that draws the card. Export it again as PNG and send its new address.";

export type PlayerRefusal = keyof typeof PLAYER_REFUSALS;
export type PhotoRefusal = keyof typeof PHOTO_REFUSALS;

/** The reason of each, as the API names it. */
export const REASON_OF_REFUSAL: Record<PhotoRefusal, FailureReason> = {
  no_player: "no_player",
  nobody_at_focus: "no_player",
  overlapped: "several_people",
  several_people: "several_people",
  face_cut: "face_cut",
  face_covered: "face_covered",
  sideways: "turned",
  player_too_small: "player_too_small",
  too_blurred: "blurred",
  too_dark: "too_dark",
  too_bright: "overexposed",
  undecodable: "photo_undecodable",
};

/** Of a service whose browser gives no pixels away. */
export const BROWSER_REFUSAL =
  "This service makes no cards that move, or have layers or a plate of foil: its browser lacks what they need. Send the card as png, webp or jpeg without layers and foil, or ask the operator of the service to update its browser.";

/** Of a service without an encoder for MP4, which a request was accepted with. */
export const ENCODER_REFUSAL =
  "This service makes no videos as mp4 any more: it has no encoder for them. Send the card as webm, or ask the operator of the service to set CARDPRESS_MP4_ENCODER on each of its machines.";
