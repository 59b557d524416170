import { SHIRT_NUMBER } from "../../core/card-set.ts";
import { colourNamed } from "../../core/colour-names.ts";
import { headingsOf, mayBeFirstName, mayBeWholeName, plainHeading, plainWord } from "./heading-words.ts";
import { asPosition } from "./position-words.ts";
import { columnName, type ListRow, type SquadList } from "./squad-list.ts";

/** A card field that a column of a squad list can fill. */
export interface Target {
  /** Its name in forms; a template's own fields start with `field_`. */
  key: string;
  label: string;
  /** The field's path in a create request, such as `player.name`. */
  place: string;
  required: boolean;
  /** Whether one value may apply to the whole squad. */
  forAll: boolean;
  isColour: boolean;
  /** Usual headings of such a column, in lower case without accents and punctuation. */
  known: readonly string[];
  /** Converts a cell's text to the request's value. */
  read: (text: string) => unknown;
}

const asText = (text: string) => text;
/**
 * What is not a number stays text, so that the error message can quote it. Spreadsheets export 9 as 9.0 or
 * 9,0.
 */
const asNumber = (text: string) => (/^-?\d{1,9}(?:[.,]0+)?$/.test(text) ? Number.parseInt(text, 10) : text);

/**
 * Two fractions, as 0.25 0.4 or 25% 40%, are a point. What is not stays text in one, so that the message says
 * what is expected.
 */
export function asFocus(text: string): unknown {
  const [x, y, ...more] = text.match(/(?:\d+(?:[.,]\d+)?|\.\d+)\s*%?/g) ?? [];
  const fraction = (part: string) =>
    Number.parseFloat(part.replace(",", ".")) / (part.endsWith("%") ? 100 : 1);
  const isPoint = x && y && more.length === 0 && !/[^\d\s.,;%/x]/i.test(text);
  return isPoint ? { x: fraction(x), y: fraction(y) } : { x: text, y: text };
}

/** What is neither stays text, so that the error message can quote it. */
const asSwitch = (text: string) =>
  ({ true: true, yes: true, "1": true, false: false, no: false, "0": false })[text.toLowerCase()] ?? text;

/** People capitalise words in lists. */
const asComposition = (text: string) => text.toLowerCase();

/** #RRGGBB, also for a missing # sign, for three-digit colours and for names such as red. */
function asColour(text: string): string {
  const named = colourNamed(text);
  if (named) return named;
  const short = /^#?([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(text);
  if (short)
    return `#${short
      .slice(1)
      .map((digit) => digit + digit)
      .join("")}`;
  return /^[0-9a-f]{6}$/i.test(text) ? `#${text}` : text;
}

const target = (
  key: string,
  label: string,
  place: string,
  more: Partial<Pick<Target, "required" | "forAll" | "isColour" | "known" | "read">> = {},
): Target => ({
  key,
  label,
  place,
  required: false,
  forAll: false,
  isColour: false,
  known: headingsOf(key),
  read: asText,
  ...more,
});

const NEEDED = { required: true };
const FOR_ALL = { forAll: true };
const COLOUR = { isColour: true, read: asColour };

/** The fields of every card, in the order people think of them. */
export const TARGETS: readonly Target[] = [
  target("external_id", "Your id of the player", "player.external_id", NEEDED),
  target("name", "Name", "player.name", NEEDED),
  target("name_2", "Second part of the name", "player.name"),
  target("position", "Position", "player.position", { ...NEEDED, ...FOR_ALL, read: asPosition }),
  target("number", "Shirt number", "player.number", { ...NEEDED, read: asNumber }),
  target("skill_level", "Rating", "player.skill_level", { ...NEEDED, ...FOR_ALL, read: asNumber }),
  target("source_image_url", "Photo address", "player.source_image_url"),
  target("focus", "Where in the photo (0.25 0.4)", "player.focus", { read: asFocus }),
  target("background_theme", "Background theme", "style.background_theme", FOR_ALL),
  target("composition", "Composition", "style.composition", { ...FOR_ALL, read: asComposition }),
  target("club_badge_url", "Badge address", "branding.club_badge_url", FOR_ALL),
  target("primary_color", "Main colour", "branding.primary_color", { ...FOR_ALL, ...COLOUR }),
  target("secondary_color", "Second colour", "branding.secondary_color", { ...FOR_ALL, ...COLOUR }),
];

const asSerial = (text: string) =>
  [plainWord(SHIRT_NUMBER), "shirt"].includes(plainWord(text)) ? SHIRT_NUMBER : asNumber(text);

/** What a column can mean of cards that belong to a set. */
export const SET_TARGETS: readonly Target[] = [
  target("set_parallel", "Parallel", "set.parallel", { ...NEEDED, ...FOR_ALL }),
  target("set_serial", "Number in the set", "set.serial", { ...FOR_ALL, read: asSerial }),
  target("set_count", "Cards of each", "set.count", { ...FOR_ALL, read: asNumber }),
];

/** Whether the card's other side is made too, of a template that has one. */
export const BACK_TARGET: Target = target("back", "Back too (yes)", "style.back", {
  ...FOR_ALL,
  read: asSwitch,
});

/** Whether a plate of foil is kept too, of a template that says where foil goes. */
export const FOIL_TARGET: Target = target("foil", "Plate of foil for print (yes)", "style.foil", {
  ...FOR_ALL,
  read: asSwitch,
});

/** What a column can mean with a template of these additional fields. */
export const targetsFor = (
  fields: Parameters<typeof templateTargets>[0],
  { back, foil }: { back: boolean; foil: boolean },
): Target[] => [
  ...TARGETS,
  ...(back ? [BACK_TARGET] : []),
  ...(foil ? [FOIL_TARGET] : []),
  ...templateTargets(fields),
];

/** A template's additional fields, as far as a cell can hold them. */
export function templateTargets(
  fields: Readonly<Record<string, { type: string; title?: string; required?: boolean }>> = {},
): Target[] {
  const readers: Record<string, Target["read"]> = {
    text: asText,
    qr: asText,
    image: asText,
    choice: asText,
    color: asColour,
    integer: asNumber,
    number: (text) => (/^-?\d+(?:[.,]\d+)?$/.test(text) ? Number(text.replace(",", ".")) : text),
    boolean: asSwitch,
  };
  return Object.entries(fields).flatMap(([name, { type, title, required = false }]) => {
    const read = readers[type];
    const label = title ?? name.replaceAll("_", " ");
    return read
      ? [
          target(`field_${name}`, label, `fields.${name}`, {
            known: [plainWord(name), plainWord(label)],
            required,
            read,
            isColour: type === "color",
            ...FOR_ALL,
          }),
        ]
      : [];
  });
}

/** For each target its column, by index, and a text for the whole squad or for empty cells. */
export interface Mapping {
  columns: Record<string, number>;
  all: Record<string, string>;
}

/**
 * Guesses each column's target from its heading, and a photo's from its addresses. No column is used twice.
 */
export function guessMapping(list: SquadList, targets: readonly Target[]): Mapping {
  const columns: Record<string, number> = {};
  const heads = list.columns.map(plainHeading);
  const free = (at: number) => at >= 0 && !Object.values(columns).includes(at);
  for (const { key, known } of targets)
    for (const word of known) {
      // A second part of a name is useful only beside a first one.
      if (key === "name_2" && !mayBeFirstName(heads[columns.name ?? -1] ?? "")) break;
      const at = heads.findIndex((head, place) => head === word && free(place));
      if (at < 0) continue;
      columns[key] = at;
      break;
    }
  const { name, name_2: second } = columns;
  // Beside a first name, "Name" is the last one in some lists, and the whole one in others.
  if (mayBeWholeName(heads[second ?? -1] ?? "") && hasWholeNames(list.rows, name, second)) {
    columns.name = second as number;
    delete columns.name_2;
  }
  if (columns.source_image_url === undefined) {
    const at = list.columns.findIndex((_, place) => free(place) && holdsAddresses(list.rows, place));
    if (at >= 0) columns.source_image_url = at;
  }
  const id = columns.external_id ?? columnOfIds(list, columns);
  return { columns: id === undefined ? columns : { ...columns, external_id: id }, all: {} };
}

/**
 * A club without ids of its own knows its players by name, where no two share it. Never by shirt number:
 * other teams of the account have the same, and a consent or a deletion would be another player's too.
 */
function columnOfIds({ rows }: SquadList, { name, name_2: second }: Record<string, number>) {
  if (name === undefined) return undefined;
  const cell = (row: ListRow, at: number | undefined) =>
    at === undefined ? "" : plainWord(row.cells[at] ?? "");
  const names = rows.map((row) => `${cell(row, name)} ${cell(row, second)}`);
  return !names.includes(" ") && new Set(names).size === names.length ? name : undefined;
}

/** Whether a list has no ids of its own, and its players' names stand for them, in all their parts. */
export const areNamesIds = ({ columns }: Mapping): boolean =>
  columns.external_id !== undefined && columns.external_id === columns.name;

/** Whether what stands in `first` begins or ends what stands in `whole`, in most rows. */
const hasWholeNames = (rows: ListRow[], first = -1, whole = -1) =>
  rows.filter(({ cells }) => {
    const [part, all] = [plainWord(cells[first] ?? ""), plainWord(cells[whole] ?? "")];
    return part !== "" && all.length > part.length && (all.startsWith(part) || all.endsWith(part));
  }).length >
  rows.length / 2;

const holdsAddresses = (rows: ListRow[], at: number) =>
  rows.filter(({ cells }) => /^https?:\/\//i.test(cells[at] ?? "")).length > rows.length / 2;

/** What all cards of a list have in common; what is left out the API decides. */
export interface CardStyle {
  preset: string;
  width?: number;
  height?: number;
  format?: string;
}

/**
 * The card of each row as a batch takes it, not validated: the API's own checks report what is missing or
 * wrong. `setId`: the set that all of them belong to.
 */
export function cardsOfList(
  list: SquadList,
  targets: readonly Target[],
  mapping: Mapping,
  style: CardStyle,
  setId?: string,
): unknown[] {
  return list.rows.map(({ cells }) => {
    const card: Record<string, Record<string, unknown>> = {
      player: {},
      style: { ...style },
      ...(setId === undefined ? {} : { set: { id: setId } }),
    };
    for (const { key, place, read } of targets) {
      const at = mapping.columns[key];
      const text = (at === undefined ? "" : (cells[at] ?? "")) || (mapping.all[key] ?? "");
      if (text === "") continue;
      const [group = "", name = ""] = place.split(".");
      const own = card[group] ?? {};
      card[group] = own;
      own[name] = key === "name_2" && own[name] !== undefined ? `${own[name]} ${text}` : read(text);
    }
    if (areNamesIds(mapping) && card.player?.name !== undefined) card.player.external_id = card.player.name;
    return { type: "player_card", ...card };
  });
}

/** A fault in terms of the file, reported once for all rows that have it. */
export interface ListFault {
  /** Row numbers as the spreadsheet shows them. */
  lines: number[];
  /** The column's heading in the file; the field's label for a missing column or a value shared by all. */
  column: string;
  message: string;
}

/**
 * Translates faults that name a card's field, such as `cards[17].player.number`, to places in the file; also
 * lists the rows without any.
 */
export function faultsInList(
  list: SquadList,
  targets: readonly Target[],
  mapping: Mapping,
  details: readonly { field: string; message: string }[],
): { faults: ListFault[]; sound: number[] } {
  const faults = new Map<string, ListFault>();
  const broken = new Set<number>();
  for (const { field, message } of details) {
    const [, index, place = ""] = /^cards\[(\d+)\](?:\.(.+))?$/.exec(field) ?? [];
    const at = Number(index ?? -1);
    const row = list.rows[at];
    if (!row) continue;
    broken.add(at);
    const own = targets.find((each) => place === each.place || place.startsWith(`${each.place}.`));
    const from = own && mapping.columns[own.key];
    const column = from === undefined ? (own?.label ?? place) : columnName(list.columns, from);
    const worded = message.replaceAll(
      /that of cards\[(\d+)\]/g,
      (_, first) => `that of row ${list.rows[Number(first)]?.line}`,
    );
    const known = faults.get(`${column}\n${worded}`);
    if (known) known.lines.push(row.line);
    else faults.set(`${column}\n${worded}`, { lines: [row.line], column, message: worded });
  }
  return { faults: [...faults.values()], sound: [...list.rows.keys()].filter((at) => !broken.has(at)) };
}
