import { API_PATHS } from "../core/api-paths.ts";

/**
 * Documentation and samples take the key from the reader's environment, so that no sample ever contains one.
 */
const KEY_FROM_ENVIRONMENT = "$CARDPRESS_KEY";

/** A shell command that creates an image. Pass `key` only when the reader owns it. */
export function curlCreate(baseUrl: string, request: unknown, key = KEY_FROM_ENVIRONMENT): string {
  return [
    `curl ${baseUrl}${API_PATHS.images}`,
    `  -H "X-API-Key: ${key}"`,
    '  -H "Idempotency-Key: card-$(date +%s)"',
    '  -H "Content-Type: application/json"',
    `  -d ${quoted(JSON.stringify(request, null, 2))}`,
  ].join(" \\\n");
}

/** Quotes a word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
