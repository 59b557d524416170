import {
  MAX_BUDGETS,
  RATE_LIMIT_PER_MINUTE,
  RATE_WINDOW_MS,
  REFUSED_KEYS_PER_MINUTE,
} from "../core/limits.ts";
import type { Clock } from "../core/ports.ts";
import type { ShortLivedState } from "../state/state.ts";

/** The values for X-RateLimit-*. */
export interface RateState {
  limit: number;
  remaining: number;
  /** Epoch milliseconds at which the window ends. */
  resetAtMs: number;
  exceeded: boolean;
}

/** Counts calls in fixed windows aligned to the minute. */
export interface RateLimiter {
  /** Takes one call from the budget of `key` and returns what is left. */
  take(key: string, limit: number): Promise<RateState>;
  /** Returns what is left without taking a call. */
  look(key: string, limit: number): Promise<RateState>;
  /** A budget of which nothing was taken; asks nobody. */
  whole(limit: number): RateState;
}

export function rateLimiter({ state, clock }: { state: ShortLivedState; clock: Clock }): RateLimiter {
  // One counter serves every tier: the limit is applied here, so that a tier change takes effect with the
  // next call. Expiry is only housekeeping: the window is part of the name, so Reset is the same on every
  // response of a window.
  const calls = state.counters("calls", { forMs: 2 * RATE_WINDOW_MS, maxKeys: MAX_BUDGETS });
  const windowStartMs = () => clock.now() - (clock.now() % RATE_WINDOW_MS);
  const stateOf = (used: number, limit: number, startMs: number): RateState => ({
    limit,
    remaining: Math.max(0, limit - used),
    resetAtMs: startMs + RATE_WINDOW_MS,
    exceeded: used > limit,
  });
  return {
    take: async (key, limit) => {
      const startMs = windowStartMs();
      return stateOf(await calls.add(`${key}@${startMs}`, 1), limit, startMs);
    },
    look: async (key, limit) => {
      const startMs = windowStartMs();
      return stateOf(await calls.sum(`${key}@${startMs}`), limit, startMs);
    },
    whole: (limit) => stateOf(0, limit, windowStartMs()),
  };
}

export function accountBudget(tier: keyof typeof RATE_LIMIT_PER_MINUTE): number {
  return RATE_LIMIT_PER_MINUTE[tier];
}

export const ADDRESS_BUDGET = REFUSED_KEYS_PER_MINUTE;

/** Whole seconds until the budget is full again. */
export function secondsLeft(rate: RateState, now: number): number {
  return Math.max(1, Math.ceil((rate.resetAtMs - now) / 1000));
}
