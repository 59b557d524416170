/** @jsxImportSource preact */

import { API_PATHS } from "../../core/api-paths.ts";
import type { OpenApiDocument } from "../openapi/document.ts";
import { OR } from "../openapi/errors.ts";
import type { PageContent } from "./layout.tsx";
import { CodeBlock, Markdown, Tabs } from "./markdown.tsx";
import { type Json, type Operation, operationsOf } from "./operations-of.ts";
import { FieldList, type Schema, shortType } from "./reference-fields.tsx";
import { requestSamples } from "./request-samples.ts";
import { KeyBar, TryIt } from "./try-it.tsx";

/** The API reference, rendered from the OpenAPI document alone. */
export function referencePage(document: OpenApiDocument): PageContent {
  const operations = operationsOf(document);
  return {
    path: "/docs/reference",
    title: "API reference",
    description: "Every address, field, status and header of the API.",
    body: (
      <>
        <div class="ref-intro">
          <Markdown text={INTRO} />
          <KeyBar />
          <ul class="op-index">
            {operations.map((entry) => (
              <li key={entry.id}>
                <a href={`#${entry.id}`}>
                  <Method entry={entry} /> <code>{entry.path}</code> <span>{entry.operation.summary}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
        {operations.map((entry) => (
          <OperationSection key={entry.id} document={document} entry={entry} />
        ))}
        <ResponseHeaders document={document} />
      </>
    ),
    wide: true,
  };
}

const INTRO = `# API reference

Made from the [OpenAPI 3.1 document](/docs/openapi.json), which is made from the very schemas that check your requests. Feed it to your client generator, Postman or Insomnia.

All paths are on \`{{base_url}}\`. Every request under \`/v1\` needs an [API key](/docs/authentication) in \`X-API-Key\`. Every answer has the [four headers](#response-headers) and is an envelope.
`;

function Method({ entry: { method, incoming } }: { entry: Operation }) {
  return (
    <span class={`method ${incoming ? "hook" : method}`}>{incoming ? "event" : method.toUpperCase()}</span>
  );
}

function OperationSection({ document, entry }: { document: OpenApiDocument; entry: Operation }) {
  const { id, path, operation, incoming } = entry;
  const body = bodyOf(operation);
  const parameters: Json[] = operation.parameters ?? [];
  return (
    <section class="op" aria-labelledby={id}>
      <div class="op-text">
        <h2 id={id}>
          <a class="anchor" href={`#${id}`}>
            {operation.summary}
          </a>
        </h2>
        <p class="endpoint">
          <Method entry={entry} /> <code>{path}</code>
        </p>
        <Markdown text={operation.description} />
        {parameters.length > 0 && (
          <>
            <h3>{incoming ? "Headers" : "Parameters"}</h3>
            <ul class="fields">
              {parameters.map((parameter) => (
                <ParameterItem key={parameter.name} parameter={parameter} />
              ))}
            </ul>
          </>
        )}
        {body && (
          <>
            <h3>Body</h3>
            <FieldList document={document} schema={body.schema} />
          </>
        )}
        {!incoming && (
          <>
            <h3>Answers</h3>
            <Answers document={document} operation={operation} />
          </>
        )}
      </div>
      <div class="op-samples">
        <Samples document={document} entry={entry} />
        <TryIt entry={entry} />
      </div>
    </section>
  );
}

function ParameterItem({ parameter }: { parameter: Json }) {
  const where = parameter.in === "path" ? "in the path" : parameter.in;
  return (
    <li>
      <div class="ref-field">
        <code>{parameter.name}</code> <span class="type">{`${where} · ${shortType(parameter.schema)}`}</span>
        {parameter.required && (
          <>
            {" "}
            <span class="required">required</span>
          </>
        )}
      </div>
      <Markdown text={parameter.description ?? ""} />
    </li>
  );
}

function Answers({ document, operation }: { document: OpenApiDocument; operation: Json }) {
  return (
    <ul class="answers">
      {Object.entries<Json>(operation.responses).map(([status, response]) => {
        const code: string | undefined = response.$ref?.split("/").at(-1);
        return code ? (
          <RefusalItem key={status} document={document} status={status} code={code} />
        ) : (
          <SuccessItem key={status} document={document} status={status} response={response} />
        );
      })}
    </ul>
  );
}

interface AnswerProps {
  document: OpenApiDocument;
  status: string;
}

function RefusalItem({ document, status, code }: AnswerProps & { code: string }) {
  const { examples } = document.components.responses[code].content["application/json"];
  return (
    <li>
      <span class="status refused">{status}</span>{" "}
      {code.split(OR).map((one) => (
        <>
          <a href={`/docs/errors/${one}`}>
            <code>{one}</code>
          </a>{" "}
          <span>{examples[one].summary}</span>{" "}
        </>
      ))}
    </li>
  );
}

function SuccessItem({ document, status, response }: AnswerProps & { response: Json }) {
  const schema: Schema | undefined = response.content?.["application/json"]?.schema;
  return (
    <li>
      <span class="status">{status}</span> <span>{response.description}</span>
      {schema && (
        <details>
          <summary>
            Fields of <code>data</code>
          </summary>
          <FieldList document={document} schema={dataOf(document, schema)} />
        </details>
      )}
    </li>
  );
}

/** The `data` field of an envelope's schema. */
function dataOf(document: OpenApiDocument, envelope: Schema): Schema {
  const name = envelope.$ref?.split("/").at(-1) ?? "";
  return document.components.schemas[name].properties.data;
}

function Samples({ document, entry }: { document: OpenApiDocument; entry: Operation }) {
  const { id, path, operation, incoming } = entry;
  if (incoming)
    return <JsonBlock value={operation.requestBody.content["application/json"].example} title={path} />;
  const [status, success] =
    Object.entries<Json>(operation.responses).find(([key]) => key.startsWith("2")) ?? [];
  const examples: Json[] = Object.values(success?.content?.["application/json"]?.examples ?? {});
  return (
    <>
      <Tabs
        name={`call-${id}`}
        samples={requestSamples(document.servers[0].url, entry).map(({ tab, language, text }) => ({
          lang: `${language} tab=${tab} title=Request`,
          text,
        }))}
      />
      {examples.map(({ value, summary }) => (
        <JsonBlock
          key={summary}
          value={value}
          title={`${status}:\u00a0${summary.replaceAll(" ", "\u00a0")}`}
        />
      ))}
    </>
  );
}

function JsonBlock({ value, title }: { value: unknown; title: string }) {
  return <CodeBlock source={JSON.stringify(value, null, 2)} info={`json title=${title}`} />;
}

/** The request body's content: JSON or a form. */
function bodyOf({ requestBody }: Json): Json {
  return (
    requestBody && (requestBody.content["application/json"] ?? requestBody.content["multipart/form-data"])
  );
}

function ResponseHeaders({ document }: { document: OpenApiDocument }) {
  return (
    <section class="op">
      <div class="op-text">
        <h2 id="response-headers">
          <a class="anchor" href="#response-headers">
            Response headers
          </a>
        </h2>
        <p>The first four are on every answer of the API, whatever its status.</p>
        <ul class="fields">
          {Object.entries<Json>(document.components.headers).map(([name, header]) => (
            <li key={name}>
              <div class="ref-field">
                <code>{name}</code> <span class="type">{shortType(header.schema)}</span>
              </div>
              <Markdown text={header.description} />
            </li>
          ))}
        </ul>
      </div>
      <div class="op-samples">
        <CodeBlock source={HEADERS_SAMPLE} info="http title=Headers" />
      </div>
    </section>
  );
}

const HEADERS_SAMPLE = `HTTP/1.1 202 Accepted
X-Request-Id: req_0Hq3ZrX9mLk2VbTnWc7YdE5s
X-RateLimit-Limit: 120
X-RateLimit-Remaining: 117
X-RateLimit-Reset: 1795341660
Location: {{base_path}}${API_PATHS.images}/img_5mJd0nV7rQe2TzXyB8kWc3Hs
Content-Type: application/json; charset=utf-8`;
