import type { ErrorCode } from "../../core/errors.ts";
import { ERROR_TEXTS } from "../docs/error-texts.ts";
import { creditsView, docsUrl } from "../envelope.ts";
import { ERROR_STATUS } from "../http-refusal.ts";
import { ErrorResponse } from "../schemas.ts";

export const EXAMPLE_REQUEST_ID = "req_0Hq3ZrX9mLk2VbTnWc7YdE5s";

/** The headers of every answer. */
export const STANDARD_HEADERS = headerRefs(
  "X-Request-Id",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
);

export function headerRefs(...names: string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The body of an error answer as the documentation shows it. */
export function errorExample(code: ErrorCode, baseUrl: string): object {
  const { message, details, credits } = ERROR_TEXTS[code].example;
  const error = {
    code,
    message,
    request_id: EXAMPLE_REQUEST_ID,
    docs_url: docsUrl(baseUrl, code),
    ...(details ? { details } : {}),
    ...(credits ? { credits: creditsView(credits) } : {}),
  };
  return { success: false, data: null, error };
}

const EXTRA_HEADERS: Partial<Record<ErrorCode, string>> = {
  METHOD_NOT_ALLOWED: "Allow",
  RATE_LIMIT_EXCEEDED: "Retry-After",
  SERVICE_OVERLOADED: "Retry-After",
};

/** One reusable response per error code, named after the code, or after those that share it. */
export function errorResponses(codes: readonly ErrorCode[], baseUrl: string): Record<string, object> {
  const alone = codes.filter((code) => !SHARED.flat().includes(code)).map((code) => [code]);
  return Object.fromEntries(
    [...alone, ...SHARED].map((group) => [
      group.join(OR),
      {
        description: group
          .map((code) => `\`${code}\`: ${ERROR_TEXTS[code].summary}. ${ERROR_TEXTS[code].meaning}`)
          .join(" "),
        headers: {
          ...STANDARD_HEADERS,
          ...headerRefs(...group.flatMap((code) => EXTRA_HEADERS[code] ?? [])),
        },
        content: {
          "application/json": {
            schema: ErrorResponse,
            examples: Object.fromEntries(
              group.map((code) => [
                code,
                { summary: ERROR_TEXTS[code].summary, value: errorExample(code, baseUrl) },
              ]),
            ),
          },
        },
      },
    ]),
  );
}

/** Codes of one status, each way in which they come together: an operation has one response for a status. */
const SHARED: ErrorCode[][] = [
  ["PARTNER_SUSPENDED", "KEY_NOT_ALLOWED"],
  ["IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD", "SERIAL_TAKEN", "PARALLEL_FULL", "EDITION_CLOSED"],
  ["SERIAL_TAKEN", "PARALLEL_FULL", "EDITION_CLOSED"],
  ["IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD"],
];
/** Between the codes in the name of a response. */
export const OR = "_OR_";

/** References to those responses, by status. */
export function refusals(...codes: ErrorCode[]): Record<string, { $ref: string }> {
  const byStatus = Map.groupBy(codes, (code) => String(ERROR_STATUS[code]));
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [status, { $ref: `#/components/responses/${group.join(OR)}` }]),
  );
}
