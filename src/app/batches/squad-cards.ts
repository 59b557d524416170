import { SHIRT_NUMBER } from "../../core/card-set.ts";
import { colourNamed } from "../../core/colour-names.ts";
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

const plain = (text: string) =>
  text
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, "");

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
  known: string,
  more: Partial<Pick<Target, "required" | "forAll" | "isColour" | "read">> = {},
): Target => ({
  key,
  label,
  place,
  required: false,
  forAll: false,
  isColour: false,
  read: asText,
  ...more,
  known: known.split(" "),
});

const NEEDED = { required: true };
const FOR_ALL = { forAll: true };
const COLOUR = { isColour: true, read: asColour };

/** The fields of every card, in the order people think of them. */
export const TARGETS: readonly Target[] = [
  target(
    "external_id",
    "Your id of the player",
    "player.external_id",
    "externalid id playerid personid ref reference spielerid passnummer passnr licence license nlicence nolicence numerolicence numerodelicence code member memberid",
    NEEDED,
  ),
  target(
    "name",
    "Name",
    "player.name",
    "name player playername fullname displayname knownas firstname forename givenname vorname prenom spieler joueur nom nombre jugador nome nachname surname lastname",
    NEEDED,
  ),
  target(
    "name_2",
    "Second part of the name",
    "player.name",
    "lastname surname familyname secondname nachname nom nomdefamille apellido apellidos cognome sobrenome",
  ),
  target("position", "Position", "player.position", "position pos role posicion posizione poste posicao", {
    ...NEEDED,
    ...FOR_ALL,
    read: asPosition,
  }),
  target(
    "number",
    "Shirt number",
    "player.number",
    "number no nr num shirt shirtnumber shirtno jersey jerseynumber kit kitnumber squadnumber squadno ruckennummer ruckennr trikotnummer trikotnr spielernummer spielernr dorsal numero n nº nmaillot nomaillot maillot numeromaillot numerodemaillot numer",
    { ...NEEDED, read: asNumber },
  ),
  target(
    "skill_level",
    "Rating",
    "player.skill_level",
    "rating ovr overall skill skilllevel level score starke valoracion note",
    { ...NEEDED, ...FOR_ALL, read: asNumber },
  ),
  target(
    "source_image_url",
    "Photo address",
    "player.source_image_url",
    "photo photourl photolink image imageurl picture pictureurl headshot headshoturl sourceimageurl url link foto bild avatar portrait",
  ),
  target("focus", "Where in the photo (0.25 0.4)", "player.focus", "focus photofocus focuspoint", {
    read: asFocus,
  }),
  target(
    "background_theme",
    "Background theme",
    "style.background_theme",
    "theme background backgroundtheme scene",
    FOR_ALL,
  ),
  target("composition", "Composition", "style.composition", "composition cardcomposition stylecomposition", {
    ...FOR_ALL,
    read: asComposition,
  }),
  target(
    "club_badge_url",
    "Badge address",
    "branding.club_badge_url",
    "badge badgeurl clubbadge clubbadgeurl crest cresturl logo logourl wappen escudo",
    FOR_ALL,
  ),
  target(
    "primary_color",
    "Main colour",
    "branding.primary_color",
    "primarycolor primarycolour maincolor maincolour color colour color1 colour1 farbe",
    { ...FOR_ALL, ...COLOUR },
  ),
  target(
    "secondary_color",
    "Second colour",
    "branding.secondary_color",
    "secondarycolor secondarycolour secondcolor secondcolour color2 colour2",
    { ...FOR_ALL, ...COLOUR },
  ),
];

const asSerial = (text: string) =>
  plain(text) === plain(SHIRT_NUMBER) || plain(text) === "shirt" ? SHIRT_NUMBER : asNumber(text);

/** What a column can mean of cards that belong to a set. */
export const SET_TARGETS: readonly Target[] = [
  target("set_parallel", "Parallel", "set.parallel", "parallel parallels parallele", {
    ...NEEDED,
    ...FOR_ALL,
  }),
  target("set_serial", "Number in the set", "set.serial", "serial serialnumber serialno seriennummer", {
    ...FOR_ALL,
    read: asSerial,
  }),
  target("set_count", "Cards of each", "set.count", "cardsofeach cardseach copies", {
    ...FOR_ALL,
    read: asNumber,
  }),
];

/** Whether the card's other side is made too, of a template that has one. */
export const BACK_TARGET: Target = target(
  "back",
  "Back too (yes)",
  "style.back",
  "back backside otherside reverse ruckseite verso reverso retro",
  { ...FOR_ALL, read: asSwitch },
);

/** Whether a plate of foil is kept too, of a template that says where foil goes. */
export const FOIL_TARGET: Target = target(
  "foil",
  "Plate of foil for print (yes)",
  "style.foil",
  "foilplate plateoffoil",
  { ...FOR_ALL, read: asSwitch },
);

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
          target(`field_${name}`, label, `fields.${name}`, `${plain(name)} ${plain(label)}`, {
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
  const heads = list.columns.map(plain);
  const free = (at: number) => at >= 0 && !Object.values(columns).includes(at);
  for (const { key, known } of targets)
    for (const word of known) {
      // A second part of a name is useful only beside a first one.
      if (
        key === "name_2" &&
        !/^(?:first|fore|given|vor)?name|^prenom|^nombre|^nome/.test(heads[columns.name ?? -1] ?? "")
      )
        break;
      const at = heads.findIndex((head, place) => head === word && free(place));
      if (at < 0) continue;
      columns[key] = at;
      break;
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
  const cell = (row: ListRow, at: number | undefined) => (at === undefined ? "" : plain(row.cells[at] ?? ""));
  const names = rows.map((row) => `${cell(row, name)} ${cell(row, second)}`);
  return !names.includes(" ") && new Set(names).size === names.length ? name : undefined;
}

/** Whether a list has no ids of its own, and its players' names stand for them, in all their parts. */
export const areNamesIds = ({ columns }: Mapping): boolean =>
  columns.external_id !== undefined && columns.external_id === columns.name;

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
