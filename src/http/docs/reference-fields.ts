import type { OpenApiDocument } from "../openapi/document.ts";
import { type Html, html } from "./html.ts";

/** The part of JSON Schema that our schemas use. */
export interface Schema {
  $ref?: string;
  type?: string;
  title?: string;
  description?: string;
  enum?: readonly string[];
  const?: unknown;
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxProperties?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
}

type Inline = (text: string) => Html;

/** The fields of an object, those of objects inside it below them. */
export function fieldList(document: OpenApiDocument, schema: Schema, inline: Inline): Html {
  const { anyOf, properties = {}, required = [] } = resolve(document, schema);
  if (anyOf) {
    return html`${anyOf.map((choice) => {
      const { title } = resolve(document, choice);
      return html`${title && html`<p class="choice">${title}</p>`}${fieldList(document, choice, inline)}`;
    })}`;
  }
  const items = Object.entries(properties).map(([name, unresolved]) => {
    const field = resolve(document, unresolved);
    const inner = objectInside(document, field);
    return html`<li><div class="field"><code>${name}</code> <span class="type">${shortType(field)}</span>${required.includes(name) && html` <span class="required">required</span>`}</div>${inline(field.description ?? "")}${
      field.enum && field.enum.length > 1
        ? html`<p class="values">${field.enum.map((value) => html`<code>${value}</code> `)}</p>`
        : null
    }${inner && fieldList(document, inner, inline)}</li>`;
  });
  return html`<ul class="fields">${items}</ul>`;
}

/** Type and bounds in a few words, such as "whole number, 1 to 99". */
export function shortType(schema: Schema): string {
  const words = [typeName(schema)];
  const { minimum, maximum, minLength, maxLength, maxProperties } = schema;
  if (minimum !== undefined)
    words.push(maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`);
  if (maxLength !== undefined) {
    words.push(minLength ? `${minLength} to ${maxLength} characters` : `at most ${maxLength} characters`);
  }
  if (maxProperties !== undefined) words.push(`at most ${maxProperties} keys`);
  if (schema.default !== undefined) words.push(`default ${schema.default}`);
  return words.join(", ");
}

function typeName({ anyOf, const: constant, enum: values, type, format, items, pattern }: Schema): string {
  if (anyOf) return anyOf.map((choice) => shortType(choice)).join(" or ");
  if (constant !== undefined) return `always ${constant}`;
  if (values) return values.length === 1 ? `"${values[0]}"` : "one of";
  if (items) return "list";
  if (format === "date-time") return "time";
  if (format === "uri") return "address";
  if (pattern?.startsWith("^#")) return "colour";
  return type === "integer" ? "whole number" : (type ?? "any");
}

function objectInside(document: OpenApiDocument, field: Schema): Schema | null {
  if (field.properties && Object.keys(field.properties).length > 0) return field;
  return field.items ? resolve(document, field.items) : null;
}

function resolve(document: OpenApiDocument, schema: Schema): Schema {
  const name = schema.$ref?.split("/").at(-1);
  return name === undefined ? schema : document.components.schemas[name];
}
