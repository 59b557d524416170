import { MAX_BUDGETS } from "../../core/limits.ts";
import type { Clock } from "../../core/ports.ts";
import { DAY_MS } from "../../core/time.ts";
import type { ShortLivedState } from "../../state/state.ts";

/** What each account has spent of something in this UTC day. A restart forgets it: it bounds floods, it bills nobody. */
export interface DailyBytes {
  spent(accountId: string): Promise<number>;
  spend(accountId: string, bytes: number): Promise<void>;
  /** Whole seconds until the next day begins. */
  secondsLeft(): number;
}

/** `of` says what is spent. */
export function dailyBytes(
  of: string,
  { state, clock }: { state: ShortLivedState; clock: Clock },
): DailyBytes {
  const bytes = state.counters(`bytes ${of}`, { forMs: DAY_MS, maxKeys: MAX_BUDGETS });
  // With the day in its name a sum ends at midnight, whenever in the day it began.
  const today = (accountId: string) => `${Math.floor(clock.now() / DAY_MS)} ${accountId}`;
  return {
    spent: (accountId) => bytes.sum(today(accountId)),
    spend: async (accountId, count) => void (await bytes.add(today(accountId), count)),
    secondsLeft: () => Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000),
  };
}
