import { API_PATHS, fillPath } from "../../core/api-paths.ts";
import { MAX_IDEMPOTENCY_KEY_CHARS, RATE_LIMIT_PER_MINUTE } from "../../core/limits.ts";
import { MAX_PREFERRED_WAIT_S } from "../../core/picture-limits.ts";
import { EXAMPLE_REQUEST_ID } from "./errors.ts";

const text = { type: "string" } as const;
const whole = { type: "integer", minimum: 0 } as const;
const { starter, growth, scale } = RATE_LIMIT_PER_MINUTE;

/** Every response header the API sends, by name. */
export const HEADERS = {
  "X-Request-Id": {
    description: "Identifies this request in our logs. Include it when you ask for help.",
    required: true,
    schema: text,
    example: EXAMPLE_REQUEST_ID,
  },
  "X-RateLimit-Limit": {
    description: `Requests a minute for the account and environment: ${starter} (starter), ${growth} (growth), ${scale} (scale). Before a key is known: refused keys a minute for the client's address.`,
    required: true,
    schema: whole,
    example: starter,
  },
  "X-RateLimit-Remaining": {
    description: "Requests left in the current window.",
    required: true,
    schema: whole,
    example: 117,
  },
  "X-RateLimit-Reset": {
    description: "Unix time in seconds at which the window ends and the budget is whole again.",
    required: true,
    schema: whole,
    example: 1795341660,
  },
  "Retry-After": {
    description: "Seconds to wait before the next attempt.",
    required: true,
    schema: { type: "integer", minimum: 1 },
    example: 24,
  },
  "Idempotent-Replayed": {
    description: "`true` when this is the stored answer of an earlier request with the same key and body.",
    schema: { type: "string", enum: ["true"] },
    example: "true",
  },
  "Preference-Applied": {
    description: "The preference that was followed: how long the answer would have waited for the image.",
    schema: text,
    example: "wait=20",
  },
  Location: {
    description:
      "Path of the image: the same as `poll_url`, behind the path that the service's address may have.",
    required: true,
    schema: text,
    example: fillPath(API_PATHS.image, { image_id: "img_5mJd0nV7rQe2TzXyB8kWc3Hs" }),
  },
  Allow: {
    description: "The methods this address answers.",
    required: true,
    schema: text,
    example: "GET, POST, HEAD",
  },
  ETag: {
    description: "The picture's version; it never changes.",
    required: true,
    schema: text,
    example: '"img_5mJd0nV7rQe2TzXyB8kWc3Hs-Zq81LmB0xYtR4vNc"',
  },
  "Content-Disposition": {
    description: "A name for the file.",
    required: true,
    schema: text,
    example: 'attachment; filename="bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9.zip"',
  },
  "Cache-Control": {
    description: "Pictures may be cached until they expire.",
    required: true,
    schema: text,
    example: "public, max-age=2592000, immutable",
  },
} as const;

export const IDEMPOTENCY_KEY_PARAMETER = {
  name: "Idempotency-Key",
  in: "header",
  required: true,
  description:
    "A value of your choice that is unique for each image you want, such as a UUID. The same key with the same body gives the first answer again and never a second image. Kept for 72 hours.",
  schema: { type: "string", pattern: "^[\\x21-\\x7E]+$", minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_CHARS },
  example: "8f14e45f-ceea-467f-a9d1-7c2f6e3b0a55",
} as const;

export const PREFER_PARAMETER = {
  name: "Prefer",
  in: "header",
  description: `\`wait=N\` (RFC 7240): wait up to N seconds, at most ${MAX_PREFERRED_WAIT_S}, for the image to be ready. Then it is answered with 200 and \`Preference-Applied\`; otherwise with 202 as without it, also at once when very many wait already. To leave while waiting cancels nothing.`,
  schema: { type: "string" },
  example: "wait=20",
} as const;

export const PREFER_ON_GET_PARAMETER = {
  ...PREFER_PARAMETER,
  description: `\`wait=N\` (RFC 7240): wait up to N seconds, at most ${MAX_PREFERRED_WAIT_S}, for the image to be ready. Once it is, the answer comes with \`Preference-Applied\`.`,
} as const;

export const SECURITY_SCHEMES = {
  ApiKey: {
    type: "apiKey",
    in: "header",
    name: "X-API-Key",
    description:
      "`sk_live_...` makes real cards and uses credits; `sk_test_...` makes watermarked placeholders and costs nothing. For servers only: never put a key into an app or a web page.",
  },
  WebhookSignature: {
    type: "apiKey",
    in: "header",
    name: "webhook-signature",
    description:
      "Standard Webhooks: space-separated `v1,<signature>`, each the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}` with an endpoint's secret. Verify it before you trust a body.",
  },
} as const;
