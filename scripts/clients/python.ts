import { walkName } from "../../src/http/docs/client-calls.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import {
  eventsOf,
  nameOf,
  type Operation,
  operationsOf,
  type QueryParameter,
  type Schema,
  typesOf,
  wrapped,
} from "./model.ts";

// The generated half of the Python client: types of what is sent and answered, and a method for each
// operation.

const HEAD =
  '"""Generated from the OpenAPI document; do not change by hand."""\n\nfrom __future__ import annotations\n\n';

/** types.py: a TypedDict for each schema. */
export function pythonTypes(document: OpenApiDocument): string {
  const classes: string[] = [];
  const aliases: string[] = [];
  for (const [name, schema] of typesOf(document)) {
    if (schema.properties) classes.push(...typedDict(name, schema));
    else aliases.push(`${name}: TypeAlias = "${typeOf(schema, name, [])}"`);
  }
  aliases.push("#: What a webhook reports; more types may come.");
  aliases.push(`ReceivedEvent: TypeAlias = "Union[${eventsOf(document).join(", ")}]"`);
  const imports = "from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, Union\n";
  return `${HEAD}${imports}\n\n${classes.join("\n\n\n")}\n\n\n${aliases.join("\n")}\n`;
}

function typedDict(name: string, { properties, required = [], description }: Schema): string[] {
  const others: string[] = [];
  const fields = Object.entries<Schema>(properties).map(([field, schema]) => {
    const type = typeOf(schema, `${name}${pascal(field)}`, others);
    const note = schema.description === undefined ? "" : `${wrapped(schema.description, "    #: ")}\n`;
    return `${note}    ${field}: ${required.includes(field) ? type : `NotRequired[${type}]`}`;
  });
  const text = description === undefined ? "" : `${docstring(description, "    ")}\n\n`;
  return [...others, `class ${name}(TypedDict):\n${text}${fields.join("\n") || "    pass"}`];
}

/** The type of a schema; an object within becomes a class of its own, added to `others`. */
function typeOf(schema: Schema, name: string, others: string[]): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf)
    return `Union[${schema.anyOf.map((one: Schema) => typeOf(one, name, others)).join(", ")}]`;
  if (schema.enum) return `Literal[${schema.enum.map((value: unknown) => JSON.stringify(value)).join(", ")}]`;
  if (schema.properties && Object.keys(schema.properties).length > 0) {
    others.push(...typedDict(name, schema));
    return name;
  }
  const { type, items, additionalProperties } = schema;
  if (type === "array") return `list[${typeOf(items, name, others)}]`;
  if (type === "object")
    return `dict[str, ${typeof additionalProperties === "object" ? typeOf(additionalProperties, name, others) : "Any"}]`;
  return (
    { string: "str", integer: "int", number: "float", boolean: "bool", null: "None" }[type as string] ?? "Any"
  );
}

/** operations.py: a method for each operation. */
export function pythonOperations(document: OpenApiDocument): string {
  const operations = operationsOf(document);
  const used = operations.flatMap(({ body, results, page }) => [
    ...(body ? [body] : []),
    ...results,
    ...(page ? [page.of] : []),
  ]);
  const imports = `from typing import Any, Iterator, Literal, Mapping, Union, cast, overload\n\nfrom ._transport import Transport\nfrom .types import ${[...new Set(used)].sort().join(", ")}\n`;
  const methods = operations.flatMap((one) => [...overloads(one), method(one), ...walk(one)]).join("\n\n");
  return `${HEAD}${imports}\n\nclass Operations:\n    """Every operation of the API, one call each."""\n\n    _transport: Transport\n\n${methods}\n`;
}

const queryType = ({ schema, isFamily }: QueryParameter) =>
  isFamily ? "Mapping[str, str]" : typeOf(schema, "", []);

/** What a method takes, `wait` as it is given. */
function parametersOf(operation: Operation, wait = "wait: int | None = None"): string {
  const { pathParameters, query, hasKey, hasPrefer, body, isBodyRequired } = operation;
  const needed = query.filter(({ isRequired }) => isRequired);
  const named = [
    ...query
      .filter(({ isRequired }) => !isRequired)
      .map((one) => `${one.name}: ${queryType(one)} | None = None`),
    ...(hasKey ? ["idempotency_key: str | None = None"] : []),
    ...(hasPrefer ? [wait] : []),
  ];
  return [
    "self",
    ...pathParameters.map((one) => `${one}: str`),
    ...needed.map((one) => `${one.name}: ${queryType(one)}`),
    ...(body ? [isBodyRequired ? `body: ${body}` : `body: ${body} | None = None`] : []),
    ...(named.length > 0 ? ["*", ...named] : []),
  ].join(", ");
}

const union = (types: string[]) => (types.length === 1 ? types[0] : `Union[${types.join(", ")}]`);

/** What comes without waiting, where waiting gives something else too. */
function overloads(operation: Operation): string[] {
  const { name, hasPrefer, results } = operation;
  if (!hasPrefer || results.length === 1) return [];
  const [waits, atOnce] = [union(results), results.at(-1)];
  const one = (wait: string, result = "") =>
    `    @overload\n    def ${snake(name)}(${parametersOf(operation, wait)}) -> ${result}: ...`;
  return [one("wait: None = None", atOnce), one("wait: int", waits)];
}

function method(operation: Operation): string {
  const { name, pathParameters, query, hasKey, hasPrefer, body, results } = operation;
  const result = results.length === 0 ? "bytes" : union(results);
  const path = operation.path.replace(/\{(\w+)\}/g, "{quoted($1)}");
  const uses = pathParameters.length > 0;
  const args = [
    `"${operation.method}"`,
    uses ? `f"${path}"` : `"${path}"`,
    ...(query.length > 0 ? [`query={${query.map((one) => `"${one.name}": ${one.name}`).join(", ")}}`] : []),
    ...(body ? ["body=body"] : []),
    ...(hasKey ? ["idempotency_key=idempotency_key or Transport.new_key()"] : []),
    ...(hasPrefer ? ["wait=wait"] : []),
    ...(operation.isRepeatable ? [] : ["once=True"]),
    ...(results.length === 0 ? ["raw=True"] : []),
  ];
  const call = uses ? args[1]?.replaceAll("quoted(", "Transport.quoted(") : args[1];
  args[1] = call ?? "";
  return `    def ${snake(name)}(${parametersOf(operation)}) -> ${result}:
${docstring(`${operation.summary}. ${operation.description}`, "        ")}
        return cast(${result}, self._transport.call(${args.join(", ")}))`;
}

/** A walk through every page of a list. */
function walk(operation: Operation): string[] {
  const { name, query, page } = operation;
  if (!page) return [];
  const rest = query.filter((one) => one.name !== "after");
  const passed = [...rest.map((one) => `${one.name}=${one.name}`), "after=after"];
  return [
    `    def ${snake(walkName(name))}(${parametersOf({ ...operation, query: rest })}) -> Iterator[${page.of}]:
        """Each item of \`${snake(name)}\`, asked for page by page as you walk; \`limit\` is the size of a page."""
        after: str | None = None
        while True:
            page = self.${snake(name)}(${passed.join(", ")})
            yield from page["${page.items}"]
            after = page["next_cursor"]
            if after is None:
                return`,
  ];
}

function docstring(text: string, indent: string): string {
  const safe = wrapped(text.replaceAll("\\", "\\\\").replaceAll('"""', "'''"), indent).trimStart();
  return `${indent}"""${safe}${safe.includes("\n") ? `\n${indent}` : ""}"""`;
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const pascal = (name: string) => name.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
