import type { OpenApiDocument } from "../openapi/document.ts";
import { type Html, html } from "./html.ts";
import type { PageContent } from "./layout.ts";
import { codeBlock, renderMarkdown, slug } from "./markdown.ts";
import { fieldList, type Schema, shortType } from "./reference-fields.ts";

type Link = (path: string) => string;
// biome-ignore lint/suspicious/noExplicitAny: parts of an OpenAPI document, which the linters check, not the types.
type Json = any;

interface Operation {
  id: string;
  method: string;
  path: string;
  operation: Json;
  /** Webhooks come to the partner: they have no request of theirs to show. */
  incoming: boolean;
}

interface Scope {
  document: OpenApiDocument;
  link: Link;
}

/** The API reference, rendered from the OpenAPI document and nothing else. */
export function referencePage(document: OpenApiDocument, link: Link): PageContent {
  const scope = { document, link };
  const operations = allOperations(document);
  const index = html`<ul class="op-index">${operations.map(
    ({ id, method, path, operation, incoming }) =>
      html`<li><a href="#${id}"><span class="method ${incoming ? "hook" : method}">${incoming ? "event" : method.toUpperCase()}</span> <code>${path}</code> <span>${operation.summary}</span></a></li>`,
  )}</ul>`;
  const { body: intro } = renderMarkdown(INTRO, link);
  const body = html`<div class="ref-intro">${intro}${index}</div>${operations.map((operation) => operationSection(scope, operation))}${responseHeaders(scope)}`;
  return {
    path: "/docs/reference",
    title: "API reference",
    description: "Every address, field, status and header of the API.",
    body,
    wide: true,
  };
}

const INTRO = `# API reference

Made from the [OpenAPI 3.1 document](/docs/openapi.json), which is made from the very schemas that check your requests. Feed it to your client generator, Postman or Insomnia.

All paths are on \`{{base_url}}\`. Every request under \`/v1\` needs an [API key](/docs/authentication) in \`X-API-Key\`. Every answer has the [four headers](#response-headers) and is an envelope.
`;

function allOperations(document: OpenApiDocument): Operation[] {
  const of = (group: Json, incoming: boolean): Operation[] =>
    Object.entries<Json>(group).flatMap(([path, item]) =>
      ["post", "get"].flatMap((method) =>
        item[method]
          ? [
              {
                id: slug(item[method].operationId.replaceAll(/[A-Z]/g, (letter: string) => `-${letter}`)),
                method,
                path: item.servers ? new URL(item.servers[0].url).pathname + path : path,
                operation: item[method],
                incoming,
              },
            ]
          : [],
      ),
    );
  return [...of(document.paths, false), ...of(document.webhooks, true)];
}

function operationSection(scope: Scope, entry: Operation): Html {
  const { id, method, path, operation, incoming } = entry;
  const { document, link } = scope;
  const inline = (text: string) => renderMarkdown(text, link).body;
  const body: Json = operation.requestBody?.content["application/json"];
  const parameters: Json[] = operation.parameters ?? [];
  return html`<section class="op" aria-labelledby="${id}"><div class="op-text">
<h2 id="${id}"><a class="anchor" href="#${id}">${operation.summary}</a></h2>
<p class="endpoint"><span class="method ${incoming ? "hook" : method}">${incoming ? "event" : method.toUpperCase()}</span> <code>${path}</code></p>
${inline(operation.description)}
${parameters.length > 0 && html`<h3>${incoming ? "Headers" : "Parameters"}</h3><ul class="fields">${parameters.map((parameter) => parameterItem(parameter, inline))}</ul>`}
${body && html`<h3>Body</h3>${fieldList(document, body.schema, inline)}`}
${incoming ? null : html`<h3>Answers</h3>${answers(scope, operation)}`}
</div><div class="op-samples">${samples(scope, entry)}</div></section>`;
}

function parameterItem(parameter: Json, inline: (text: string) => Html): Html {
  const where = parameter.in === "path" ? "in the path" : parameter.in;
  return html`<li><div class="field"><code>${parameter.name}</code> <span class="type">${where} · ${shortType(parameter.schema)}</span>${parameter.required && html` <span class="required">required</span>`}</div>${inline(parameter.description ?? "")}</li>`;
}

function answers({ document, link }: Scope, operation: Json): Html {
  const items = Object.entries<Json>(operation.responses).map(([status, response]) => {
    const code: string | undefined = response.$ref?.split("/").at(-1);
    if (code) {
      const summary: string =
        document.components.responses[code].content["application/json"].examples[code].summary;
      return html`<li><span class="status refused">${status}</span> <a href="${link(`/docs/errors/${code}`)}"><code>${code}</code></a> <span>${summary}</span></li>`;
    }
    const schema: Schema | undefined = response.content?.["application/json"]?.schema;
    const inline = (text: string) => renderMarkdown(text, link).body;
    const data = schema && fieldList(document, dataOf(document, schema), inline);
    return html`<li><span class="status">${status}</span> <span>${response.description}</span>${data && html`<details><summary>Fields of <code>data</code></summary>${data}</details>`}</li>`;
  });
  return html`<ul class="answers">${items}</ul>`;
}

/** The `data` field of an envelope's schema. */
function dataOf(document: OpenApiDocument, envelope: Schema): Schema {
  const name = envelope.$ref?.split("/").at(-1) ?? "";
  return document.components.schemas[name].properties.data;
}

function samples({ document }: Scope, entry: Operation): Html {
  const { method, path, operation, incoming } = entry;
  const json = (value: unknown, title: string) =>
    codeBlock(JSON.stringify(value, null, 2), `json title=${title}`);
  if (incoming) return json(operation.requestBody.content["application/json"].example, path);
  const request = codeBlock(curl(document.servers[0].url, method, path, operation), "sh title=Request");
  const [status, success] =
    Object.entries<Json>(operation.responses).find(([key]) => key.startsWith("2")) ?? [];
  const examples: Json[] = Object.values(success?.content?.["application/json"]?.examples ?? {});
  const answersShown = examples.map(({ value, summary }) =>
    json(value, `${status}:\u00a0${summary.replaceAll(" ", "\u00a0")}`),
  );
  return html`${request}${answersShown}`;
}

function curl(baseUrl: string, method: string, path: string, operation: Json): string {
  const filled = path.replace(/\{(\w+)\}/g, (whole, name) => find(operation, name)?.example ?? whole);
  const query = (operation.parameters ?? [])
    .filter((parameter: Json) => parameter.in === "query" && parameter.required)
    .map((parameter: Json) => `${parameter.name}=${parameter.example}`)
    .join("&");
  const lines = [`curl ${query ? `"${baseUrl}${filled}?${query}"` : baseUrl + filled}`];
  const isOpen = operation.security?.length === 0;
  if (isOpen) lines.push("  -o card.png");
  else lines.push('  -H "X-API-Key: $CARDPRESS_KEY"');
  if (method === "post") {
    const example = operation.requestBody.content["application/json"].examples.full.value;
    lines.push(
      '  -H "Idempotency-Key: card-$(date +%s)"',
      '  -H "Content-Type: application/json"',
      `  -d '${JSON.stringify(example, null, 2).replaceAll("\n", "\n  ")}'`,
    );
  }
  return lines.join(" \\\n");
}

function find(operation: Json, name: string): Json {
  return (operation.parameters ?? []).find((parameter: Json) => parameter.name === name);
}

function responseHeaders({ document, link }: Scope): Html {
  const inline = (text: string) => renderMarkdown(text, link).body;
  const items = Object.entries<Json>(document.components.headers).map(
    ([name, header]) =>
      html`<li><div class="field"><code>${name}</code> <span class="type">${shortType(header.schema)}</span></div>${inline(header.description)}</li>`,
  );
  return html`<section class="op"><div class="op-text"><h2 id="response-headers"><a class="anchor" href="#response-headers">Response headers</a></h2>
<p>The first four are on every answer of the API, whatever its status.</p><ul class="fields">${items}</ul></div>
<div class="op-samples">${codeBlock(HEADERS_SAMPLE, "http title=Headers")}</div></section>`;
}

const HEADERS_SAMPLE = `HTTP/1.1 202 Accepted
X-Request-Id: req_0Hq3ZrX9mLk2VbTnWc7YdE5s
X-RateLimit-Limit: 120
X-RateLimit-Remaining: 117
X-RateLimit-Reset: 1795341660
Location: /v1/images/img_5mJd0nV7rQe2TzXyB8kWc3Hs
Content-Type: application/json; charset=utf-8`;
