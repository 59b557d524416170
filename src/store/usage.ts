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

/** Adds to today's counters, in the transaction that changes the image. */
export async function countUsage(
  { db, t }: Tx,
  scope: { accountId: string; environment: Environment },
  now: number,
  add: Partial<UsageCounts>,
): Promise<void> {
  const u = t.usageDays;
  const { requested = 0, completed = 0, failed = 0, creditsUsed = 0 } = add;
  await db
    .insert(u)
    .values({ ...scope, day: dayOf(now), requested, completed, failed, creditsUsed })
    .onConflictDoUpdate({
      target: [u.accountId, u.environment, u.day],
      set: {
        requested: sql`${u.requested} + ${requested}`,
        completed: sql`${u.completed} + ${completed}`,
        failed: sql`${u.failed} + ${failed}`,
        creditsUsed: sql`${u.creditsUsed} + ${creditsUsed}`,
      },
    });
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
