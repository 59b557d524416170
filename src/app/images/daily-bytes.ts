import { MAX_BUDGETS } from "../../core/limits.ts";
import type { Clock } from "../../core/ports.ts";
import { DAY_MS } from "../../core/time.ts";
import type { ShortLivedState } from "../../state/state.ts";

/**
 * How many bytes of one kind each account has used this UTC day. Forgotten at a restart: it bounds floods and
 * bills nobody.
 */
export interface DailyBytes {
  spent(accountId: string): Promise<number>;
  spend(accountId: string, bytes: number): Promise<void>;
  /** Whole seconds until the next day begins. */
  secondsLeft(): number;
}

/** `of` names the kind. */
export function dailyBytes(
  of: string,
  { state, clock }: { state: ShortLivedState; clock: Clock },
): DailyBytes {
  const bytes = state.counters(`bytes ${of}`, { forMs: DAY_MS, maxKeys: MAX_BUDGETS });
  // The day is part of the name, so a sum ends at midnight whenever it began.
  const today = (accountId: string) => `${Math.floor(clock.now() / DAY_MS)} ${accountId}`;
  return {
    spent: (accountId) => bytes.sum(today(accountId)),
    spend: async (accountId, count) => void (await bytes.add(today(accountId), count)),
    secondsLeft: () => Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000),
  };
}
