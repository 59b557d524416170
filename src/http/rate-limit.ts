import { RateLimiterMemory, type RateLimiterRes } from "rate-limiter-flexible";
import { RATE_LIMIT_PER_MINUTE, RATE_WINDOW_MS, REFUSED_KEYS_PER_MINUTE } from "../core/limits.ts";

/** What X-RateLimit-* report. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Epoch milliseconds at which the window ends. */
  resetAtMs: number;
  exceeded: boolean;
}

/** Counts calls in fixed windows of a minute, which begin with the minute. A port: one process counts in memory, several would share a store. */
export interface RateLimiter {
  /** Takes one call from the budget of `key` and tells what is left. */
  take(key: string, limit: number): Promise<RateState>;
  /** Tells what is left without taking any. */
  look(key: string, limit: number): Promise<RateState>;
}

export function memoryRateLimiter(now: () => number = Date.now): RateLimiter {
  // One counter serves every tier: the limit is applied here, so that a tier change holds from the next call on. Its
  // own expiry only tidies up: the window is part of the name, so that Reset is the same on every answer of a window.
  const counter = new RateLimiterMemory({
    points: Number.MAX_SAFE_INTEGER,
    duration: (2 * RATE_WINDOW_MS) / 1000,
  });
  const windowStartMs = () => now() - (now() % RATE_WINDOW_MS);
  const state = (result: RateLimiterRes | null, limit: number, startMs: number): RateState => {
    const used = result?.consumedPoints ?? 0;
    return {
      limit,
      remaining: Math.max(0, limit - used),
      resetAtMs: startMs + RATE_WINDOW_MS,
      exceeded: used > limit,
    };
  };
  return {
    take: async (key, limit) => {
      const startMs = windowStartMs();
      return state(await counter.consume(`${key}@${startMs}`), limit, startMs);
    },
    look: async (key, limit) => {
      const startMs = windowStartMs();
      return state(await counter.get(`${key}@${startMs}`), limit, startMs);
    },
  };
}

export function accountBudget(tier: keyof typeof RATE_LIMIT_PER_MINUTE): number {
  return RATE_LIMIT_PER_MINUTE[tier];
}

export const ADDRESS_BUDGET = REFUSED_KEYS_PER_MINUTE;

/** Whole seconds until the budget is whole again. */
export function secondsLeft(rate: RateState, now: number): number {
  return Math.max(1, Math.ceil((rate.resetAtMs - now) / 1000));
}
