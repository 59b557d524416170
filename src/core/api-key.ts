import type { Environment } from "./account.ts";

/**
 * An API key is its prefix, 32 random bytes in base62 (43 characters) and the CRC-32 of both in base62 (6
 * characters). The checksum lets a mistyped or made-up key be refused without a look-up, and lets secret
 * scanners recognise keys.
 */
export const KEY_PREFIXES = { live: "sk_live_", test: "sk_test_" } as const satisfies Record<
  Environment,
  string
>;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const SECRET_CHARS = 43;
const CHECKSUM_CHARS = 6;
const SHAPE = new RegExp(`^sk_(live|test)_[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`);

/** Makes the key text from 32 random bytes. */
export function formatApiKey(environment: Environment, secret: Uint8Array): string {
  if (secret.length !== 32) throw new Error("an API key needs 32 random bytes");
  const value = BigInt(`0x${Buffer.from(secret).toString("hex")}`);
  const head = KEY_PREFIXES[environment] + base62(value, SECRET_CHARS);
  return head + checksum(head);
}

/** The key's environment, or null when shape or checksum are wrong. */
export function parseApiKey(text: string): Environment | null {
  const match = SHAPE.exec(text);
  if (!match) return null;
  const head = text.slice(0, -CHECKSUM_CHARS);
  return text.slice(-CHECKSUM_CHARS) === checksum(head) ? (match[1] as Environment) : null;
}

/** Whether requests may use a key at `now`: it is neither revoked nor past its last day. */
export const isInForce = (
  key: { revokedAt: number | null; expiresAt: number | null },
  now: number,
): boolean => key.revokedAt === null && (key.expiresAt === null || now < key.expiresAt);

/** What is stored of a key: SHA-256 as lower-case hex. 256 random bits need no salt and no slow hash. */
export function hashApiKey(key: string): string {
  return Bun.SHA256.hash(key, "hex");
}

/** As base62() of the 32 bits, in plain numbers: every request has its key checked. */
function checksum(head: string): string {
  let text = "";
  for (let rest = Bun.hash.crc32(head); text.length < CHECKSUM_CHARS; rest = Math.floor(rest / 62))
    text = ALPHABET[rest % 62] + text;
  return text;
}

function base62(value: bigint, length: number): string {
  let text = "";
  for (let rest = value; text.length < length; rest /= 62n) text = ALPHABET[Number(rest % 62n)] + text;
  return text;
}
