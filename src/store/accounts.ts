import { and, asc, eq, gte, lt, sql } from "drizzle-orm";
import type { Tables } from "../../db/schema.ts";
import type { Tx } from "./store.ts";

export type Account = Tables["accounts"]["$inferSelect"];
export type Bucket = "plan" | "topup";

export async function insertAccount({ db, t }: Tx, account: Account): Promise<void> {
  await db.insert(t.accounts).values(account);
}

export async function findAccount({ db, t }: Tx, id: string): Promise<Account | undefined> {
  const [account] = await db.select().from(t.accounts).where(eq(t.accounts.id, id)).limit(1);
  return account;
}

export async function listAccounts({ db, t }: Tx): Promise<Account[]> {
  return db.select().from(t.accounts).orderBy(asc(t.accounts.createdAt), asc(t.accounts.id));
}

export async function setAccountStatus(
  { db, t }: Tx,
  id: string,
  change: { status: Account["status"]; reason: string | null; now: number },
): Promise<Account | undefined> {
  const [account] = await db
    .update(t.accounts)
    .set({ status: change.status, suspendedReason: change.reason, updatedAt: change.now })
    .where(eq(t.accounts.id, id))
    .returning();
  return account;
}

/** Accounts whose plan credits are of a month before `period`. */
export async function accountsToRenew({ db, t }: Tx, period: string, limit: number): Promise<string[]> {
  const rows = await db
    .select({ id: t.accounts.id })
    .from(t.accounts)
    .where(lt(t.accounts.planPeriod, period))
    .orderBy(asc(t.accounts.planPeriod))
    .limit(limit);
  return rows.map((row) => row.id);
}

/** Moves one credit from a bucket to held; false when the bucket is empty. */
export async function holdCredit({ db, t }: Tx, id: string, bucket: Bucket, now: number): Promise<boolean> {
  const { column, minusOne } = bucketChange(t, bucket);
  const held = await db
    .update(t.accounts)
    .set({ ...minusOne, creditsHeld: sql`${t.accounts.creditsHeld} + 1`, updatedAt: now })
    .where(and(eq(t.accounts.id, id), gte(column, 1)))
    .returning({ id: t.accounts.id });
  return held.length === 1;
}

/** Ends a hold. `returnTo` gives the credit back to a bucket; null consumes it. */
export async function endHold(
  { db, t }: Tx,
  id: string,
  returnTo: Bucket | null,
  now: number,
): Promise<void> {
  const ended = await db
    .update(t.accounts)
    .set({
      ...(returnTo === null ? {} : bucketChange(t, returnTo).plusOne),
      creditsHeld: sql`${t.accounts.creditsHeld} - 1`,
      updatedAt: now,
    })
    .where(and(eq(t.accounts.id, id), gte(t.accounts.creditsHeld, 1)))
    .returning({ id: t.accounts.id });
  if (ended.length !== 1) throw new Error(`account ${id} holds no credit that could be ended`);
}

/** Replaces last month's plan credits by this month's; undefined when another writer already did. */
export async function replacePlanCredits(
  { db, t }: Tx,
  account: Account,
  period: string,
  now: number,
): Promise<Account | undefined> {
  const [renewed] = await db
    .update(t.accounts)
    .set({ planPeriod: period, creditsPlan: account.creditLimit, updatedAt: now })
    .where(and(eq(t.accounts.id, account.id), eq(t.accounts.planPeriod, account.planPeriod)))
    .returning();
  return renewed;
}

export async function addTopup(
  { db, t }: Tx,
  id: string,
  amount: number,
  now: number,
): Promise<Account | undefined> {
  const [account] = await db
    .update(t.accounts)
    .set({ creditsTopup: sql`${t.accounts.creditsTopup} + ${amount}`, updatedAt: now })
    .where(eq(t.accounts.id, id))
    .returning();
  return account;
}

function bucketChange(t: Tables, bucket: Bucket) {
  const { creditsPlan, creditsTopup } = t.accounts;
  return bucket === "plan"
    ? {
        column: creditsPlan,
        minusOne: { creditsPlan: sql`${creditsPlan} - 1` },
        plusOne: { creditsPlan: sql`${creditsPlan} + 1` },
      }
    : {
        column: creditsTopup,
        minusOne: { creditsTopup: sql`${creditsTopup} - 1` },
        plusOne: { creditsTopup: sql`${creditsTopup} + 1` },
      };
}
