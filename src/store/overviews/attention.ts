import { and, asc, desc, eq, getTableColumns, gte, isNotNull, lte, or, sql } from "drizzle-orm";
import { daysOfMonth } from "../../core/time.ts";
import type { Account } from "../people/accounts.ts";
import type { Tx } from "../store.ts";
import type { WebhookEndpoint } from "../webhooks/webhooks.ts";

/** Active accounts with at most this fraction of the month's plan left, the emptiest first. */
export async function accountsRunningLow({ db, t }: Tx, part: number, limit: number): Promise<Account[]> {
  const a = t.accounts;
  const left = sql`${a.creditsPlan} + ${a.creditsTopup}`;
  return db
    .select()
    .from(a)
    .where(
      and(eq(a.status, "active"), sql`${a.creditLimit} > 0`, sql`(${left}) * ${part} <= ${a.creditLimit}`),
    )
    .orderBy(asc(left), asc(a.id))
    .limit(limit);
}

/**
 * Active accounts that used their budget up in a month, such as 2026-11, with the credits used; the most used
 * first.
 */
export async function accountsOverBudget(
  { db, t }: Tx,
  month: string,
  limit: number,
): Promise<{ account: Account; used: number }[]> {
  const { accounts: a, usageDays: u } = t;
  const { from, to } = daysOfMonth(month);
  const used = sql<number>`sum(${u.creditsUsed})`.mapWith(Number);
  return db
    .select({ account: getTableColumns(a), used })
    .from(a)
    .innerJoin(u, and(eq(u.accountId, a.id), eq(u.environment, "live"), gte(u.day, from), lte(u.day, to)))
    .where(and(eq(a.status, "active"), isNotNull(a.usageBudget)))
    .groupBy(a.id)
    .having(sql`sum(${u.creditsUsed}) >= ${a.usageBudget}`)
    .orderBy(desc(used), asc(a.id))
    .limit(limit);
}

/** Endpoints that were disabled since `disabledSince`, or have failed since before `failingSince`. */
export async function endpointsInTrouble(
  { db, t }: Tx,
  query: { failingSince: number; disabledSince: number; limit: number },
): Promise<WebhookEndpoint[]> {
  const e = t.webhookEndpoints;
  return db
    .select()
    .from(e)
    .where(
      or(
        and(eq(e.state, "enabled"), isNotNull(e.failingSince), lte(e.failingSince, query.failingSince)),
        and(eq(e.state, "disabled"), sql`${e.disabledAt} >= ${query.disabledSince}`),
      ),
    )
    .orderBy(asc(e.createdAt), asc(e.id))
    .limit(query.limit);
}

/**
 * The outcome of all accounts' live images on one UTC day, such as 2026-11-21; canceled ones did not fail.
 */
export async function dayOf(
  { db, t }: Tx,
  day: string,
): Promise<{ completed: number; failed: number; accounts: number }> {
  const u = t.usageDays;
  const sum = (column: typeof u.completed) => sql<number>`coalesce(sum(${column}), 0)`.mapWith(Number);
  const [row] = await db
    .select({
      completed: sum(u.completed),
      failed: sql<number>`coalesce(sum(${u.failed} - ${u.canceled}), 0)`.mapWith(Number),
      accounts: sql<number>`count(*)`.mapWith(Number),
    })
    .from(u)
    .where(and(eq(u.day, day), eq(u.environment, "live")));
  return row ?? { completed: 0, failed: 0, accounts: 0 };
}

/** Whether anybody has been sent a mail about an occasion. */
export async function wasWritten({ db, t }: Tx, occasion: string): Promise<boolean> {
  const m = t.mails;
  return (await db.select({ id: m.id }).from(m).where(eq(m.occasion, occasion)).limit(1)).length > 0;
}
