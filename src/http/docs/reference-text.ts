import type { OpenApiDocument } from "../openapi/document.ts";
import { OR } from "../openapi/errors.ts";
import { type Json, type Operation, operationsOf } from "./operations-of.ts";
import { type Schema, shortType } from "./reference-fields.tsx";
import { requestSamples } from "./request-samples.ts";

// The reference as Markdown, for programs: the same operations and fields as the page has.

/** Every operation with its parameters, body, answers and, where wanted, its request in each language. */
export function referenceText(
  document: OpenApiDocument,
  { withRequests }: { withRequests: boolean },
): string {
  const { url } = document.servers[0];
  const operations = operationsOf(document).map((entry) =>
    [
      ...operationText(document, entry),
      ...(withRequests && !entry.incoming
        ? requestSamples(url, entry).map(({ language, text }) => `\`\`\`${language}\n${text}\n\`\`\``)
        : []),
    ].join("\n\n"),
  );
  const types = Object.entries<Schema>(document.components.schemas)
    .filter(([name, schema]) => schema.properties && !name.endsWith("Response"))
    .map(([name, schema]) => [`## ${name}`, schema.description, fields(schema)].filter(Boolean).join("\n\n"));
  return ["# Operations", ...operations, "# Types", ...types].join("\n\n");
}

function operationText(document: OpenApiDocument, entry: Operation): string[] {
  const { method, path, operation, incoming } = entry;
  const parameters = (operation.parameters ?? []).map(
    ({ name, in: place, required, description = "", schema = {} }: Json) =>
      `- \`${name}\` (${[place, shortType(schema), required && "required"].filter(Boolean).join(", ")})${valuesOf(schema)}: ${description}`,
  );
  const { requestBody, responses = {} } = operation;
  const body: Schema | undefined = Object.values<Json>(requestBody?.content ?? {})[0]?.schema;
  const answers = Object.entries<Json>(responses).map(([status, response]) => {
    const codes: string | undefined = response.$ref?.split("/").at(-1);
    if (codes) return `- ${status}: ${codes.split(OR).join(", ")}`;
    const envelope: Schema | undefined = response.content?.["application/json"]?.schema;
    const data = envelope && document.components.schemas[nameOf(envelope)]?.properties.data;
    return `- ${status}: ${response.description}${data ? ` \`data\` is ${typeName(data)}.` : ""}`;
  });
  return [
    incoming ? `## Event ${path}` : `## ${method.toUpperCase()} ${path}`,
    `${operation.summary}. ${operation.description}`,
    ...(parameters.length > 0 ? [parameters.join("\n")] : []),
    ...(body ? ["Body:", body.$ref ? `- ${typeName(body)}` : fields(body)] : []),
    ...(answers.length > 0 && !incoming ? ["Answers:", answers.join("\n")] : []),
  ];
}

/** The fields of an object, with those of nested ones below them; a named type is only named. */
function fields({ properties = {}, required = [] }: Schema, indent = ""): string {
  return Object.entries(properties)
    .map(([name, schema]) => {
      const inner = schema.properties ? schema : schema.items?.properties ? schema.items : undefined;
      const need = required.includes(name) ? ", required" : "";
      const text = schema.description ? `: ${schema.description}` : "";
      const line = `${indent}- \`${name}\` (${typeName(schema)}${need})${valuesOf(schema)}${text}`;
      return inner ? `${line}\n${fields(inner, `${indent}  `)}` : line;
    })
    .join("\n");
}

const nameOf = (schema: Schema) => schema.$ref?.split("/").at(-1) ?? "";

function typeName(schema: Schema): string {
  if (schema.$ref) return nameOf(schema);
  if (schema.anyOf) return schema.anyOf.map(typeName).join(" or ");
  if (schema.items?.$ref) return `list of ${nameOf(schema.items)}`;
  return shortType(schema);
}

/** The values that there are, where there are several. */
const valuesOf = ({ enum: values = [] }: Schema) =>
  values.length > 1 ? ` ${values.map((value) => `\`${value}\``).join(", ")}` : "";
