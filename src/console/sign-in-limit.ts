import { RateLimiterMemory } from "rate-limiter-flexible";
import {
  SIGN_IN_WINDOW_MS,
  SIGN_INS_PER_ADDRESS,
  SIGN_INS_PER_EMAIL,
  SIGN_INS_PER_EMAIL_AND_ADDRESS,
} from "../core/limits.ts";

/** Bounds password guesses. Counts the same for emails that exist and for those that do not. */
export interface SignInLimit {
  /** Counts one try; false when there were too many. */
  take(email: string, address: string): Promise<boolean>;
  /** The password was right: honest mistakes before it are forgotten. */
  forgive(email: string, address: string): Promise<void>;
}

export function signInLimit(): SignInLimit {
  const duration = SIGN_IN_WINDOW_MS / 1000;
  const limiter = (points: number) => new RateLimiterMemory({ points, duration });
  const pair = limiter(SIGN_INS_PER_EMAIL_AND_ADDRESS);
  const byAddress = limiter(SIGN_INS_PER_ADDRESS);
  const byEmail = limiter(SIGN_INS_PER_EMAIL);
  const pairKey = (email: string, address: string) => `${address} ${email}`;
  return {
    take: async (email, address) => {
      const tries = [
        pair.consume(pairKey(email, address)),
        byAddress.consume(address),
        byEmail.consume(email),
      ];
      return (await Promise.allSettled(tries)).every((result) => result.status === "fulfilled");
    },
    forgive: async (email, address) => {
      await pair.delete(pairKey(email, address));
      await byAddress.reward(address, 1);
      await byEmail.reward(email, 1);
    },
  };
}
