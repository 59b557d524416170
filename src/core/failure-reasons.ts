interface ReasonEntry {
  /** What happened. */
  meaning: string;
  /** The one sentence that says what helps. */
  hint: string;
  /** Whether a second try with the same photo would fail again. */
  needsOtherPhoto: boolean;
}

/**
 * Why an image failed, as programs read it beside `failure.code`. Names are added, and never renamed:
 * partners switch on them. The name of a reason once retired is never given to another.
 */
export const FAILURE_REASONS = {
  photo_unreachable: {
    meaning: "The photo could not be fetched from its address.",
    hint: "Check that the photo's address opens in a private browser window, or send the photo to POST /v1/photos and use the address it answers with.",
    needsOtherPhoto: false,
  },
  photo_too_large: {
    meaning: "The photo is larger than 15 MB or 40 megapixels.",
    hint: "Make the photo smaller: 2,000 pixels on the long side are plenty.",
    needsOtherPhoto: true,
  },
  photo_too_small: {
    meaning: "The photo has fewer than 200 pixels on its short side.",
    hint: "Send a larger original of the photo, best with 1,000 pixels or more.",
    needsOtherPhoto: true,
  },
  photo_undecodable: {
    meaning: "The file is damaged, incomplete, or not a JPEG, PNG or WebP.",
    hint: "Save the photo again as JPEG, PNG or WebP and send its new address.",
    needsOtherPhoto: true,
  },
  no_player: {
    meaning: "Nobody was found in the photo, or at the point given in it.",
    hint: "Send a photo, not a drawing, in which the player's face and upper body are clear and well lit; a point given (player.focus) is the middle of the player's face.",
    needsOtherPhoto: true,
  },
  several_people: {
    meaning: "Several people are equally prominent, or others overlap the player.",
    hint: "Point at the player (player.focus), crop the photo to the player, or send one in which one person stands out.",
    needsOtherPhoto: true,
  },
  player_too_small: {
    meaning: "The player takes up too little of the photo.",
    hint: "Crop the photo to the player, or send one taken from nearer.",
    needsOtherPhoto: true,
  },
  face_cut: {
    meaning: "The face is cut off at the photo's edge.",
    hint: "Send a photo that shows the whole head.",
    needsOtherPhoto: true,
  },
  face_covered: {
    meaning: "The face is hidden by a mask, a visor or something held before it.",
    hint: "Send a photo that shows eyes, nose and mouth.",
    needsOtherPhoto: true,
  },
  turned: {
    meaning: "The player lies on the side or upside down.",
    hint: "Turn the photo upright and save it again.",
    needsOtherPhoto: true,
  },
  blurred: {
    meaning: "The face is too blurred.",
    hint: "Send the sharp original rather than a small copy, without motion blur.",
    needsOtherPhoto: true,
  },
  too_dark: {
    meaning: "The face is too dark.",
    hint: "Send a photo in which light falls on the face.",
    needsOtherPhoto: true,
  },
  overexposed: {
    meaning: "The face is burnt out to white.",
    hint: "Send a photo with less light on the face.",
    needsOtherPhoto: true,
  },
  badge_unreachable: {
    meaning: "The club badge could not be fetched from its address.",
    hint: "Check that the badge's address opens in a private browser window, or leave the badge out.",
    needsOtherPhoto: false,
  },
  badge_unusable: {
    meaning: "The club badge is too large, too small, damaged, or not a JPEG, PNG or WebP.",
    hint: "Export the badge again as PNG, at most 5 MB and 4 megapixels, and send its new address.",
    needsOtherPhoto: false,
  },
  picture_unreachable: {
    meaning: "A picture among the preset's own fields could not be fetched from its address.",
    hint: "Check that the address in the field opens in a private browser window, or leave the field out.",
    needsOtherPhoto: false,
  },
  picture_unusable: {
    meaning:
      "A picture among the preset's own fields is too large, too small, damaged, or not a JPEG, PNG or WebP.",
    hint: "Export the picture again as PNG, at most 5 MB and 4 megapixels, and send its new address.",
    needsOtherPhoto: false,
  },
  preset_gone: {
    meaning: "The card template was removed before the card was made.",
    hint: "Send the request again with a preset that GET /v1/presets lists and a new Idempotency-Key.",
    needsOtherPhoto: false,
  },
  browser_too_old: {
    meaning:
      "The card was to move, or to have layers or a plate of foil, and the service's browser can make none of them, or a video as mp4, and the service has no encoder for it.",
    hint: "Send the card as png, webp or jpeg without layers and foil, or instead of mp4 as webm, or ask the operator of the service to update its browser or to name an encoder.",
    needsOtherPhoto: false,
  },
  consent: {
    meaning: "The player's consent was withdrawn or limited before the card was made.",
    hint: "Record a new consent if the player gives one, and request the card again.",
    needsOtherPhoto: false,
  },
  canceled: {
    meaning: "The card was canceled with its batch before it was begun.",
    hint: "Nothing was at fault: request the card again if you still want it.",
    needsOtherPhoto: false,
  },
  provider: {
    meaning: "A fault on our side, after several attempts.",
    hint: "Send the request again with a new Idempotency-Key.",
    needsOtherPhoto: false,
  },
} as const satisfies Record<string, ReasonEntry>;

export type FailureReason = keyof typeof FAILURE_REASONS;

export const FAILURE_REASON_NAMES = Object.keys(FAILURE_REASONS) as FailureReason[];

/** The entry of a stored reason; undefined for none, and for names that a newer version wrote. */
function entryOf(reason: string | null): ReasonEntry | undefined {
  const known = FAILURE_REASON_NAMES.find((name) => name === reason);
  return known && FAILURE_REASONS[known];
}

/** Whether only another photo helps against a stored reason. */
export const needsOtherPhoto = (reason: string | null): boolean => entryOf(reason)?.needsOtherPhoto ?? false;

/** What helps against a stored reason; undefined for none, and for names that a newer version wrote. */
export const hintFor = (reason: string | null): string | undefined => entryOf(reason)?.hint;
