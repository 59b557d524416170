import { createHmac } from "node:crypto";

// The symmetric scheme of Standard Webhooks 1.0 (https://www.standardwebhooks.com); the standard's libraries
// and Svix's verify it.

const SECRET_PREFIX = "whsec_";
/** The standard requires 24 to 64 random bytes. */
export const WEBHOOK_SECRET_BYTES = 32;

/** A secret as partners store it: `whsec_` followed by the random bytes in base64. */
export function formatWebhookSecret(bytes: Uint8Array): string {
  if (bytes.length !== WEBHOOK_SECRET_BYTES) {
    throw new Error(`a webhook secret needs ${WEBHOOK_SECRET_BYTES} random bytes`);
  }
  return SECRET_PREFIX + Buffer.from(bytes).toString("base64");
}

export interface WebhookMessage {
  /** The event's id, the same for every attempt, by which receivers recognise repeats. */
  id: string;
  /** When this attempt is made, in epoch milliseconds; receivers refuse timestamps too far from now. */
  timestampMs: number;
  body: string;
}

/**
 * The three headers of one attempt. `webhook-signature` holds the base64 HMAC-SHA256 of `id.timestamp.body`
 * under each secret, as `v1,...` separated by spaces, so that during a rotation both old and new secret
 * verify.
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
