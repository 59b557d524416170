import type { Static, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { type ValueError, ValueErrorType } from "@sinclair/typebox/errors";
import { FormatRegistry } from "@sinclair/typebox/type";
import type { ErrorDetail } from "./errors.ts";

FormatRegistry.Set("uri", (text) => URL.canParse(text));

/** The pattern of colours such as `#C8102E`; messages recognize it, so no other may stand for them. */
export const COLOUR_PATTERN = "^#[0-9A-Fa-f]{6}$";

/** More broken fields than this help nobody, and a hostile body could have thousands. */
const MAX_DETAILS = 50;

/** Checks values against a schema without changing them: no coercion, no defaults, no dropped fields. */
export interface Validator<T extends TSchema> {
  check(value: unknown): { ok: true; value: Static<T> } | { ok: false; details: ErrorDetail[] };
}

/** Compiles a schema once. `root` names the whole value in messages about it. */
export function compileValidator<T extends TSchema>(schema: T, root: string): Validator<T> {
  const compiled = TypeCompiler.Compile(schema);
  return {
    check: (value) => {
      if (compiled.Check(value)) return { ok: true, value };
      const details = describe(compiled, value, root);
      return details.length === 0 ? { ok: true, value: value as Static<T> } : { ok: false, details };
    },
  };
}

/** The validator for each list or set of rules that a schema is made of, compiled once for each. */
export function validatorsOf<Of extends object, T extends TSchema>(
  schemaOf: (of: Of) => T,
): (of: Of) => Validator<T> {
  const compiled = new WeakMap<Of, Validator<T>>();
  return (of) => {
    const known = compiled.get(of) ?? compileValidator(schemaOf(of), "body");
    compiled.set(of, known);
    return known;
  };
}

function describe(compiled: TypeCheck<TSchema>, value: unknown, root: string): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const seen = new Set<string>();
  for (const error of compiled.Errors(value)) {
    if (details.length >= MAX_DETAILS) break;
    const field = fieldName(error.path, root);
    // One message a field: the first is the most telling (missing before "expected string").
    if (seen.has(field)) continue;
    const message = rule(error);
    if (message === null) continue;
    seen.add(field);
    details.push({ field, message });
  }
  return details;
}

/** "/player/number" -> "player.number". */
function fieldName(path: string, root: string): string {
  if (path === "") return root;
  return path
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(".")
    .slice(0, 200);
}

/** The broken rule in words, or null when the value is right after all. */
function rule({ type, schema, value }: ValueError): string | null {
  switch (type) {
    case ValueErrorType.ObjectRequiredProperty:
      return `is required: ${expectation(schema)}.`;
    case ValueErrorType.ObjectAdditionalProperties:
      return "is not a field of this request. Remove it, or check its spelling.";
    case ValueErrorType.ObjectMaxProperties:
      return `must have at most ${schema.maxProperties} keys; it has ${Object.keys(value as object).length}.`;
    case ValueErrorType.StringMinLength:
    case ValueErrorType.StringMaxLength:
      // JSON Schema counts characters as code points; JavaScript's length counts an emoji as two.
      // An address that is too long is reported by its length, not as broken.
      return withinLength(schema, value as string) ? null : must({ ...schema, format: undefined }, value);
    default:
      return must(schema, value);
  }
}

function withinLength(schema: TSchema, text: string): boolean {
  const length = [...text].length;
  return length >= (schema.minLength ?? 0) && length <= (schema.maxLength ?? Number.POSITIVE_INFINITY);
}

function must(schema: TSchema, value: unknown): string {
  return `must be ${expectation(schema)}; got ${described(value)}.`;
}

/** A schema's rule for people, where its own says nothing to them. Not published: symbols are not JSON. */
export const IN_WORDS = Symbol("the rule in words");

function expectation(schema: TSchema & { [IN_WORDS]?: string }): string {
  if (schema[IN_WORDS]) return schema[IN_WORDS];
  const { minimum, maximum, minLength, maxLength } = schema;
  const values: string[] | undefined = schema.enum;
  if (values)
    return values.length === 1 ? `"${values[0]}"` : `one of ${values.map((v) => `"${v}"`).join(", ")}`;
  if (schema.anyOf) return schema.anyOf.map(expectation).join(" or ");
  switch (schema.type) {
    case "integer":
      return `a whole number${minimum === undefined ? "" : ` from ${minimum} to ${maximum}`}`;
    case "string":
      if (schema.pattern === COLOUR_PATTERN) return "a colour written #RRGGBB, such as #C8102E";
      if (schema.format === "uri") return "a full address such as https://images.example.com/photo.jpg";
      if (maxLength === undefined) return "text";
      return minLength
        ? `text of ${minLength} to ${maxLength} characters`
        : `text of at most ${maxLength} characters`;
    case "number":
      return `a number${minimum === undefined ? "" : ` from ${minimum} to ${maximum}`}`;
    case "boolean":
      return "true or false";
    case "array":
      return `a list of ${schema.minItems ? `${schema.minItems} to` : "at most"} ${schema.maxItems} entries`;
    case "object":
      return typeof schema.additionalProperties === "object" ? "an object of text values" : "an object";
    case "null":
      return "null";
    default:
      return `of type ${schema.type}`;
  }
}

/** The value as the partner may recognise it: short, and never a whole document. */
function described(value: unknown): string {
  if (typeof value === "string") {
    const chars = [...value];
    const quoted = JSON.stringify(chars.slice(0, 40).join(""));
    return chars.length > 40 ? `${quoted}... (${chars.length} characters)` : quoted;
  }
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (value === null || typeof value !== "object") return String(value);
  return "an object";
}
