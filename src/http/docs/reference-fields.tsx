/** @jsxImportSource preact */
import type { OpenApiDocument } from "../openapi/document.ts";
import { Markdown } from "./markdown.tsx";

/** The part of JSON Schema that the API's schemas use. */
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

interface FieldsProps {
  document: OpenApiDocument;
  schema: Schema;
}

/** The fields of an object, with those of nested objects below them. */
export function FieldList({ document, schema }: FieldsProps) {
  const { anyOf, properties = {}, required = [] } = resolve(document, schema);
  if (anyOf) {
    return (
      <>
        {anyOf.map((choice) => {
          const { title } = resolve(document, choice);
          return (
            <>
              {title && <p class="choice">{title}</p>}
              <FieldList document={document} schema={choice} />
            </>
          );
        })}
      </>
    );
  }
  return (
    <ul class="fields">
      {Object.entries(properties).map(([name, field]) => (
        <Field
          key={name}
          document={document}
          schema={resolve(document, field)}
          name={name}
          isRequired={required.includes(name)}
        />
      ))}
    </ul>
  );
}

function Field({ document, schema, name, isRequired }: FieldsProps & { name: string; isRequired: boolean }) {
  const inner = objectInside(document, schema);
  return (
    <li>
      <div class="ref-field">
        <code>{name}</code> <span class="type">{shortType(schema)}</span>
        {isRequired && (
          <>
            {" "}
            <span class="required">required</span>
          </>
        )}
      </div>
      <Markdown text={schema.description ?? ""} />
      {schema.enum && schema.enum.length > 1 && (
        <p class="values">
          {schema.enum.map((value) => (
            <>
              <code>{value}</code>{" "}
            </>
          ))}
        </p>
      )}
      {inner && <FieldList document={document} schema={inner} />}
    </li>
  );
}

/** Type and limits in a few words, such as "whole number, 1 to 99". */
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
