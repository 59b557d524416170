import type { ShownSet } from "../core/card-set.ts";
import {
  MAX_ACCOUNT_NAME_CHARS,
  MAX_PARALLEL_NAME_CHARS,
  MAX_PARALLEL_SIZE,
  MAX_SEASON_CHARS,
  MAX_TEMPLATE_CODE_CHARS,
} from "../core/limits.ts";
import type { Examined } from "../templates/examine.ts";
import type { Field, Fields, FieldValues, SingleField } from "../templates/fields.ts";
import type { WallCase } from "./messages.ts";
import { testBadgeName } from "./test-badges.ts";

// The cases a template must withstand: those of the wall and of `template check`.

/** A sample's content as JSON. */
export type SampleBody = Record<string, Record<string, unknown> | undefined>;

/** Names that break cards, labelled for designers. */
const NAMES: readonly [label: string, name: string][] = [
  ["one letter", "J"],
  ["two letters", "Li"],
  ["long single word", "Wolfeschlegelsteinhausenbergerdorff"],
  ["long, hyphenated", "Jean-Christophe Featherstonehaugh-Cholmondeley"],
  ["100 letters", `${"Maximiliano Alexandrovich ".repeat(3)}Featherstonehaugh III`.slice(0, 100)],
  ["many short words", "Ana da Silva e Sá do Rio de la O y Paz"],
  ["marks over capitals", "Ångström Ñúñez Ÿýźčť"],
  ["apostrophes", "D’Artagnan O'Connor-N’Golo"],
  ["digits", "Player 12345678"],
  ["emoji", "Leo ⚽🔥 Star"],
];

/** A name in each script that cards must support. */
const SCRIPTS: readonly [label: string, name: string][] = [
  ["Latin", "Maya Okafor"],
  ["Vietnamese", "Nguyễn Thị Ánh Tuyết"],
  ["Cyrillic", "Александра Щербакова"],
  ["Greek", "Γιώργος Παπαδόπουλος"],
  ["Arabic", "محمد صلاح عبد الرحمن"],
  ["Hebrew", "נועם בן־דוד"],
  ["Devanagari", "विराट श्रीवास्तव"],
  ["Bengali", "রবীন্দ্রনাথ ঠাকুর"],
  ["Tamil", "ரஜினிகாந்த் முருகன்"],
  ["Thai", "ธีรศิลป์ แดงดา"],
  ["Georgian", "ხვიჩა კვარაცხელია"],
  ["Armenian", "Հենրիխ Մխիթարյան"],
  ["Ethiopic", "ጥሩነሽ ዲባባ"],
  ["Japanese", "久保 建英"],
  ["Chinese", "武磊"],
  ["Korean", "손흥민"],
];

/** Colour pairs that are hard on ink and edges. */
const HARD_PAIRS: readonly [label: string, primary: string, secondary: string][] = [
  ["dark on dark", "#0a0a0f", "#14141c"],
  ["light on light", "#fdfdfa", "#f2efe6"],
  ["black and white", "#000000", "#ffffff"],
  ["white and black", "#ffffff", "#000000"],
  ["equal colours", "#c8102e", "#c8102e"],
  ["equal lightness", "#d14a3a", "#3a8f4e"],
  ["pure yellow", "#ffff00", "#00ffff"],
  ["middle grey", "#777777", "#808080"],
];

/** Number of random colour pairs, the same ones in every run. */
const RANDOM_PAIRS = 100;

/** A skill level in each tier. */
const TIERS: readonly [label: string, level: number][] = [
  ["bronze", 45],
  ["silver", 68],
  ["gold", 82],
  ["elite", 99],
];

/** Colour pairs from a small generator, the same in every run. */
export function randomPairs(count: number): [primary: string, secondary: string][] {
  let state = 0x2545f491;
  const colour = () => {
    // xorshift32 (Marsaglia, 2003)
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return `#${((state >>> 0) & 0xffffff).toString(16).padStart(6, "0")}`;
  };
  return Array.from({ length: count }, () => [colour(), colour()]);
}

export const WALLS = ["samples", "fields", "names", "scripts", "badges", "colours", "random"] as const;
export type Wall = (typeof WALLS)[number];

/**
 * The cases of one wall.
 * @param samples the samples' content by name
 * @param sample the sample that every wall except `samples` varies
 * @param fields the template's own fields
 * @param hasSet whether it says anything of a set
 */
export function wallCases(
  wall: Wall,
  samples: ReadonlyMap<string, SampleBody>,
  sample: string,
  fields: Fields,
  hasSet = false,
): WallCase[] {
  const base = samples.get(sample) ?? {};
  const made = (label: string, body: SampleBody, of = sample): WallCase => ({
    id: `${wall}-${of}-${label}`.replaceAll(/[^a-z0-9]+/gi, "-"),
    label,
    group: wall,
    sample: of,
    body,
  });
  switch (wall) {
    case "samples":
      return [...samples].map(([name, body]) => made(name, body, name));
    case "fields":
      return [
        ...extremes(fields, base.fields ?? {}).map(([label, values]) =>
          made(label, { ...base, fields: values }),
        ),
        ...(hasSet ? SETS.map(([label, set]) => made(label, { ...base, set })) : []),
      ];
    case "names":
      return NAMES.map(([label, name]) => made(label, named(base, name)));
    case "scripts":
      return SCRIPTS.map(([label, name]) => made(label, named(base, name)));
    case "badges":
      return [
        made("no badge", withBadge(base, undefined)),
        made("tall badge", withBadge(base, testBadgeName("tall"))),
        made("wide badge", withBadge(base, testBadgeName("wide"))),
        made("light badge", withBadge(base, testBadgeName("light"))),
        made("dark badge", withBadge(base, testBadgeName("dark"))),
        made("no photo", { ...base, player: { ...base.player, photo: undefined } }),
        ...TIERS.map(([label, level]) =>
          made(label, { ...base, player: { ...base.player, skill_level: level } }),
        ),
      ];
    case "colours":
      return [
        made("no colours", coloured(base, undefined, undefined)),
        ...HARD_PAIRS.map(([label, primary, secondary]) => made(label, coloured(base, primary, secondary))),
      ];
    case "random":
      return randomPairs(RANDOM_PAIRS).map(([primary, secondary]) =>
        made(`${primary} ${secondary}`, coloured(base, primary, secondary)),
      );
  }
}

/** Words with wide letters, marks and descenders: as much room as a text of its length takes. */
const WORDS = "Wolverhampton Wanderers Åsgårdstrand Jågymæ Mommsen ";

/** A set with as much to say as one may have, and with as little. */
const SETS: readonly [label: string, set: ShownSet][] = [
  [
    "a set at its largest",
    {
      name: longText(MAX_ACCOUNT_NAME_CHARS),
      season: longText(MAX_SEASON_CHARS),
      parallel: longText(MAX_PARALLEL_NAME_CHARS),
      serial: MAX_PARALLEL_SIZE,
      size: MAX_PARALLEL_SIZE,
    },
  ],
  ["a set at its smallest", { name: "I", parallel: "I" }],
];

/** Whether either side shows or tests anything of a set. */
export function showsSet({ markup, back }: Pick<Examined, "markup" | "back">): boolean {
  const paths = [...markup.paths, ...(back?.paths ?? [])];
  return paths.some((path) => path === "serial" || path.startsWith("set."));
}

function longText(chars: number): string {
  const text = WORDS.repeat(Math.ceil(chars / WORDS.length)).slice(0, chars);
  // Spaces at the end take no room on a card.
  return text.endsWith(" ") ? `${text.slice(0, -1)}M` : text;
}

type Longer = (a: string, b: string) => number;

function simpleExtreme(field: SingleField, isLargest: boolean): unknown {
  const byLength: Longer = (a, b) => (isLargest ? b.length - a.length : a.length - b.length);
  switch (field.type) {
    case "text":
      return isLargest ? longText(field.max) : "I";
    case "integer":
    case "number":
      return isLargest ? field.max : field.min;
    case "boolean":
      return isLargest;
    case "choice":
      return field.options.toSorted(byLength)[0];
    case "color":
      return isLargest ? "#FFFFFF" : "#000000";
    case "qr":
      return isLargest ? "https://example.org/".padEnd(MAX_TEMPLATE_CODE_CHARS, "Aa1-") : "1";
    case "image":
      return testBadgeName(isLargest ? "wide" : "tall");
  }
}

function extremeOf(field: Field, isLargest: boolean): unknown {
  if (field.type !== "list") return simpleExtreme(field, isLargest);
  const count = isLargest ? field.max : (field.min ?? 0);
  return Array.from({ length: count }, () => allExtreme(field.of, isLargest));
}

function allExtreme(fields: Fields, isLargest: boolean): FieldValues {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, extremeOf(field, isLargest)]),
  );
}

const requiredOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, { required }]) => required));

/**
 * Fields at the ends of what their template declares: all of them, none, and each alone, so that a fault
 * tells which.
 */
function extremes(fields: Fields, usual: FieldValues): [label: string, values: FieldValues][] {
  const names = Object.entries(fields);
  if (names.length === 0) return [];
  return [
    ["all at their largest", allExtreme(fields, true)],
    ["all at their smallest", allExtreme(fields, false)],
    ["none but the required", allExtreme(requiredOf(fields), false)],
    ...names.map(([name, field]): [string, FieldValues] => [
      `${name} at its ${field.type === "text" ? `${field.max} letters` : "largest"}`,
      { ...usual, [name]: extremeOf(field, true) },
    ]),
  ];
}

function named(body: SampleBody, name: string): SampleBody {
  return { ...body, player: { ...body.player, name } };
}

function coloured(body: SampleBody, primary?: string, secondary?: string): SampleBody {
  return { ...body, branding: { ...body.branding, primary_color: primary, secondary_color: secondary } };
}

function withBadge(body: SampleBody, badge: string | undefined): SampleBody {
  return { ...body, branding: { ...body.branding, badge } };
}
