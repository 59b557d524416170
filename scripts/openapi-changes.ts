/**
 * What a new OpenAPI document takes away from partners that an older one promised. Compares what a program
 * relies on, not words: operations, parameters, fields, types and bounds. Added is fine, unless a request
 * must have it.
 */

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is JSON of no fixed shape to its readers.
type Json = any;

interface Documents {
  old: Json;
  now: Json;
}

/** A request may only become looser, an answer only richer. */
type Direction = "request" | "answer";

/**
 * Each breaking change by its place, such as `GET /v1/images 200 data.images[].status: ...`; empty when there
 * is none.
 */
export function breakingChanges(old: Json, now: Json): string[] {
  const documents = { old, now };
  return [
    ...operationChanges(documents, "paths", (path, method) => `${method.toUpperCase()} ${path}`),
    ...operationChanges(documents, "webhooks", (event) => `webhook ${event}`),
  ];
}

function operationChanges(
  documents: Documents,
  part: "paths" | "webhooks",
  nameOf: (path: string, method: string) => string,
): string[] {
  return entries(documents.old[part]).flatMap(([path, methods]) =>
    entries(methods).flatMap(([method, old]) => {
      const place = nameOf(path, method);
      const now = documents.now[part]?.[path]?.[method];
      if (!now) return [`${place}: is gone.`];
      if (part === "webhooks")
        return bodyChanges(documents, place, old.requestBody, now.requestBody, "answer");
      return [
        ...parameterChanges(documents, place, old.parameters ?? [], now.parameters ?? []),
        ...requestBodyChanges(documents, `${place} body`, old.requestBody, now.requestBody),
        ...responseChanges(documents, place, old.responses, now.responses),
      ];
    }),
  );
}

function parameterChanges(documents: Documents, place: string, old: Json[], now: Json[]): string[] {
  const same = (one: Json) => (other: Json) => one.name === other.name && one.in === other.in;
  const read = (list: Json[], document: Json) => list.map((one) => resolved(document, one));
  const [before, after] = [read(old, documents.old), read(now, documents.now)];
  return [
    ...before.flatMap((one) => {
      const where = `${place} ${one.in} ${one.name}`;
      const other = after.find(same(one));
      if (!other) return [`${where}: is gone.`];
      if (other.required && !one.required) return [`${where}: is required now.`];
      return schemaChanges(documents, where, one.schema, other.schema, "request");
    }),
    ...after
      .filter((one) => one.required && !before.some(same(one)))
      .map((one) => `${place} ${one.in} ${one.name}: is new and required.`),
  ];
}

function requestBodyChanges(documents: Documents, place: string, old: Json, now: Json): string[] {
  if (now?.required && !old?.required) return [`${place}: is required now.`];
  return old ? bodyChanges(documents, place, old, now, "request") : [];
}

function responseChanges(documents: Documents, place: string, old: Json, now: Json): string[] {
  return entries(old).flatMap(([status, response]) => {
    const where = `${place} ${status}`;
    if (!now?.[status]) return [`${where}: is gone.`];
    const [before, after] = [resolved(documents.old, response), resolved(documents.now, now[status])];
    const headers = Object.keys(before.headers ?? {}).filter((name) => !(name in (after.headers ?? {})));
    return [
      ...headers.map((name) => `${where} header ${name}: is gone.`),
      ...bodyChanges(documents, where, before, after, "answer"),
    ];
  });
}

function bodyChanges(documents: Documents, place: string, old: Json, now: Json, way: Direction): string[] {
  return entries(old?.content).flatMap(([type, { schema }]) => {
    const after = now?.content?.[type];
    return after
      ? schemaChanges(documents, place, schema, after.schema, way)
      : [`${place} ${type}: is gone.`];
  });
}

function schemaChanges(documents: Documents, place: string, old: Json, now: Json, way: Direction): string[] {
  const [before, after] = [resolved(documents.old, old ?? {}), resolved(documents.now, now ?? {})];
  if (before.anyOf || after.anyOf) return choiceChanges(documents, place, before, after, way);
  if (before.type !== undefined && before.type !== after.type)
    return [`${place}: was of type ${before.type} and is ${after.type ?? "of any"} now.`];
  if (way === "request" && before.type === undefined && after.type !== undefined)
    return [`${place}: was of any type and is ${after.type} now.`];
  return [
    ...enumChanges(place, before, after, way),
    ...boundChanges(place, before, after, way),
    ...fieldChanges(documents, place, before, after, way),
    ...(before.items ? schemaChanges(documents, `${place}[]`, before.items, after.items, way) : []),
  ];
}

/**
 * Each choice there was is compared with the one that has its name or type; new ones only a request may have.
 */
function choiceChanges(documents: Documents, place: string, old: Json, now: Json, way: Direction): string[] {
  const choicesOf = (schema: Json): Json[] => schema.anyOf ?? [schema];
  const [before, after] = [choicesOf(old), choicesOf(now)];
  const nameOf = (choice: Json): string => choice.$ref ?? choice.type ?? "anything";
  const counterpart = (list: Json[], choice: Json) => list.find((one) => nameOf(one) === nameOf(choice));
  const label = (choice: Json) => nameOf(choice).split("/").at(-1);
  return [
    ...before.flatMap((choice) => {
      const other = counterpart(after, choice);
      if (other) return schemaChanges(documents, place, choice, other, way);
      return way === "request" ? [`${place}: ${label(choice)} is not taken any more.`] : [];
    }),
    ...after
      .filter((choice) => way === "answer" && !counterpart(before, choice))
      .map((choice) => `${place}: may be ${label(choice)} now, which it could not be.`),
  ];
}

/**
 * A request keeps every value. An answer may get new ones, which the documentation says to expect, but loses
 * none they wait for.
 */
function enumChanges(place: string, old: Json, now: Json, way: Direction): string[] {
  if (old.enum)
    return old.enum
      .filter((value: unknown) => now.enum && !now.enum.includes(value))
      .map((value: unknown) => `${place}: the value ${JSON.stringify(value)} is gone.`);
  if (way === "request" && now.enum) return [`${place}: takes ${now.enum.join(", ")} only now.`];
  if (old.const !== undefined && now.const !== old.const) return [`${place}: was always ${old.const}.`];
  return [];
}

const MOST = ["maximum", "maxLength", "maxItems", "maxProperties"];
const LEAST = ["minimum", "minLength", "minItems", "minProperties"];

/** Bounds of requests that became narrower. Those of answers are descriptions. */
function boundChanges(place: string, old: Json, now: Json, way: Direction): string[] {
  if (way === "answer") return [];
  const narrower = (name: string, worse: (was: number, is: number) => boolean) =>
    now[name] !== undefined && (old[name] === undefined || worse(old[name], now[name]))
      ? [`${place}: ${name} was ${old[name] ?? "unbounded"} and is ${now[name]} now.`]
      : [];
  return [
    ...MOST.flatMap((name) => narrower(name, (was, is) => is < was)),
    ...LEAST.flatMap((name) => narrower(name, (was, is) => is > was)),
    ...["pattern", "format"]
      .filter((name) => now[name] !== undefined && now[name] !== old[name])
      .map((name) => `${place}: ${name} was ${old[name] ?? "free"} and is ${now[name]} now.`),
  ];
}

function fieldChanges(documents: Documents, place: string, old: Json, now: Json, way: Direction): string[] {
  const own = (name: string) =>
    `${place}${place.endsWith("]") || / \d\d\d$| body$/.test(place) ? " " : "."}${name}`;
  const gone = way === "request" ? "is not taken any more." : "is gone.";
  const [required, nowRequired] = [old.required ?? [], now.required ?? []] as string[][];
  return [
    ...entries(old.properties).flatMap(([name, field]) =>
      now.properties?.[name]
        ? schemaChanges(documents, own(name), field, now.properties[name], way)
        : [`${own(name)}: ${gone}`],
    ),
    ...(way === "request"
      ? (nowRequired ?? [])
          .filter((name) => !required?.includes(name))
          .map((name) => `${own(name)}: is required now.`)
      : (required ?? [])
          .filter((name) => now.properties?.[name] && !nowRequired?.includes(name))
          .map((name) => `${own(name)}: was always there and may be absent now.`)),
  ];
}

function resolved(document: Json, node: Json): Json {
  if (typeof node?.$ref !== "string") return node;
  return node.$ref
    .slice(2)
    .split("/")
    .reduce((at: Json, key: string) => at?.[key], document);
}

function entries(node: Json): [string, Json][] {
  return Object.entries(node ?? {});
}
