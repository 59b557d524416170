import { WebhookSignatureError } from "./errors.ts";
import type { webhooks } from "./schema.d.ts";

/** The body of a call, by what its documentation says. */
type BodyOf<Call> = Call extends { post: { requestBody?: { content: { "application/json": infer Body } } } }
  ? Body
  : never;

/** What a webhook tells. More types may come: ignore those you do not know. */
export type WebhookEvent = { [Name in keyof webhooks]: BodyOf<webhooks[Name]> }[keyof webhooks];

/** Older calls are refused, so that a recorded one cannot be played again. */
const TOLERANCE_S = 300;

/** The fewest that a secret has. With an empty one anybody could sign. */
const SECRET_BYTES = 24;

export interface WebhookRequest {
  /** A `Headers` object, or the headers of Node's requests. */
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The body's very bytes, before any parser has touched them. */
  body: string | Uint8Array;
  /** Now, in milliseconds; the clock by default. */
  now?: number;
}

/**
 * The event of a call to your webhook endpoint. Throws a WebhookSignatureError unless it was signed with the
 * endpoint's secret within the last five minutes. The same event may come twice: remember the header
 * `webhook-id`. What is no secret, such as an empty setting, throws a TypeError.
 */
export async function readWebhook(secret: string, request: WebhookRequest): Promise<WebhookEvent> {
  const { headers, body, now = Date.now() } = request;
  const secretBytes = bytesOf(secret.replace(/^whsec_/, ""));
  if (!secret.startsWith("whsec_") || secretBytes.length < SECRET_BYTES)
    throw new TypeError(
      "the webhook secret is missing or not one: it begins with whsec_, and is shown when the endpoint is made",
    );
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const ageS = Math.abs(now / 1000 - Number(timestamp || Number.NaN));
  if (!(ageS <= TOLERANCE_S)) throw new WebhookSignatureError("the webhook is too old, or has no time");

  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const key = await crypto.subtle.importKey("raw", secretBytes, { name: "HMAC", hash: "SHA-256" }, false, [
    "verify",
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  // While a secret is being rotated there are two signatures, one for each secret.
  for (const entry of headerOf(headers, "webhook-signature").split(" ")) {
    const [version, signature = ""] = entry.split(",");
    if (version !== "v1") continue;
    if (await crypto.subtle.verify("HMAC", key, bytesOf(signature), signed)) return JSON.parse(text);
  }
  throw new WebhookSignatureError("the webhook's signature does not match");
}

function headerOf(headers: WebhookRequest["headers"], name: string): string {
  if (headers instanceof Headers) return headers.get(name) ?? "";
  const found = Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  return (Array.isArray(found) ? found[0] : found) ?? "";
}

/** The bytes of base64; none where it is not base64. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
