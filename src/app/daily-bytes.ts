import type { Clock } from "../core/ports.ts";
import { DAY_MS } from "../core/time.ts";

/** What each account has spent of something in this UTC day. A restart forgets it: it bounds floods, it bills nobody. */
export interface DailyBytes {
  spent(accountId: string): number;
  spend(accountId: string, bytes: number): void;
  /** Whole seconds until the next day begins. */
  secondsLeft(): number;
}

export function dailyBytes(clock: Clock): DailyBytes {
  let day = Number.NaN;
  let accounts = new Map<string, number>();
  const today = () => {
    const current = Math.floor(clock.now() / DAY_MS);
    if (current !== day) accounts = new Map();
    day = current;
    return accounts;
  };
  return {
    spent: (accountId) => today().get(accountId) ?? 0,
    spend: (accountId, bytes) => void today().set(accountId, (today().get(accountId) ?? 0) + bytes),
    secondsLeft: () => Math.ceil((DAY_MS - (clock.now() % DAY_MS)) / 1000),
  };
}
