import { and, asc, desc, eq, gte, lte, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import type { FailureReason } from "../../core/failure-reasons.ts";
import { dayOf } from "../../core/time.ts";
import { everyColumn, type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";

export interface UsageCounts {
  requested: number;
  completed: number;
  /** All that failed, canceled ones among them. */
  failed: number;
  canceled: number;
  creditsUsed: number;
}

const COUNTS = ["requested", "completed", "failed", "canceled", "creditsUsed"] as const;

const NONE: UsageCounts = { requested: 0, completed: 0, failed: 0, canceled: 0, creditsUsed: 0 };

/** What was asked for in the console has no key. */
const CONSOLE_KEY = "console";

type Counted = UsageCounts & Scope & { day: string };

const plus = (c: Tables["usageDays"] | Tables["usageKeys"], add: Parameters<UsageCounts>) => ({
  requested: sql`${c.requested} + ${add.requested}`,
  completed: sql`${c.completed} + ${add.completed}`,
  failed: sql`${c.failed} + ${add.failed}`,
  canceled: sql`${c.canceled} + ${add.canceled}`,
  creditsUsed: sql`${c.creditsUsed} + ${add.creditsUsed}`,
});

const addToDay = prepared("usage of a day", ({ db, t: { usageDays: u } }, add: Parameters<Counted>) =>
  db
    .insert(u)
    .values(everyColumn(u, add))
    .onConflictDoUpdate({ target: [u.accountId, u.environment, u.day], set: plus(u, add) }),
);

const addToKey = prepared(
  "usage of a key",
  ({ db, t: { usageKeys: k } }, add: Parameters<Counted & { keyId: string }>) =>
    db
      .insert(k)
      .values(everyColumn(k, add))
      .onConflictDoUpdate({ target: [k.accountId, k.environment, k.day, k.keyId], set: plus(k, add) }),
);

/**
 * Adds to today's counters, in the transaction that changes the image: of the account, and of the key it was
 * asked with.
 */
export async function countUsage(
  tx: Tx,
  { accountId, environment, keyId }: Scope & { keyId: string | null },
  now: number,
  add: Partial<UsageCounts>,
): Promise<void> {
  const counts = { ...NONE, ...add };
  const counted = { accountId, environment, day: dayOf(now), ...counts };
  await addToDay(tx, counted);
  await addToKey(tx, { ...counted, keyId: keyId ?? CONSOLE_KEY });
}

const addToReason = prepared(
  "usage of a failure reason",
  ({ db, t: { usageFailures: f } }, add: Parameters<Tables["usageFailures"]["$inferSelect"]>) =>
    db
      .insert(f)
      .values(everyColumn(f, add))
      .onConflictDoUpdate({
        target: [f.accountId, f.environment, f.day, f.reason],
        set: { failed: sql`${f.failed} + ${add.failed}` },
      }),
);

/** Adds to today's counters of why images failed, in the transaction that fails them. */
export function countFailures(
  tx: Tx,
  { accountId, environment }: Scope,
  now: number,
  add: { reason: FailureReason; failed: number },
): Promise<unknown> {
  return addToReason(tx, { accountId, environment, day: dayOf(now), ...add });
}

/**
 * How many images failed for each reason from day `from` to day `to`, both included; the most frequent first.
 */
export async function failuresByReason(
  { db, t }: Tx,
  scope: Scope,
  days: { from: string; to: string },
): Promise<{ reason: string; failed: number }[]> {
  const f = t.usageFailures;
  const failed = sql<number>`sum(${f.failed})`.mapWith(Number);
  return db
    .select({ reason: f.reason, failed })
    .from(f)
    .where(
      and(
        eq(f.accountId, scope.accountId),
        eq(f.environment, scope.environment),
        gte(f.day, days.from),
        lte(f.day, days.to),
      ),
    )
    .groupBy(f.reason)
    .orderBy(desc(failed), asc(f.reason));
}

/** The sums of each key from day `from` to day `to`, both included; the most used first. */
export async function usageByKey(
  { db, t }: Tx,
  scope: { accountId: string; environment: Environment },
  days: { from: string; to: string },
): Promise<(UsageCounts & { keyId: string })[]> {
  const k = t.usageKeys;
  const { keyId, requested, completed, failed, canceled, creditsUsed } = k;
  const rows = await db
    .select({ keyId, requested, completed, failed, canceled, creditsUsed })
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
    const sum = (column: typeof u.requested | typeof u.canceled) =>
      sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number);
    return db
      .select({
        requested: sum(u.requested),
        completed: sum(u.completed),
        failed: sum(u.failed),
        canceled: sum(u.canceled),
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
  return row ?? NONE;
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
      canceled: u.canceled,
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
