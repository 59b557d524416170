import { BACK_TARGET, SET_TARGETS, TARGETS } from "../app/batches/squad-cards.ts";
import { type AskedComposition, POSITION_NAMES, type Position } from "../core/card.ts";

// What the API's fields and values are called where people who do not develop read of them.

/** The labels of fields that no column of a squad list fills, by their paths. */
const OTHERS: Readonly<Record<string, string>> = {
  "style.preset": "Template",
  "style.width": "Width",
  "style.height": "Height",
  "style.format": "Format",
  "style.motion": "Motion",
  "style.back": "Back",
  "set.id": "Set",
  file: "Photo",
};

const LABELS: ReadonlyMap<string, string> = new Map([
  ...[...TARGETS, BACK_TARGET, ...SET_TARGETS]
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
