import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../core/errors.ts";
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from "../../core/limits.ts";
import { headerRefs, STANDARD_HEADERS } from "./errors.ts";

export type Examples = Record<string, { summary: string; value: object }>;

/** The errors any partner route may answer with. */
export const ALWAYS: readonly ErrorCode[] = [
  "INVALID_API_KEY",
  "PARTNER_SUSPENDED",
  "KEY_NOT_ALLOWED",
  "METHOD_NOT_ALLOWED",
  "RATE_LIMIT_EXCEEDED",
  "INTERNAL_ERROR",
];

export function answer(description: string, schema: TSchema, examples: Examples, ...extraHeaders: string[]) {
  return {
    description,
    headers: { ...STANDARD_HEADERS, ...headerRefs(...extraHeaders) },
    content: { "application/json": { schema, examples } },
  };
}

/**
 * The query parameters that page through a list.
 * @param what the listed things, such as "images"
 * @param sameAs what has to stay the same from page to page
 */
export function pageParameters(what: string, sameAs: string) {
  return [
    {
      name: "limit",
      in: "query",
      description: `How many ${what} a page has at most.`,
      schema: { type: "integer", minimum: 1, maximum: MAX_LIST_LIMIT, default: DEFAULT_LIST_LIMIT },
    },
    {
      name: "after",
      in: "query",
      description: `The \`next_cursor\` of the previous page, with the same ${sameAs}.`,
      schema: { type: "string" },
    },
  ];
}

/** The query parameters that narrow a list to a span of time; `done`: what was done then, as "accepted". */
export function spanParameters(done: string) {
  return [
    {
      name: "created_after",
      in: "query",
      description: `Only those ${done} after this time.`,
      schema: { type: "string", format: "date-time" },
      example: "2026-11-01T00:00:00Z",
    },
    {
      name: "created_before",
      in: "query",
      description: `Only those ${done} before this time.`,
      schema: { type: "string", format: "date-time" },
      example: "2026-12-01T00:00:00Z",
    },
  ];
}

/** A player in a path. */
export const EXTERNAL_ID_PARAMETER = {
  name: "external_id",
  in: "path",
  required: true,
  description: "Your own identifier of the player, percent-encoded.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
  example: "player-10442",
} as const;

/** The image id in a path. */
export const IMAGE_ID_PARAMETER = {
  name: "image_id",
  in: "path",
  required: true,
  description: "The id returned on creation.",
  schema: { type: "string" },
  example: "img_5mJd0nV7rQe2TzXyB8kWc3Hs",
} as const;
