import { walkName } from "../../src/http/docs/client-calls.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { eventsOf, nameOf, type Operation, operationsOf, type Schema, typesOf, wrapped } from "./model.ts";

// The generated half of the PHP client: shapes of what is sent and answered, and a method for each operation.

const HEAD =
  "<?php\n\n// Generated from the OpenAPI document; do not change by hand.\n\ndeclare(strict_types=1);\n\nnamespace Cardpress;\n\n";

/** Types.php: the shapes of arrays, as PHPStan, Psalm and editors read them. */
export function phpTypes(document: OpenApiDocument): string {
  const types = typesOf(document).map(([name, schema]) => ` * @phpstan-type ${name} ${typeOf(schema)}`);
  types.push(` * @phpstan-type ReceivedEvent ${eventsOf(document).join("|")}`);
  return `${HEAD}/**\n${types.join("\n")}\n */\nfinal class Types\n{\n}\n`;
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.anyOf) return schema.anyOf.map(typeOf).join("|");
  if (schema.enum) return schema.enum.map((value: unknown) => `'${value}'`).join("|");
  const { type, items, properties = {}, required = [], additionalProperties } = schema;
  if (Object.keys(properties).length > 0) {
    const fields = Object.entries(properties).map(
      ([name, field]) => `${name}${required.includes(name) ? "" : "?"}: ${typeOf(field)}`,
    );
    return `array{${fields.join(", ")}}`;
  }
  if (type === "array") return `list<${typeOf(items)}>`;
  if (type === "object")
    return `array<string, ${typeof additionalProperties === "object" ? typeOf(additionalProperties) : "mixed"}>`;
  return (
    { string: "string", integer: "int", number: "float", boolean: "bool", null: "null" }[type as string] ??
    "mixed"
  );
}

/** Operations.php: a method for each operation. */
export function phpOperations(document: OpenApiDocument): string {
  const operations = operationsOf(document);
  const used = operations.flatMap(({ body, results, page }) => [
    ...(body ? [body] : []),
    ...results,
    ...(page ? [page.of] : []),
  ]);
  const imports = [...new Set(used)].sort().map((name) => ` * @phpstan-import-type ${name} from Types`);
  const methods = operations.flatMap((one) => [method(one), ...walk(one)]).join("\n\n");
  return `${HEAD}/**\n * Every operation of the API, one call each.\n *\n${imports.join("\n")}\n */\nabstract class Operations\n{\n    public function __construct(protected readonly Transport $transport)\n    {\n    }\n\n${methods}\n}\n`;
}

/** The shape of a query's parameters. */
function shapeOf(query: Operation["query"]): string {
  const fields = query.map(({ name, isFamily, schema }) => {
    const type = isFamily ? "array<string, string>" : typeOf(schema);
    return `${name}?: ${type}`;
  });
  return `array{${fields.join(", ")}}`;
}

function method(operation: Operation): string {
  const { pathParameters, hasKey, hasPrefer, body, isBodyRequired, results } = operation;
  const needed = operation.query.filter(({ isRequired }) => isRequired);
  const query = operation.query.filter(({ isRequired }) => !isRequired);
  const native = (type: string) => (/^'/.test(type) ? "string" : type);
  const parameters = [
    ...pathParameters.map((one) => `string $${camel(one)}`),
    ...needed.map(({ name, schema }) => `${native(typeOf(schema))} $${camel(name)}`),
    ...(body ? [isBodyRequired ? "array $body" : "?array $body = null"] : []),
    ...(query.length > 0 ? ["array $query = []"] : []),
    ...(hasKey ? ["?string $idempotencyKey = null"] : []),
    ...(hasPrefer ? ["?int $wait = null"] : []),
  ];
  const waits = hasPrefer && results.length > 1;
  const result = results.length === 0 ? "string" : "array";
  const types = waits ? `($wait is null ? ${results.at(-1)} : ${results.join("|")})` : results.join("|");
  const doc = [
    wrapped(`${operation.summary}. ${operation.description}`, "     * "),
    "     *",
    ...needed.map(({ name, schema }) => `     * @param ${typeOf(schema)} $${camel(name)}`),
    ...(body ? [`     * @param ${isBodyRequired ? "" : "?"}${body} $body`] : []),
    ...(query.length > 0 ? [`     * @param ${shapeOf(query)} $query`] : []),
    `     * @return ${results.length === 0 ? "string the file's bytes" : types}`,
    "     * @throws CardpressException",
  ];
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => `' . rawurlencode($${camel(name)}) . '`);
  const pairs = needed.map(({ name }) => `'${name}' => $${camel(name)}`).join(", ");
  const sent = [...(pairs ? [`[${pairs}]`] : []), ...(query.length > 0 ? ["$query"] : [])].join(" + ");
  const args = [
    `'${operation.method}'`,
    `'${path}'`.replace(/ \. ''$/, ""),
    ...(sent ? [`query: ${sent}`] : []),
    ...(body ? ["body: $body"] : []),
    ...(hasKey ? ["idempotencyKey: $idempotencyKey ?? Transport::newKey()"] : []),
    ...(hasPrefer ? ["wait: $wait"] : []),
    ...(operation.isRepeatable ? [] : ["once: true"]),
    ...(results.length === 0 ? ["raw: true"] : []),
  ];
  return `    /**\n${doc.join("\n")}\n     */\n    public function ${operation.name}(${parameters.join(", ")}): ${result}\n    {\n        return $this->transport->call(${args.join(", ")});\n    }`;
}

/** A walk through every page of a list. */
function walk({ name, query, page }: Operation): string[] {
  if (!page) return [];
  const shape = shapeOf(query.filter((one) => one.name !== "after"));
  return [
    `    /**
     * Each item of ${name}, asked for page by page as you walk; \`limit\` is the size of a page.
     *
     * @param ${shape} $query
     * @return \\Generator<int, ${page.of}>
     */
    public function ${walkName(name)}(array $query = []): \\Generator
    {
        $after = null;
        do {
            $page = $this->${name}(['after' => $after] + $query);
            foreach ($page['${page.items}'] as $item) {
                yield $item;
            }
            $after = $page['next_cursor'];
        } while ($after !== null);
    }`,
  ];
}

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
