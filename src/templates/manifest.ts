import { type Static, Type } from "@sinclair/typebox";
import { Value, type ValueError, ValueErrorType } from "@sinclair/typebox/value";
import { COMPOSITIONS, type Composition } from "../core/card.ts";
import type { ErrorDetail } from "../core/errors.ts";
import { jsonPlaces, whereFaulty } from "../core/json-place.ts";
import { MAX_TEMPLATE_PICTURES, PICTURE_SIDE_PX } from "../core/picture-limits.ts";
import { StringEnum } from "../core/string-enum.ts";
import { COLOUR_PATTERN } from "../core/validate.ts";
import { didYouMean, type Fault, faultAt } from "./fault.ts";
import { checkFields, FIELD_TYPES, FieldsSchema, imageFields, NAME_PATTERN } from "./fields.ts";

/** Names of templates, used as folder names and as presets in the API. */
export const TEMPLATE_NAME = /^[a-z][a-z0-9_]{0,63}$/;

const side = Type.Integer(PICTURE_SIDE_PX);
/** Bounds of a picture's width / height; 512x2048 is 0.25, 2048x512 is 4. */
const aspect = Type.Number({ minimum: 0.25, maximum: 4 });

/** How a photo is shown in the card's frame; the first is usual. */
const BACKDROPS = ["shaded", "plain"] as const;

/** How much is shown of a cut-out player; the first is usual. */
const FIGURES = ["body", "bust"] as const;

/** The contents of template.json. */
export const TemplateManifest = Type.Object(
  {
    name: Type.String({ pattern: TEMPLATE_NAME.source }),
    version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+$" }),
    title: Type.Optional(Type.String({ minLength: 1, maxLength: 80 })),
    description: Type.Optional(Type.String({ maxLength: 500 })),
    /** Sizes in pixels the template was designed for, by name; the first is the default. */
    sizes: Type.Record(Type.String({ pattern: NAME_PATTERN }), Type.Tuple([side, side]), {
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 12,
    }),
    /** The narrowest and widest width / height that the card fills; beyond that the picture gets a margin. */
    shapes: Type.Tuple([aspect, aspect]),
    /** Whether the card bleeds to the cut edge of a 63 x 88 mm print instead of lying inside it. */
    bleeds: Type.Optional(Type.Boolean()),
    /** How it shows a player, the usual way first; without it cut out. */
    compositions: Type.Optional(
      Type.Array(StringEnum(COMPOSITIONS), {
        minItems: 1,
        maxItems: COMPOSITIONS.length,
        uniqueItems: true,
      }),
    ),
    /**
     * The line around a cut-out player: its width in hundredths of the card's width, its colour. Thin and of
     * the club's dark if not given.
     */
    outline: Type.Optional(
      Type.Object(
        {
          width: Type.Optional(Type.Number({ minimum: 0.1, maximum: 3 })),
          color: Type.Optional(Type.String({ pattern: COLOUR_PATTERN })),
        },
        { additionalProperties: false, minProperties: 1 },
      ),
    ),
    /** How much of a cut-out player is shown: as far as there is room, or head and shoulders of one size. */
    figure: Type.Optional(StringEnum(FIGURES)),
    /** Whether the photo in the card's frame is darker towards its edges, or shown as it was taken. */
    backdrop: Type.Optional(StringEnum(BACKDROPS)),
    /** The template's own fields, which partners send. */
    fields: Type.Optional(FieldsSchema),
  },
  { additionalProperties: false },
);
export type TemplateManifest = Static<typeof TemplateManifest>;

export const MANIFEST_FILE = "template.json";

/** What is meant by a name, for people. */
export const titleOf = ({ title, name }: TemplateManifest): string =>
  title ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");

/** The ways in which a template shows a player, the usual one first. */
export const compositionsOf = ({
  compositions = ["cutout"],
}: Pick<TemplateManifest, "compositions">): readonly Composition[] => compositions;

/**
 * What is wrong with a request for a composition with this template; `auto`, and none, are right with every
 * one.
 */
export function checkComposition(
  manifest: Pick<TemplateManifest, "name" | "compositions">,
  asked: string | undefined,
): ErrorDetail[] {
  const supported = compositionsOf(manifest);
  if (asked === undefined || ["auto", ...supported].includes(asked)) return [];
  const offered = supported.map((one) => `"${one}"`).join(" and ");
  const message = `is "${asked}", which the preset ${manifest.name} does not support; it supports ${offered}. Send one of these, or "auto".`;
  return [{ field: "style.composition", message }];
}

/** Reads template.json. With any error there is no manifest. */
export function readManifest(json: string): { manifest: TemplateManifest | null; faults: Fault[] } {
  const bad = whereFaulty(json);
  if (bad)
    return {
      manifest: null,
      faults: [
        {
          file: MANIFEST_FILE,
          ...bad,
          severity: "error",
          code: "json_syntax",
          message: "is not JSON from here on. Look for a missing comma, quotation mark or bracket.",
        },
      ],
    };
  const value: unknown = JSON.parse(json);
  const places = jsonPlaces(json);
  const problems = problemsOf(value);
  const faults = problems.map(({ path, message, code }) =>
    faultAt(MANIFEST_FILE, json, placeOf(places, path), code, `${path || "the whole file"}: ${message}`),
  );
  return { manifest: faults.length === 0 ? (value as TemplateManifest) : null, faults };
}

/** The position of a path, or of its closest existing ancestor. */
function placeOf(places: Map<string, number>, path: string): number {
  for (let at = path; at !== ""; at = at.slice(0, at.lastIndexOf("/"))) {
    const place = places.get(at);
    if (place !== undefined) return place;
  }
  return places.get("") ?? 0;
}

interface Problem {
  path: string;
  code: string;
  message: string;
}

function problemsOf(value: unknown): Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const error of Value.Errors(TemplateManifest, value)) {
    const [problem] = fieldProblem(value, error) ?? [
      { path: error.path, code: codeOf(error), message: remedyOf(error) },
    ];
    if (!problem || seen.has(problem.path)) continue;
    seen.add(problem.path);
    problems.push(problem);
    if (problems.length === 20) break;
  }
  return problems.length > 0 ? problems : contradictions(value as TemplateManifest);
}

/** For a field that matches no type: what its declared type lacks says more than "expected union value". */
function fieldProblem(value: unknown, { path, type }: ValueError): Problem[] | undefined {
  if (type !== ValueErrorType.Union) return undefined;
  const field = at(value, path) as { type?: unknown } | undefined;
  const schema = FIELD_TYPES[String(field?.type)];
  if (!schema) {
    const types = Object.keys(FIELD_TYPES).join(", ");
    return [{ path, code: "manifest", message: `type must be one of ${types}.` }];
  }
  const [first] = Value.Errors(schema, field);
  if (!first) return undefined;
  const inner = { ...first, path: path + first.path };
  return fieldProblem(value, inner) ?? [{ path: inner.path, code: codeOf(inner), message: remedyOf(inner) }];
}

function at(value: unknown, pointer: string): unknown {
  const keys = pointer.split("/").slice(1);
  return keys.reduce<unknown>((found, key) => (found as Record<string, unknown> | undefined)?.[key], value);
}

const PATTERN_REMEDIES: Record<string, string> = {
  "/name": "use a lower-case letter, then letters, digits and underscores, as in season_card.",
  "/version": "use three numbers, as in 1.0.0.",
};

/** What earlier versions of the format had, and where it moved. */
const GONE: Record<string, string> = {
  "/layouts": 'boxes are placed in card.css now, as elements with data-zone. Remove it, and say "shapes".',
  "/fonts": "families need not be listed any more. Remove it.",
  "/name_text": "--fit-largest, --fit-smallest and --fit-one-line in card.css say it now. Remove it.",
};

const COMPOSITIONS_REMEDY = `list "cutout", "photo" or both, each once and the usual one first, as in ["photo", "cutout"]; or remove it, which means ["cutout"].`;

const OUTLINE_REMEDY = `give "width" from 0.1 to 3, in hundredths of the card's width, "color" as #RRGGBB, or both, as in { "width": 1.5, "color": "#ffffff" }; or remove it. A card without the picture "outline" has no line.`;

const FIGURE_REMEDY = `write "body", which holds where nothing is said, or "bust" for heads of one size, which fill the zone "face".`;

const BACKDROP_REMEDY = `write "shaded", which holds where nothing is said, or "plain" for the photo as it was taken.`;

const codeOf = ({ type }: ValueError): string =>
  type === ValueErrorType.ObjectAdditionalProperties ? "manifest_unknown" : "manifest";

function remedyOf({ path, type, message, schema }: ValueError): string {
  if (/^\/compositions(?:\/|$)/.test(path)) return COMPOSITIONS_REMEDY;
  if (/^\/outline(?:\/|$)/.test(path) && type !== ValueErrorType.ObjectAdditionalProperties)
    return OUTLINE_REMEDY;
  if (path === "/figure") return FIGURE_REMEDY;
  if (path === "/backdrop") return BACKDROP_REMEDY;
  const known = GONE[path] ?? (path === "" ? undefined : PATTERN_REMEDIES[path]);
  if (known && (type !== ValueErrorType.ObjectRequiredProperty || GONE[path])) return known;
  if (type === ValueErrorType.ObjectAdditionalProperties) {
    const names = Object.keys(TemplateManifest.properties);
    const word = path.slice(path.lastIndexOf("/") + 1);
    return `is not known here. ${didYouMean(word, names)}Remove it, or correct its spelling.`;
  }
  if (type === ValueErrorType.ObjectRequiredProperty) return "is missing. Add it.";
  if (schema?.pattern === NAME_PATTERN)
    return "use a lower-case letter, then letters, digits and underscores, at most 32.";
  return `${message.charAt(0).toLowerCase()}${message.slice(1)}.`;
}

/** Rules a schema cannot express. */
function contradictions({ name, shapes, sizes, fields = {} }: TemplateManifest): Problem[] {
  const problems: Problem[] = [];
  const add = (path: string, message: string) => problems.push({ path, code: "manifest", message });
  const [narrowest, widest] = shapes;
  if (narrowest > widest) add("/shapes", "the narrowest comes first, then the widest.");
  for (const [size, [width, height]] of Object.entries(sizes)) {
    const shape = width / height;
    // A rounded bound may exclude the very size it was computed from.
    if (shape < narrowest - 0.005 || shape > widest + 0.005)
      add(
        `/sizes/${size}`,
        `is ${shape.toFixed(2)} wide to 1 high, which "shapes" does not include. Widen "shapes".`,
      );
  }
  const pictures = imageFields(fields);
  if (pictures.length > MAX_TEMPLATE_PICTURES)
    add(
      `/fields/${pictures[MAX_TEMPLATE_PICTURES]}`,
      `a template has at most ${MAX_TEMPLATE_PICTURES} fields of the type image. Remove some.`,
    );
  for (const [field, declared] of Object.entries(fields)) {
    const columns = declared.type === "list" ? Object.entries(declared.of) : [];
    for (const [path, each] of [
      [field, declared],
      ...columns.map(([key, one]) => [`${field}/of/${key}`, one]),
    ]) {
      const one = each as typeof declared;
      if ("min" in one && "max" in one && (one.min ?? 0) > one.max)
        add(`/fields/${path}/min`, "must not exceed max.");
      if ("example" in one && one.example !== undefined) {
        const [wrong] = checkFields({ name, fields: { x: { ...one, required: true } } }, { x: one.example });
        if (wrong) add(`/fields/${path}/example`, wrong.message);
      }
    }
  }
  return problems;
}
