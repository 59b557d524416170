import type { TSchema } from "@sinclair/typebox";
import type { ErrorCode } from "../../core/errors.ts";
import { headerRefs, STANDARD_HEADERS } from "./errors.ts";

export type Examples = Record<string, { summary: string; value: object }>;

/** The errors any partner route may answer with. */
export const ALWAYS: readonly ErrorCode[] = [
  "INVALID_API_KEY",
  "PARTNER_SUSPENDED",
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

/** The image id in a path. */
export const IMAGE_ID_PARAMETER = {
  name: "image_id",
  in: "path",
  required: true,
  description: "The id of the create answer.",
  schema: { type: "string" },
  example: "img_5mJd0nV7rQe2TzXyB8kWc3Hs",
} as const;
