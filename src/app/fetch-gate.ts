import { AppError } from "../core/errors.ts";
import {
  MAX_FETCH_WAIT_MS,
  MAX_FETCHING_CREATES,
  MAX_FETCHING_CREATES_PER_ACCOUNT,
  MAX_WAITING_CREATES_PER_ACCOUNT,
} from "../core/limits.ts";

/** Lets a bounded number of creates fetch their photos at once, and shares the places between the accounts. */
export interface FetchGate {
  /** Runs `work` when the account has a place. Throws SERVICE_OVERLOADED when its turn does not come soon. */
  run<T>(accountId: string, work: () => Promise<T>): Promise<T>;
  /** Refuses those who wait, and all who come: the service stops. */
  close(): void;
}

const LIMITS = {
  places: MAX_FETCHING_CREATES,
  placesPerAccount: MAX_FETCHING_CREATES_PER_ACCOUNT,
  waitingPerAccount: MAX_WAITING_CREATES_PER_ACCOUNT,
  waitMs: MAX_FETCH_WAIT_MS,
};

export function fetchGate(limits = LIMITS): FetchGate {
  const running = new Map<string, number>();
  // Accounts in the order in which they are served next: one that was served goes to the end.
  const waiting = new Map<string, Set<() => void>>();
  let free = limits.places;
  let closed = false;
  const refuseAll = new Set<() => void>();

  const canRun = (accountId: string) => free > 0 && (running.get(accountId) ?? 0) < limits.placesPerAccount;
  const take = (accountId: string) => {
    free -= 1;
    running.set(accountId, (running.get(accountId) ?? 0) + 1);
  };
  const giveBack = (accountId: string) => {
    free += 1;
    const left = (running.get(accountId) ?? 1) - 1;
    if (left === 0) running.delete(accountId);
    else running.set(accountId, left);
    admitNext();
  };
  const admitNext = () => {
    for (const [accountId, queue] of waiting) {
      const [admit] = queue;
      if (!admit || !canRun(accountId)) continue;
      waiting.delete(accountId);
      queue.delete(admit);
      if (queue.size > 0) waiting.set(accountId, queue);
      take(accountId);
      return admit();
    }
  };

  /** Resolves with a place taken. */
  const wait = (accountId: string) =>
    new Promise<void>((resolve, reject) => {
      const queue = waiting.get(accountId) ?? new Set();
      if (queue.size >= limits.waitingPerAccount) return reject(tooManyFetches());
      const leave = () => {
        clearTimeout(timer);
        refuseAll.delete(refuse);
      };
      const admit = () => {
        leave();
        resolve();
      };
      const refuse = () => {
        leave();
        queue.delete(admit);
        if (queue.size === 0) waiting.delete(accountId);
        reject(tooManyFetches());
      };
      const timer = setTimeout(refuse, limits.waitMs);
      refuseAll.add(refuse);
      queue.add(admit);
      waiting.set(accountId, queue);
    });

  return {
    run: async (accountId, work) => {
      if (closed) throw tooManyFetches();
      if (canRun(accountId)) take(accountId);
      else await wait(accountId);
      try {
        return await work();
      } finally {
        giveBack(accountId);
      }
    },
    close: () => {
      closed = true;
      for (const refuse of [...refuseAll]) refuse();
    },
  };
}

function tooManyFetches(): AppError {
  return new AppError(
    "SERVICE_OVERLOADED",
    "Too many photos of this account are being fetched at once. Nothing was reserved; send the same request again in a few seconds.",
    { retryAfterSeconds: 5 },
  );
}
