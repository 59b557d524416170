import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { nameOf, type Operation, operationsOf, type Schema, typesOf, wrapped } from "./model.ts";

// The generated half of the PHP client: shapes of what is sent and answered, and a method for each operation.

const HEAD =
  "<?php\n\n// Generated from the OpenAPI document; do not change by hand.\n\ndeclare(strict_types=1);\n\nnamespace Cardpress;\n\n";

/** Types.php: the shapes of arrays, as PHPStan, Psalm and editors read them. */
export function phpTypes(document: OpenApiDocument): string {
  const types = typesOf(document).map(([name, schema]) => ` * @phpstan-type ${name} ${typeOf(schema)}`);
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
  const used = [...new Set(operations.flatMap(({ body, results }) => [...(body ? [body] : []), ...results]))];
  const imports = used.sort().map((name) => ` * @phpstan-import-type ${name} from Types`);
  const methods = operations.map(method).join("\n\n");
  return `${HEAD}/**\n * Every operation of the API, one call each.\n *\n${imports.join("\n")}\n */\nabstract class Operations\n{\n    public function __construct(protected readonly Transport $transport)\n    {\n    }\n\n${methods}\n}\n`;
}

function method(operation: Operation): string {
  const { pathParameters, query, hasKey, hasPrefer, body, isBodyRequired, results } = operation;
  const isNeeded = query.some(({ isRequired }) => isRequired);
  const parameters = [
    ...pathParameters.map((one) => `string $${camel(one)}`),
    ...(body ? [isBodyRequired ? "array $body" : "?array $body = null"] : []),
    ...(query.length > 0 ? [isNeeded ? "array $query" : "array $query = []"] : []),
    ...(hasKey ? ["?string $idempotencyKey = null"] : []),
    ...(hasPrefer ? ["?int $wait = null"] : []),
  ];
  const shape = query.map(({ name, isRequired, isFamily, schema }) => {
    const type = isFamily ? "array<string, string>" : typeOf(schema);
    return `${name}${isRequired ? "" : "?"}: ${type}`;
  });
  const result = results.length === 0 ? "string" : "array";
  const doc = [
    wrapped(`${operation.summary}. ${operation.description}`, "     * "),
    "     *",
    ...(body ? [`     * @param ${isBodyRequired ? "" : "?"}${body} $body`] : []),
    ...(query.length > 0 ? [`     * @param array{${shape.join(", ")}} $query`] : []),
    `     * @return ${results.length === 0 ? "string the archive's bytes" : results.join("|")}`,
    "     * @throws CardpressException",
  ];
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => `' . rawurlencode($${camel(name)}) . '`);
  const args = [
    `'${operation.method}'`,
    `'${path}'`.replace(/ \. ''$/, ""),
    ...(query.length > 0 ? ["query: $query"] : []),
    ...(body ? ["body: $body"] : []),
    ...(hasKey ? ["idempotencyKey: $idempotencyKey ?? Transport::newKey()"] : []),
    ...(hasPrefer ? ["wait: $wait"] : []),
    ...(operation.isRepeatable ? [] : ["once: true"]),
    ...(results.length === 0 ? ["raw: true"] : []),
  ];
  return `    /**\n${doc.join("\n")}\n     */\n    public function ${operation.name}(${parameters.join(", ")}): ${result}\n    {\n        return $this->transport->call(${args.join(", ")});\n    }`;
}

const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
