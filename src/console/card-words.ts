import { BACK_TARGET, FOIL_TARGET, SET_TARGETS, TARGETS } from "../app/batches/squad-cards.ts";
import { type AskedComposition, POSITION_NAMES, type Position } from "../core/card.ts";
import type { FailureReason } from "../core/failure-reasons.ts";

// What the API's fields and values are called where people who do not develop read of them.

/** The labels of fields that no column of a squad list fills, by their paths. */
const OTHERS: Readonly<Record<string, string>> = {
  "style.preset": "Template",
  "style.width": "Width",
  "style.height": "Height",
  "style.format": "Format",
  "style.motion": "Motion",
  "style.back": "Back",
  "style.foil": "Plate of foil",
  "style.layers": "Layers",
  "set.id": "Set",
  file: "Photo",
};

const LABELS: ReadonlyMap<string, string> = new Map([
  ...[...TARGETS, BACK_TARGET, FOIL_TARGET, ...SET_TARGETS]
    .filter(({ key }) => key !== "name_2")
    .map(({ place, label }): [string, string] => [place, label]),
  ...Object.entries(OTHERS),
]);

/** What a form calls a field of the API, such as Shirt number for `player.number`. */
export function labelOf(field: string): string {
  const words = field
    .replace(/^\w+\./, "")
    .replace(/\[(\d+)\]/g, (_, at) => ` ${Number(at) + 1}`)
    .replaceAll(/[._]/g, " ");
  return LABELS.get(field) ?? `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

const COMPOSITION_WORDS: Readonly<Record<AskedComposition, string>> = {
  auto: "Whichever suits the photo",
  cutout: "Player cut out",
  photo: "Within the photo",
};

/** What a message about a photo says to people: where the request has it is for developers. */
export const withoutFields = (message: string): string =>
  message.replace(/ in [\w.]+ cannot be used/, " cannot be used").replace(" (player.focus)", "");

/** A composition in words; any other text stays as it is. */
export const compositionText = (name: string): string => COMPOSITION_WORDS[name as AskedComposition] ?? name;

/** A position in words with its abbreviation, as Striker (ST); any other text stays as it is. */
export const positionText = (name: string): string => {
  const words = POSITION_NAMES[name as Position];
  return words ? `${words} (${name})` : name;
};

/** A template as people call it, as Cup final for `cup_final`. */
export const presetText = (name: string): string =>
  `${name.charAt(0).toUpperCase()}${name.slice(1).replaceAll("_", " ")}`;

const REASON_WORDS: Readonly<Record<FailureReason, string>> = {
  photo_unreachable: "Photo not found at its address",
  photo_too_large: "Photo too large",
  photo_too_small: "Photo too small",
  photo_undecodable: "Photo damaged, or no JPEG, PNG or WebP",
  no_player: "Nobody found in the photo",
  several_people: "Several people in the photo",
  player_too_small: "Player too far away",
  face_cut: "Face cut off",
  face_covered: "Face covered",
  turned: "Photo turned",
  blurred: "Face blurred",
  too_dark: "Face too dark",
  overexposed: "Face too bright",
  badge_unreachable: "Badge not found at its address",
  badge_unusable: "Badge cannot be used",
  picture_unreachable: "Picture not found at its address",
  picture_unusable: "Picture cannot be used",
  preset_gone: "Template removed",
  browser_too_old: "The service's browser is too old",
  consent: "No consent",
  canceled: "Canceled",
  provider: "A fault on our side",
};

/** Why a card failed in words; a reason that a newer version wrote stays as it is. */
export const reasonText = (name: string): string => REASON_WORDS[name as FailureReason] ?? name;
