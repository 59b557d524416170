import { availableParallelism } from "node:os";
import PQueue from "p-queue";
import { Refusal } from "../../core/errors.ts";
import { MAX_WAITING_PASSWORDS } from "../../core/sign-in-limits.ts";

/** Argon2id with 19 MiB and 2 passes: OWASP's Password Storage Cheat Sheet; about 31 ms. */
const ARGON2ID = { algorithm: "argon2id", memoryCost: 19_456, timeCost: 2 } as const;

/** Hashing uses threads of the pool that all file access shares: half of them stay free for that. */
const queue = new PQueue({ concurrency: Math.max(1, Math.floor(availableParallelism() / 2)) });

/** Throws Refusal SERVICE_OVERLOADED when too many are waiting. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, ARGON2ID));
}

/** Throws Refusal SERVICE_OVERLOADED when too many are waiting. */
export function verifyPassword(password: string, hash: string): Promise<boolean> {
  return inTurn(() => Bun.password.verify(password, hash));
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (queue.size >= MAX_WAITING_PASSWORDS)
    throw new Refusal(
      "SERVICE_OVERLOADED",
      "Too many people are signing in just now. Try again in a minute.",
      {
        retryAfterSeconds: 60,
      },
    );
  return queue.add(work);
}
