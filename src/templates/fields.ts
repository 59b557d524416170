import { type Static, type TSchema, Type } from "@sinclair/typebox";
import type { ErrorDetail } from "../core/errors.ts";
import {
  MAX_TEMPLATE_CODE_CHARS,
  MAX_TEMPLATE_FIELDS,
  MAX_TEMPLATE_LIST_ITEMS,
  MAX_TEMPLATE_TEXT_CHARS,
} from "../core/limits.ts";
import { StringEnum } from "../core/string-enum.ts";
import { checkText, textsWithin } from "../core/texts.ts";
import { COLOUR_PATTERN, IN_WORDS, validatorsOf } from "../core/validate.ts";

/** Names of fields, list columns, choices and sizes: what CSS, JSON and a URL can all hold. */
export const NAME_PATTERN = "^[a-z][a-z0-9_]{0,31}$";

const about = {
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 60 })),
  description: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })),
  required: Type.Optional(Type.Boolean()),
};
const strict = { additionalProperties: false };

const TextField = Type.Object(
  {
    type: Type.Literal("text"),
    max: Type.Integer({ minimum: 1, maximum: MAX_TEMPLATE_TEXT_CHARS }),
    example: Type.Optional(Type.String()),
    ...about,
  },
  strict,
);
const range = { min: Type.Number(), max: Type.Number(), example: Type.Optional(Type.Number()) };
const IntegerField = Type.Object({ type: Type.Literal("integer"), ...range, ...about }, strict);
const NumberField = Type.Object({ type: Type.Literal("number"), ...range, ...about }, strict);
const BooleanField = Type.Object(
  { type: Type.Literal("boolean"), example: Type.Optional(Type.Boolean()), ...about },
  strict,
);
const ChoiceField = Type.Object(
  {
    type: Type.Literal("choice"),
    options: Type.Array(Type.String({ minLength: 1, maxLength: 40 }), {
      minItems: 1,
      maxItems: 50,
      uniqueItems: true,
    }),
    example: Type.Optional(Type.String()),
    ...about,
  },
  strict,
);
const ColorField = Type.Object(
  { type: Type.Literal("color"), example: Type.Optional(Type.String()), ...about },
  strict,
);
const QrField = Type.Object(
  { type: Type.Literal("qr"), example: Type.Optional(Type.String()), ...about },
  strict,
);
const ImageField = Type.Object(
  { type: Type.Literal("image"), example: Type.Optional(Type.String()), ...about },
  strict,
);
const SIMPLE = [TextField, IntegerField, NumberField, BooleanField, ChoiceField, ColorField];
const SimpleField = Type.Union(SIMPLE);
const ListField = Type.Object(
  {
    type: Type.Literal("list"),
    min: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_TEMPLATE_LIST_ITEMS })),
    max: Type.Integer({ minimum: 1, maximum: MAX_TEMPLATE_LIST_ITEMS }),
    of: Type.Record(Type.String({ pattern: NAME_PATTERN }), SimpleField, {
      additionalProperties: false,
      minProperties: 1,
      maxProperties: MAX_TEMPLATE_FIELDS,
    }),
    ...about,
  },
  strict,
);

/** A field of one text, number, choice or colour: the only kind that a list's columns may have. */
export type SimpleField = Static<typeof SimpleField>;
export type QrField = Static<typeof QrField>;
export type ImageField = Static<typeof ImageField>;
export type ListField = Static<typeof ListField>;
/** A field of one value, so every kind but a list. */
export type SingleField = SimpleField | QrField | ImageField;
export type Field = SingleField | ListField;
/** The fields a template declares, by name. */
export type Fields = Record<string, Field>;
/** The values a partner sent for them, validated. */
export type FieldValues = Record<string, unknown>;

/** The schema for each field type, for messages that concern that type alone. */
export const FIELD_TYPES: Record<string, TSchema> = Object.fromEntries(
  [...SIMPLE, QrField, ImageField, ListField].map((schema) => [schema.properties.type.const, schema]),
);

export const FieldsSchema = Type.Record(
  Type.String({ pattern: NAME_PATTERN }),
  Type.Union([SimpleField, QrField, ImageField, ListField]),
  { additionalProperties: false, maxProperties: MAX_TEMPLATE_FIELDS },
);

/** The JSON Schema of `fields` in a create request for a template with these. */
export function fieldsJsonSchema(fields: Fields) {
  return objectOf(fields, {});
}

function objectOf(fields: Record<string, Field>, options: { title?: string; description?: string }) {
  const properties = Object.entries(fields).map(([name, field]): [string, TSchema] => {
    const schema = schemaOf(field);
    return [name, field.required ? schema : Type.Optional(schema)];
  });
  return Type.Object(Object.fromEntries(properties), { additionalProperties: false, ...options });
}

function schemaOf(field: Field): TSchema {
  const { title, description } = field;
  const described = { ...(title && { title }), ...(description && { description }) };
  const options = {
    ...described,
    ...("example" in field && field.example !== undefined && { examples: [field.example] }),
  };
  switch (field.type) {
    case "text":
      return Type.String({ ...options, ...(field.required && { minLength: 1 }), maxLength: field.max });
    case "integer":
      return Type.Integer({ ...options, minimum: field.min, maximum: field.max });
    case "number":
      return Type.Number({ ...options, minimum: field.min, maximum: field.max });
    case "boolean":
      return Type.Boolean(options);
    case "choice":
      return StringEnum(field.options, options);
    case "color":
      return Type.String({ ...options, pattern: COLOUR_PATTERN });
    case "qr":
      return Type.String({
        ...options,
        minLength: 1,
        maxLength: MAX_TEMPLATE_CODE_CHARS,
        pattern: "^[ -~]+$",
        [IN_WORDS]: CODE_RULE,
      });
    case "image":
      return Type.String({
        ...options,
        format: "uri",
        maxLength: 2048,
        description: `${description ? `${description} ` : ""}${PICTURE_RULE}`,
      });
    case "list":
      return Type.Array(objectOf(field.of, {}), {
        ...described,
        ...(field.min && { minItems: field.min }),
        maxItems: field.max,
      });
  }
}

/** What a partner reads of every picture among a preset's own fields. */
const PICTURE_RULE = "Public HTTPS address of a picture: JPEG, PNG or WebP, at most 5 MB and 4 megapixels.";

/** The names of the fields that hold the address of a picture. */
export function imageFields(fields: Fields = {}): string[] {
  return Object.keys(fields).filter((name) => fields[name]?.type === "image");
}

const validator = validatorsOf(
  (fields: Fields): TSchema => Type.Object({ fields: fieldsJsonSchema(fields) }),
);

/**
 * Checks the `fields` a partner sent for a template; details name them as `fields.stats[2].value`. `values`
 * may be absent when nothing is required.
 */
export function checkFields(
  template: { name: string; fields?: Fields | undefined },
  values: unknown,
): ErrorDetail[] {
  const { name, fields = {} } = template;
  if (Object.keys(fields).length === 0)
    return values === undefined
      ? []
      : [{ field: "fields", message: `is not for the preset ${name}, which has no fields. Remove it.` }];
  const checked = validator(fields).check({ fields: values ?? {} });
  if (checked.ok) return textsWithin(values, "fields").flatMap(([field, text]) => checkText(field, text));
  return checked.details.map((detail) => worded(detail, name, fields));
}

const CODE_RULE = `1 to ${MAX_TEMPLATE_CODE_CHARS} letters, digits and signs of ASCII, with any others as an address has them, such as %C3%A4 for ä`;

/** Indexes lists the way programmers do, and suggests names for unknown fields. */
function worded({ field, message }: ErrorDetail, name: string, fields: Fields): ErrorDetail {
  const place = field.replace(/^(fields\.[a-z]\w*)\.(\d+)/, "$1[$2]");
  if (!message.startsWith("is not a field of this request")) return { field: place, message };
  const list = /^fields\.(\w+)\[/.exec(place)?.[1];
  const parent = list === undefined ? undefined : fields[list];
  const names = Object.keys(parent?.type === "list" ? parent.of : fields);
  return { field: place, message: `is not a field of the preset ${name}, which has ${names.join(", ")}.` };
}

/**
 * The given fields with an example value each: the basis of documents, forms and new samples. Pictures are
 * left out that are neither required nor have an example: no address that we could name has one.
 */
export function exampleFields(fields: Fields): FieldValues {
  const shown = Object.entries(fields).filter(
    ([, field]) => field.type !== "image" || field.required || field.example !== undefined,
  );
  return Object.fromEntries(
    shown.map(([name, field]) => [
      name,
      field.type === "list"
        ? Array.from({ length: Math.min(field.max, Math.max(field.min ?? 0, 3)) }, () =>
            exampleFields(field.of),
          )
        : exampleOf(name, field),
    ]),
  );
}

function exampleOf(name: string, field: SingleField): unknown {
  if (field.example !== undefined) return field.example;
  switch (field.type) {
    case "text":
      return (field.title ?? name).slice(0, field.max);
    case "integer":
      return Math.round((field.min + field.max) / 2);
    case "number":
      return (field.min + field.max) / 2;
    case "boolean":
      return true;
    case "choice":
      return field.options[0];
    case "color":
      return "#C8102E";
    case "qr":
      return "https://example.org";
    case "image":
      return "https://images.example.com/picture.png";
  }
}
