import { createHmac } from "node:crypto";

// Standard Webhooks 1.0 (https://www.standardwebhooks.com), the symmetric scheme: every library of the standard, and
// Svix's, verifies what this signs.

const SECRET_PREFIX = "whsec_";
/** The standard asks for 24 to 64 random bytes. */
export const WEBHOOK_SECRET_BYTES = 32;

/** The text of a secret as partners keep it: `whsec_` and the random bytes in base64. */
export function formatWebhookSecret(bytes: Uint8Array): string {
  if (bytes.length !== WEBHOOK_SECRET_BYTES) {
    throw new Error(`a webhook secret needs ${WEBHOOK_SECRET_BYTES} random bytes`);
  }
  return SECRET_PREFIX + Buffer.from(bytes).toString("base64");
}

export interface WebhookMessage {
  /** The event's id, the same at every attempt: the receiver's key for telling repeats. */
  id: string;
  /** When this attempt is made, epoch milliseconds; the receiver refuses what is too old or from the future. */
  timestampMs: number;
  body: string;
}

/**
 * The three headers of one attempt. `webhook-signature` is the base64 HMAC-SHA256 of `id.timestamp.body` under each
 * secret, as `v1,...`, separated by a space, so that during a rotation old and new secret both verify.
 */
export function webhookHeaders(message: WebhookMessage, secrets: string[]): Record<string, string> {
  const timestamp = String(Math.floor(message.timestampMs / 1000));
  const signed = `${message.id}.${timestamp}.${message.body}`;
  return {
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((secret) => `v1,${sign(signed, secret)}`).join(" "),
  };
}

function sign(text: string, secret: string): string {
  if (!secret.startsWith(SECRET_PREFIX)) throw new Error("a webhook secret begins with whsec_");
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return createHmac("sha256", key).update(text).digest("base64");
}
