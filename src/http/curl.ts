import { API_PATHS } from "../core/api-paths.ts";

/** As documentation and samples write the key: read from the reader's environment, so that no sample ever holds one. */
const KEY_FROM_ENVIRONMENT = "$CARDPRESS_KEY";

/** A command for a POSIX shell that creates an image. `key`: only where whoever reads it owns it. */
export function curlCreate(baseUrl: string, request: unknown, key = KEY_FROM_ENVIRONMENT): string {
  return [
    `curl ${baseUrl}${API_PATHS.images}`,
    `  -H "X-API-Key: ${key}"`,
    '  -H "Idempotency-Key: card-$(date +%s)"',
    '  -H "Content-Type: application/json"',
    `  -d ${quoted(JSON.stringify(request, null, 2))}`,
  ].join(" \\\n");
}

/** A word for a POSIX shell: a quote in it must not end it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
