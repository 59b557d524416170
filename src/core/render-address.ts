import { createHmac, timingSafeEqual } from "node:crypto";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "./time.ts";

// Signed addresses of on-demand pictures: anyone who has a key's signing secret writes one, and anybody may
// open it.

const SECRET_PREFIX = "cps_";
export const SIGNING_SECRET_BYTES = 32;

/** How far ahead an address may expire: old mails show their cards, and none is good for ever. */
export const MAX_RENDER_VALIDITY_MS = 366 * DAY_MS;
/** How long it is known that a card was made for an address: longer than any address is good. */
export const RENDER_MEMORY_MS = 400 * DAY_MS;
/**
 * Caches ask again after this long, so that a deleted card is not shown for the rest of the address's time.
 */
export const MAX_RENDER_CACHE_MS = DAY_MS;
/** How long a photo that was refused is not fetched again for the same address. */
export const REFUSED_ADDRESS_MS = MINUTE_MS;
export const MAX_REFUSED_ADDRESSES = 10_000;
/** A card that failed by a fault of ours is tried again, so often at most. */
export const MAX_RENDER_ATTEMPTS = 3;
/** How long a card that failed so is left alone. */
export const RENDER_RETRY_MS = HOUR_MS;

export function formatSigningSecret(bytes: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(bytes).toString("base64url");
}

/**
 * The text that is signed: the address's path and its parameters but `sig`, by name, each percent-encoded as
 * RFC 3986 says. So an address stays right however a mail program or a proxy writes it.
 */
export function signedText(path: string, parameters: Iterable<readonly [string, string]>): string {
  const pairs = [...parameters]
    .filter(([name]) => name !== "sig")
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    // What is encoded is ASCII, which every language sorts alike.
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `${path}?${pairs.map((pair) => pair.join("=")).join("&")}`;
}

const encoded = (text: string) =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** HMAC-SHA256 with the whole secret as the key, as lower-case hex. */
export function renderSignature(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

export function isRenderSignature(secret: string, text: string, signature: string): boolean {
  const right = Buffer.from(renderSignature(secret, text));
  const given = Buffer.from(signature);
  return right.length === given.length && timingSafeEqual(right, given);
}
