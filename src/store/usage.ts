import { and, asc, eq, gte, lte, sql } from "drizzle-orm";
import type { Tables } from "../../db/schema.ts";
import type { Environment } from "../core/account.ts";

import { dayOf } from "../core/time.ts";
import { type Parameters, prepared } from "./prepared.ts";
import type { Tx } from "./store.ts";

export interface UsageCounts {
  requested: number;
  completed: number;
  failed: number;
  creditsUsed: number;
}

const COUNTS = ["requested", "completed", "failed", "creditsUsed"] as const;

/** What was asked for in the console has no key. */
export const CONSOLE_KEY = "console";

/** Adds to today's counters, in the transaction that changes the image: of the account, and of the key it was asked with. */
export async function countUsage(
  { db, t }: Tx,
  { accountId, environment, keyId }: { accountId: string; environment: Environment; keyId: string | null },
  now: number,
  add: Partial<UsageCounts>,
): Promise<void> {
  const { usageDays: u, usageKeys: k } = t;
  const { requested = 0, completed = 0, failed = 0, creditsUsed = 0 } = add;
  const counts = { requested, completed, failed, creditsUsed };
  const scope = { accountId, environment, day: dayOf(now) };
  const plus = (c: typeof u | typeof k) => ({
    requested: sql`${c.requested} + ${requested}`,
    completed: sql`${c.completed} + ${completed}`,
    failed: sql`${c.failed} + ${failed}`,
    creditsUsed: sql`${c.creditsUsed} + ${creditsUsed}`,
  });
  await db
    .insert(u)
    .values({ ...scope, ...counts })
    .onConflictDoUpdate({ target: [u.accountId, u.environment, u.day], set: plus(u) });
  await db
    .insert(k)
    .values({ ...scope, keyId: keyId ?? CONSOLE_KEY, ...counts })
    .onConflictDoUpdate({ target: [k.accountId, k.environment, k.day, k.keyId], set: plus(k) });
}

/** The sums of each key from day `from` to day `to`, both included; the most used first. */
export async function usageByKey(
  { db, t }: Tx,
  scope: { accountId: string; environment: Environment },
  days: { from: string; to: string },
): Promise<(UsageCounts & { keyId: string })[]> {
  const k = t.usageKeys;
  const { keyId, requested, completed, failed, creditsUsed } = k;
  const rows = await db
    .select({ keyId, requested, completed, failed, creditsUsed })
    .from(k)
    .where(
      and(
        eq(k.accountId, scope.accountId),
        eq(k.environment, scope.environment),
        gte(k.day, days.from),
        lte(k.day, days.to),
      ),
    );
  const sums = new Map<string, UsageCounts & { keyId: string }>();
  for (const row of rows) {
    const sum = sums.get(row.keyId);
    if (!sum) sums.set(row.keyId, row);
    else for (const name of COUNTS) sum[name] += row[name];
  }
  return [...sums.values()].toSorted((a, b) => b.requested - a.requested);
}

type Scope = Pick<Tables["usageDays"]["$inferSelect"], "accountId" | "environment">;

const usageSums = prepared(
  "usage sums",
  (
    { db, t: { usageDays: u } },
    { accountId, environment, from, to }: Parameters<Scope & { from: string; to: string }>,
  ) => {
    const sum = (column: typeof u.requested) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number);
    return db
      .select({
        requested: sum(u.requested),
        completed: sum(u.completed),
        failed: sum(u.failed),
        creditsUsed: sum(u.creditsUsed),
      })
      .from(u)
      .where(
        and(eq(u.accountId, accountId), eq(u.environment, environment), gte(u.day, from), lte(u.day, to)),
      );
  },
);

/** The sums from day `from` to day `to`, both included. */
export async function sumUsage(
  tx: Tx,
  scope: Scope,
  days: { from: string; to: string },
): Promise<UsageCounts> {
  const { accountId, environment } = scope;
  const [row] = await usageSums(tx, { accountId, environment, from: days.from, to: days.to });
  return row ?? { requested: 0, completed: 0, failed: 0, creditsUsed: 0 };
}

export interface UsageDay extends UsageCounts {
  day: string;
}

/** The days that have counts, from day `from` to day `to`, both included, in order. */
export async function usageByDay(
  { db, t }: Tx,
  scope: { accountId: string; environment: Environment },
  days: { from: string; to: string },
): Promise<UsageDay[]> {
  const u = t.usageDays;
  return db
    .select({
      day: u.day,
      requested: u.requested,
      completed: u.completed,
      failed: u.failed,
      creditsUsed: u.creditsUsed,
    })
    .from(u)
    .where(
      and(
        eq(u.accountId, scope.accountId),
        eq(u.environment, scope.environment),
        gte(u.day, days.from),
        lte(u.day, days.to),
      ),
    )
    .orderBy(asc(u.day));
}
