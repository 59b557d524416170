/** @jsxImportSource preact */
import { renderToString } from "preact-render-to-string";
import type { ErrorCode } from "../../core/errors.ts";
import { FAILURE_REASONS } from "../../core/failure-reasons.ts";
import { Markup } from "../../web/markup.ts";
import { ERROR_STATUS } from "../http-refusal.ts";
import { errorExample } from "../openapi/errors.ts";
import { EXAMPLES } from "../openapi/examples.ts";
import { DETAIL_TEXTS, ERROR_TEXTS, type FailureCode } from "./error-texts.ts";
import type { PageContent } from "./layout.tsx";
import { renderMarkdown } from "./markdown.tsx";

type Code = ErrorCode | FailureCode;

export const ALL_CODES = Object.keys(ERROR_TEXTS) as Code[];
/** Those of refusals. */
const CODES = ALL_CODES.filter((code) => code in ERROR_STATUS);

const RETRY_TEXTS = {
  no: "Not as it is: change something first.",
  "after Retry-After": "Yes, after the seconds in `Retry-After`.",
  "with back-off": "Yes, with growing pauses.",
};

const INDEX = [
  "# Errors",
  "",
  "A refusal is an envelope with `success: false` and an `error`. Switch on `error.code`, which never changes its meaning; show `error.message` to people; keep `error.request_id` for questions. `error.docs_url` opens the page about the code.",
  "",
  "## Codes",
  "",
  "{{codes}}",
  "",
  "## The fields at fault",
  "",
  "`error.details` has every broken field, up to 100, each with the rule in its `message`. `field` says where it stands:",
  "",
  "| `field` | What it names |",
  "| --- | --- |",
  "| `player.number`, `cards[17].player.number` | a place in the JSON body, or the field of a form |",
  "| `body` | the body as a whole |",
  "| `query limit` | a parameter of the address |",
  "| `path external_id` | a part of the path |",
  "| `header Idempotency-Key` | a header |",
  "",
  "A detail has a `code` when the request is well formed and a state is in its way. These codes are as stable as `error.code`; more may come:",
  "",
  "| `details[].code` | With | What it means |",
  "| --- | --- | --- |",
  ...Object.entries(DETAIL_TEXTS).map(
    ([code, { of, meaning }]) => `| \`${code}\` | [${of}](/docs/errors/${of}) | ${meaning} |`,
  ),
  "",
  "## Failed images",
  "",
  "An image that was accepted and could not be made is not an HTTP error. It is answered with 200, its `status` is `failed`, and `failure.code` is [IMAGE_PROCESSING_FAILED](/docs/errors/IMAGE_PROCESSING_FAILED). Its `failure.reason` says [why](/docs/errors/IMAGE_PROCESSING_FAILED#reasons), also of a card that was canceled with its batch.",
  "",
  "## The order of checks",
  "",
  "On `POST /v1/images` the first check that fails answers: key (401), suspended account (403), rate limit (429), headers and body (400, 413, 415), idempotency key (409), credits (402), photo and badge (422). Until the 202 nothing is reserved, and the `Idempotency-Key` stays free.",
  "",
  "## What to retry",
  "",
  "Retry 429, 500, 503 and broken connections, with the same `Idempotency-Key`, after `Retry-After` or a growing pause. Everything else needs a change first. [Idempotency](/docs/idempotency#retry-safely) has the code.",
].join("\n");

/** /docs/errors.md */
export function errorIndexText(): string {
  const codes = CODES.map(
    (code) => `- ${statusOf(code)} [${code}](/docs/errors/${code}): ${ERROR_TEXTS[code].summary}`,
  );
  return INDEX.replace("{{codes}}", codes.join("\n"));
}

/** /docs/errors: an overview of all codes. */
export function errorIndexPage(): PageContent {
  const { title, body, headings } = renderMarkdown(INDEX);
  const description = "Every error code: what it means and what to do.";
  const whole = <Markup text={body.replace("<p>{{codes}}</p>", renderToString(<CodeList />))} />;
  return { path: "/docs/errors", title, body: whole, headings, description };
}

function CodeList() {
  return (
    <ul class="answers">
      {CODES.map((code) => (
        <li key={code}>
          <span class="status refused">{statusOf(code)}</span>{" "}
          <a href={`/docs/errors/${code}`}>
            <code>{code}</code>
          </a>{" "}
          <span>{ERROR_TEXTS[code].summary}</span>
        </li>
      ))}
    </ul>
  );
}

const REASONS = [
  "## Reasons",
  "",
  "`failure.reason` is one of these, and `failure.hint` the sentence beside it. Names may be added, and never change: treat one you do not know like any failure. Images that failed before there were reasons have none.",
  "",
  "| Reason | What happened | What helps: the hint |",
  "| --- | --- | --- |",
  ...Object.entries(FAILURE_REASONS).map(
    ([name, { meaning, hint }]) => `| \`${name}\` | ${meaning} | ${hint} |`,
  ),
  "",
];

/** /docs/errors/{code}.md */
export function errorText(code: Code, baseUrl: string): string {
  const text = ERROR_TEXTS[code];
  const example = code in ERROR_STATUS ? errorExample(code as ErrorCode, baseUrl) : EXAMPLES.failed;
  return [
    `# ${code}`,
    "",
    `**${statusOf(code)}** · ${text.summary}.`,
    "",
    "## What it means",
    "",
    text.meaning,
    "",
    "## What to do",
    "",
    ...text.remedies.map((remedy) => `- ${remedy}`),
    "",
    `**Does the same request work later?** ${RETRY_TEXTS[text.retry]}`,
    "",
    ...(code === "IMAGE_PROCESSING_FAILED" ? REASONS : []),
    "## An example",
    "",
    "```json",
    JSON.stringify(example, null, 2),
    "```",
    "",
    "[All codes](/docs/errors)",
  ].join("\n");
}

/** /docs/errors/{code} */
export function errorPage(code: Code, baseUrl: string): PageContent {
  const { body, headings } = renderMarkdown(errorText(code, baseUrl));
  const description = `${code}: ${ERROR_TEXTS[code].summary}. What it means and what to do.`;
  return { path: `/docs/errors/${code}`, title: code, body: <Markup text={body} />, headings, description };
}

/** The answer for a code or page that does not exist. */
export function missingPage(path: string): PageContent {
  const wanted = /^\/docs\/errors\/([^/]{1,60})$/.exec(path)?.[1];
  const { body } = renderMarkdown(
    [
      wanted === undefined ? "# There is no such page" : "# There is no such code",
      "",
      wanted === undefined
        ? "Nothing is documented at this address. The menu lists every page; these are good places to go on:"
        : "The code in this address is not one of this service. Codes are written in capitals, such as `INVALID_REQUEST`. Take the address from `docs_url` of an answer, or look for it here:",
      "",
      "- [Every error code](/docs/errors)",
      "- [Quickstart](/docs/quickstart)",
      "- [API reference](/docs/reference)",
    ].join("\n"),
  );
  return {
    path: "",
    title: "Not found",
    body: <Markup text={body} />,
    description: "There is no such page.",
  };
}

function statusOf(code: Code): string {
  return code in ERROR_STATUS ? String(ERROR_STATUS[code as ErrorCode]) : "200, status failed";
}
