import { AsyncLocalStorage } from "node:async_hooks";

/** What is left to wait, and since when how many wait for it. */
interface Budget {
  leftMs: number;
  waiting: number;
  since: number;
  isOver: boolean;
}

const budgets = new AsyncLocalStorage<Budget>();

/**
 * Gives all that `work` waits for with `patiently` this time together: each wait alone may be short enough,
 * and yet the sum of them too long for those who wait for `work`. What `work` leaves running is free of the
 * limit once it ends.
 */
export async function withDeadlineBudget<T>(ms: number, work: () => Promise<T>): Promise<T> {
  const budget: Budget = { leftMs: ms, waiting: 0, since: 0, isOver: false };
  try {
    return await budgets.run(budget, work);
  } finally {
    budget.isOver = true;
  }
}

/**
 * Runs `work` free of the surrounding `withDeadlineBudget`: for what must be done after it, and nobody waits
 * for.
 */
export function withoutDeadlineBudget<T>(work: () => Promise<T>): Promise<T> {
  return budgets.exit(work);
}

/**
 * Passes `work` how long it may take, in ms and at least 1: `limitMs`, or what the surrounding
 * `withDeadlineBudget` has left. Time in which several wait at once counts once.
 */
export async function patiently<T>(limitMs: number, work: (limitMs: number) => Promise<T>): Promise<T> {
  const budget = budgets.getStore();
  if (!budget || budget.isOver) return work(limitMs);
  const now = performance.now();
  if (budget.waiting++ === 0) budget.since = now;
  try {
    return await work(Math.max(1, Math.min(limitMs, budget.leftMs - (now - budget.since))));
  } finally {
    if (--budget.waiting === 0) budget.leftMs -= performance.now() - budget.since;
  }
}
