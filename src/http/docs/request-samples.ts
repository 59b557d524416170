import { clientCalls } from "./client-calls.ts";
import type { Json, Operation } from "./operations-of.ts";

/** A request in one language. */
interface RequestSample {
  tab: string;
  language: string;
  text: string;
}

/** An operation's request with curl and in each client. */
export function requestSamples(baseUrl: string, entry: Operation): RequestSample[] {
  const json = entry.operation.requestBody?.content["application/json"];
  return [
    { tab: "curl", language: "sh", text: curl(baseUrl, entry) },
    ...clientCalls(entry.operation, json && exampleBody(json)),
  ];
}

function curl(baseUrl: string, { method, path, operation }: Operation): string {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name) => find(operation, name)?.example ?? whole);
  const query = (operation.parameters ?? [])
    .filter((parameter: Json) => parameter.in === "query" && parameter.required)
    .map((parameter: Json) => `${parameter.name}=${parameter.example}`)
    .join("&");
  const body = bodyOptions(operation.requestBody?.content ?? {});
  // What curl sends by itself: POST with a body, GET without.
  const verb = method === (body.length > 0 ? "post" : "get") ? "" : `-X ${method.toUpperCase()} `;
  const address = query ? `"${baseUrl}${filled}?${query}"` : baseUrl + filled;
  const isOpen = operation.security?.length === 0;
  return [
    `curl ${verb}${address}`,
    isOpen ? "  -o card.png" : '  -H "X-API-Key: $CARDPRESS_KEY"',
    ...(find(operation, "Idempotency-Key") ? ['  -H "Idempotency-Key: card-$(date +%s)"'] : []),
    ...body,
  ].join(" \\\n");
}

/** curl's options for sending a body of the kind an operation takes. */
function bodyOptions(content: Json): string[] {
  const json = content["application/json"];
  if (json) {
    return [
      '  -H "Content-Type: application/json"',
      `  -d '${JSON.stringify(exampleBody(json), null, 2).replaceAll("\n", "\n  ")}'`,
    ];
  }
  const form = content["multipart/form-data"]?.schema?.properties;
  return form ? ["  -F file=@player.jpg"] : [];
}

/** The most complete example of a JSON body. */
function exampleBody({ example, examples = {} }: Json): unknown {
  return example ?? (examples.full ?? Object.values<Json>(examples)[0])?.value;
}

function find(operation: Json, name: string): Json {
  return (operation.parameters ?? []).find((parameter: Json) => parameter.name === name);
}
