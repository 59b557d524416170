import { createHmac, timingSafeEqual } from "node:crypto";
import type { Clock, Random } from "../../core/ports.ts";
import { DAY_MS } from "../../core/time.ts";
import type { ShortLivedState } from "../../state/state.ts";

/** How long a person may take between requesting a challenge and touching the key. */
const CHALLENGE_LIFETIME_MS = 300_000;
/**
 * How many answered challenges are remembered. Each took the signature of a real passkey, so a flood cannot
 * fill this.
 */
const MAX_SPENT = 10_000;
/**
 * How long challenges are signed with one secret. At its end those under way are refused: a few people a
 * month try again.
 */
const SECRET_LIFETIME_MS = 30 * DAY_MS;
const SECRET_BYTES = 32;
const NONCE_BYTES = 16;
const EXPIRY_BYTES = 8;

/**
 * Passkey challenges, each valid for one purpose, for five minutes, and once. They carry their own proof and
 * are stored only when answered: however many are requested, nobody else's is lost.
 */
export interface Challenges {
  make(purpose: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Whether it is one of ours for this purpose, unexpired and unanswered. `challenge` in base64url. */
  isOpen(challenge: string, purpose: string): Promise<boolean>;
  /** Uses it up once its response has been verified. False when another response was faster. */
  spend(challenge: string): Promise<boolean>;
}

export function challenges({
  clock,
  random,
  state,
}: {
  clock: Clock;
  random: Random;
  state: ShortLivedState;
}): Challenges {
  // Where the memory of what was answered is lost, the secret goes with it: nothing answered is open again.
  const secrets = state.values<string>("challenge secret", { forMs: SECRET_LIFETIME_MS, maxKeys: 1 });
  const secret = async (): Promise<Buffer> => {
    const known = await secrets.get("secret");
    if (known !== undefined) return Buffer.from(known, "base64");
    await secrets.putNew("secret", Buffer.from(random.bytes(SECRET_BYTES)).toString("base64"));
    return secret();
  };
  const spent = state.values<true>("challenges answered", {
    forMs: CHALLENGE_LIFETIME_MS,
    maxKeys: MAX_SPENT,
  });
  const sign = async (head: Uint8Array, purpose: string) =>
    createHmac("sha256", await secret())
      .update(head)
      .update(purpose)
      .digest();
  return {
    make: async (purpose) => {
      const head = Buffer.alloc(EXPIRY_BYTES + NONCE_BYTES);
      head.writeBigUInt64BE(BigInt(clock.now() + CHALLENGE_LIFETIME_MS));
      head.set(random.bytes(NONCE_BYTES), EXPIRY_BYTES);
      return Uint8Array.from([...head, ...(await sign(head, purpose))]);
    },
    isOpen: async (challenge, purpose) => {
      const bytes = Buffer.from(challenge, "base64url");
      const head = bytes.subarray(0, EXPIRY_BYTES + NONCE_BYTES);
      const given = bytes.subarray(head.length);
      const wanted = await sign(head, purpose);
      if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false;
      const isInTime = Number(head.readBigUInt64BE()) > clock.now();
      return isInTime && !(await spent.has(bytes.toString("base64url")));
    },
    spend: (challenge) => spent.putNew(Buffer.from(challenge, "base64url").toString("base64url"), true),
  };
}
