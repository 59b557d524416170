import type { OpenApiDocument } from "../../src/http/openapi/document.ts";

// What the generators of clients read from the OpenAPI document.

// biome-ignore lint/suspicious/noExplicitAny: a schema is JSON of no fixed shape to its readers.
export type Schema = any;

export interface Operation {
  /** Its operationId, such as `createImage`. */
  name: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  pathParameters: string[];
  query: QueryParameter[];
  /** Takes an Idempotency-Key. */
  hasKey: boolean;
  /** Takes `Prefer: wait=N`. */
  hasPrefer: boolean;
  /** The schema of its JSON body. */
  body: string | null;
  isBodyRequired: boolean;
  /** The schemas of its answers' data; none for an archive. */
  results: string[];
  /** What a page of a list holds, and the type of one; null for what is no list of pages. */
  page: { items: string; of: string } | null;
  /** May be sent again without harm. */
  isRepeatable: boolean;
}

export interface QueryParameter {
  name: string;
  description: string;
  isRequired: boolean;
  /** Stands for a family such as `metadata.KEY`. */
  isFamily: boolean;
  schema: Schema;
}

/** The operations under /v1 that take a key; forms are left to each client's own code. */
export function operationsOf({ paths, components }: OpenApiDocument): Operation[] {
  const found: Operation[] = [];
  for (const [path, methods] of Object.entries<Schema>(paths))
    for (const [method, operation] of Object.entries<Schema>(methods)) {
      const content = operation.requestBody?.content;
      if (!path.startsWith("/v1/") || operation.security?.length === 0) continue;
      if (content?.["multipart/form-data"]) continue;
      found.push(operationOf({ path, method, operation }, components.schemas));
    }
  return found;
}

function operationOf(
  { path, method, operation }: { path: string; method: string; operation: Schema },
  schemas: Record<string, Schema>,
): Operation {
  const parameters: Schema[] = operation.parameters ?? [];
  const header = (name: string) => parameters.some((one) => one.in === "header" && one.name === name);
  const answers = Object.entries<Schema>(operation.responses).filter(([status]) => /^2/.test(status));
  const results = answers.flatMap(([, { content }]) => {
    const answer = content?.["application/json"]?.schema.$ref;
    return answer === undefined ? [] : [nameOf(schemas[nameOf(answer)].properties.data.$ref)];
  });
  const body = operation.requestBody?.content["application/json"]?.schema.$ref;
  const hasKey = header("Idempotency-Key");
  return {
    name: operation.operationId,
    method: method.toUpperCase(),
    path,
    summary: operation.summary,
    description: operation.description ?? "",
    pathParameters: parameters.filter((one) => one.in === "path").map(({ name }) => name),
    query: parameters
      .filter((one) => one.in === "query")
      .map(({ name, description, required = false, schema }) => ({
        name: name.replace(/\.KEY$/, ""),
        description,
        isRequired: required,
        isFamily: name.endsWith(".KEY"),
        schema,
      })),
    hasKey,
    hasPrefer: header("Prefer"),
    body: body === undefined ? null : nameOf(body),
    isBodyRequired: operation.requestBody?.required === true,
    results: [...new Set(results)],
    page: pageOf(schemas[results[0] ?? ""]),
    isRepeatable: method !== "post" || hasKey,
  };
}

function pageOf(result: Schema | undefined): Operation["page"] {
  if (!result?.properties?.next_cursor) return null;
  const [items = "", schema] =
    Object.entries<Schema>(result.properties).find(([, { type }]) => type === "array") ?? [];
  return { items, of: nameOf(schema.items.$ref) };
}

/** The bodies of webhooks, which are documented beside the calls. */
export function eventsOf({ webhooks }: OpenApiDocument): string[] {
  return Object.values<Schema>(webhooks).map(({ post }) =>
    nameOf(post.requestBody.content["application/json"].schema.$ref),
  );
}

export const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

/** The schemas that clients show: all but the envelopes of answers, which they open themselves. */
export function typesOf({ components }: OpenApiDocument): [name: string, schema: Schema][] {
  return Object.entries<Schema>(components.schemas).filter(([name]) => !name.endsWith("Response"));
}

/** Words of a description in lines of at most 100 characters. */
export function wrapped(text: string, prefix: string): string {
  const lines: string[] = [];
  for (const word of text.replaceAll("*/", "* /").split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && `${last} ${word}`.length <= 100) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => `${prefix}${line}`).join("\n");
}
