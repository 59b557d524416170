import { and, asc, desc, eq, exists, getTableColumns, gte, inArray, lt, max, or, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { CreditBucket } from "../../core/credits.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { isPlanGrant } from "../credits/ledger.ts";
import { type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";

export type Account = Tables["accounts"]["$inferSelect"];

export async function insertAccount({ db, t }: Tx, account: Account): Promise<void> {
  await db.insert(t.accounts).values(account);
}

const accountById = prepared("account by id", ({ db, t }, { id }: Parameters<{ id: string }>) =>
  db.select().from(t.accounts).where(eq(t.accounts.id, id)).limit(1),
);

export async function findAccount(tx: Tx, id: string): Promise<Account | undefined> {
  const [account] = await accountById(tx, { id });
  return account;
}

/** Until this transaction ends, no other one spends, grants or counts by this account. */
export async function lockAccount({ db, t, locked }: Tx, id: string): Promise<void> {
  const a = t.accounts;
  await locked(db.select({ id: a.id }).from(a).where(eq(a.id, id)));
}

const ownerOfImage = prepared("owner of image", ({ db, t }, { imageId }: Parameters<{ imageId: string }>) =>
  db
    .select(getTableColumns(t.accounts))
    .from(t.images)
    .innerJoin(t.accounts, eq(t.accounts.id, t.images.accountId))
    .where(eq(t.images.id, imageId))
    .limit(1),
);

/** The account an image belongs to. Throws when there is no such image. */
export async function ownerOf(tx: Tx, imageId: string): Promise<Account> {
  const [account] = await ownerOfImage(tx, { imageId });
  if (!account) throw new Error(`image ${imageId} is gone`);
  return account;
}

/** All of them, oldest first. */
export async function listAccounts({ db, t }: Tx): Promise<Account[]> {
  return db.select().from(t.accounts).orderBy(asc(t.accounts.createdAt), asc(t.accounts.id));
}

/** When any account row last changed, as happens with every card; null before the first. */
export async function latestChange({ db, t }: Tx): Promise<number | null> {
  const [row] = await db.select({ at: max(t.accounts.updatedAt) }).from(t.accounts);
  return row?.at ?? null;
}

/** Newest first, after `after`; `search` matches part of the name or of a member's email, or the id. */
export async function newestAccounts(
  tx: Tx,
  { after, search = "", limit }: { after: ListPosition | undefined; search?: string; limit: number },
): Promise<Account[]> {
  const { db, t } = tx;
  const { createdAt, id } = t.accounts;
  return db
    .select()
    .from(t.accounts)
    .where(
      and(
        after && sql`(${createdAt}, ${id}) < (${after.createdAt}, ${after.id})`,
        search === "" ? undefined : matches(tx, search),
      ),
    )
    .orderBy(desc(createdAt), desc(id))
    .limit(limit);
}

function matches({ db, t }: Tx, search: string) {
  const { accounts: a, memberships: m, users: u } = t;
  const pattern = `%${search.toLowerCase().replace(/[\\%_]/g, "\\$&")}%`;
  const holds = (text: typeof a.name | typeof u.email) => sql`lower(${text}) like ${pattern} escape '\\'`;
  const members = db
    .select({ id: m.accountId })
    .from(m)
    .innerJoin(u, eq(u.id, m.userId))
    .where(and(eq(m.accountId, a.id), holds(u.email)));
  return or(holds(a.name), eq(a.id, search), exists(members));
}

export async function setAccountName(
  { db, t }: Tx,
  id: string,
  change: { name: string; now: number },
): Promise<Account | undefined> {
  const [account] = await db
    .update(t.accounts)
    .set({ name: change.name, updatedAt: change.now })
    .where(eq(t.accounts.id, id))
    .returning();
  return account;
}

/** The names of some accounts, by their id. */
export async function accountNames({ db, t }: Tx, ids: string[]): Promise<Map<string, string>> {
  const { id, name } = t.accounts;
  const rows = await db.select({ id, name }).from(t.accounts).where(inArray(id, ids));
  return new Map(rows.map((row) => [row.id, row.name]));
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

export async function setAccountPlan(
  { db, t }: Tx,
  id: string,
  change: { tier: Account["tier"]; creditLimit: number; now: number },
): Promise<Account | undefined> {
  const [account] = await db
    .update(t.accounts)
    .set({ tier: change.tier, creditLimit: change.creditLimit, updatedAt: change.now })
    .where(eq(t.accounts.id, id))
    .returning();
  return account;
}

/**
 * How long pictures are served and when personal data is deleted, in days; null means the service's default,
 * and never.
 */
export async function setAccountRetention(
  { db, t }: Tx,
  id: string,
  change: { retentionDays: number | null; forgetAfterDays: number | null; now: number },
): Promise<void> {
  const { retentionDays, forgetAfterDays, now } = change;
  await db
    .update(t.accounts)
    .set({ retentionDays, forgetAfterDays, updatedAt: now })
    .where(eq(t.accounts.id, id));
}

export async function setDevelopersDelete(
  { db, t }: Tx,
  id: string,
  { isAllowed, now }: { isAllowed: boolean; now: number },
): Promise<void> {
  await db
    .update(t.accounts)
    .set({ developersDeletePlayers: isAllowed ? 1 : 0, updatedAt: now })
    .where(eq(t.accounts.id, id));
}

export async function setAccountBudget(
  { db, t }: Tx,
  id: string,
  change: { usageBudget: number | null; usageAlerts: number[] | null; now: number },
): Promise<Account | undefined> {
  const { usageBudget, usageAlerts, now } = change;
  const [account] = await db
    .update(t.accounts)
    .set({ usageBudget, usageAlerts, updatedAt: now })
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

/**
 * A held credit: the month of the plan it belongs to, what was granted for it, and what remains to be spent.
 */
export interface HeldCredit {
  period: string;
  granted: number;
  left: number;
}

/** Moves one credit from a bucket to held; undefined when the bucket is empty. */
export async function holdCredit(
  tx: Tx,
  id: string,
  bucket: CreditBucket,
  now: number,
): Promise<HeldCredit | undefined> {
  const [held] = await oneHeld[bucket](tx, { id, now });
  return held && heldCredit(held);
}

const holdOne = (bucket: CreditBucket) =>
  prepared(`hold of a ${bucket} credit`, (tx, { id, now }: Parameters<{ id: string; now: number }>) => {
    const a = tx.t.accounts;
    const { column, change } = takeOne(tx.t, bucket);
    return tx.db
      .update(a)
      .set({ ...change, creditsHeld: sql`${a.creditsHeld} + 1`, updatedAt: sql`${now}` })
      .where(and(eq(a.id, id), gte(column, 1)))
      .returning(balance(tx));
  });
const oneHeld = { plan: holdOne("plan"), topup: holdOne("topup") };

function balance({ db, t: { accounts: a, ledgerEntries: l } }: Tx) {
  const grant = db
    .select({ amount: l.amount })
    .from(l)
    .where(isPlanGrant(l, { accountId: a.id, period: a.planPeriod }));
  return {
    period: a.planPeriod,
    plan: a.creditsPlan,
    topup: a.creditsTopup,
    granted: sql<number>`coalesce(${grant}, 0)`.mapWith(Number),
  };
}

type Balance = { period: string; plan: number; topup: number; granted: number };

function heldCredit({ period, plan, topup, granted }: Balance): HeldCredit {
  return { period, granted, left: plan + topup };
}

/** Moves credits of both buckets to held, all or none; returns what holdCredit does. */
export async function holdCredits(
  tx: Tx,
  id: string,
  { plan, topup }: Record<CreditBucket, number>,
  now: number,
): Promise<HeldCredit | undefined> {
  const a = tx.t.accounts;
  const [held] = await tx.db
    .update(a)
    .set({
      creditsPlan: sql`${a.creditsPlan} - ${plan}`,
      creditsTopup: sql`${a.creditsTopup} - ${topup}`,
      creditsHeld: sql`${a.creditsHeld} + ${plan + topup}`,
      updatedAt: now,
    })
    .where(and(eq(a.id, id), gte(a.creditsPlan, plan), gte(a.creditsTopup, topup)))
    .returning(balance(tx));
  return held && heldCredit(held);
}

/** Ends `count` holds for good: their credits were used, or expired while held. */
export async function consumeHolds({ db, t }: Tx, id: string, count: number, now: number): Promise<void> {
  const ended = await db
    .update(t.accounts)
    .set({ creditsHeld: sql`${t.accounts.creditsHeld} - ${count}`, updatedAt: now })
    .where(and(eq(t.accounts.id, id), gte(t.accounts.creditsHeld, count)))
    .returning({ id: t.accounts.id });
  if (ended.length !== 1) throw new Error(`account ${id} does not hold ${count} credits that could be ended`);
}

/**
 * Ends `count` holds by returning their credits to their bucket. False, and nothing changed, when that bucket
 * is the plan of a past month: then the credits have expired.
 */
export async function returnHolds(
  { db, t }: Tx,
  id: string,
  credits: { bucket: CreditBucket; period: string; count: number },
  now: number,
): Promise<boolean> {
  const { bucket, period, count } = credits;
  const a = t.accounts;
  const stillOpen = bucket === "plan" ? eq(a.planPeriod, period) : undefined;
  const ended = await db
    .update(a)
    .set({
      ...(bucket === "plan"
        ? { creditsPlan: sql`${a.creditsPlan} + ${count}` }
        : { creditsTopup: sql`${a.creditsTopup} + ${count}` }),
      creditsHeld: sql`${a.creditsHeld} - ${count}`,
      updatedAt: now,
    })
    .where(and(eq(a.id, id), gte(a.creditsHeld, count), stillOpen))
    .returning({ id: a.id });
  return ended.length === 1;
}

/**
 * Replaces last month's plan credits with this month's; undefined when another writer changed them meanwhile.
 */
export async function replacePlanCredits(
  { db, t }: Tx,
  account: Account,
  period: string,
  now: number,
): Promise<Account | undefined> {
  const [renewed] = await db
    .update(t.accounts)
    .set({ planPeriod: period, creditsPlan: account.creditLimit, updatedAt: now })
    .where(
      and(
        eq(t.accounts.id, account.id),
        eq(t.accounts.planPeriod, account.planPeriod),
        // The ledger entry states how many credits expire, so the row must hold exactly that many.
        eq(t.accounts.creditsPlan, account.creditsPlan),
      ),
    )
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

function takeOne(t: Tables, bucket: CreditBucket) {
  const { creditsPlan, creditsTopup } = t.accounts;
  return bucket === "plan"
    ? { column: creditsPlan, change: { creditsPlan: sql`${creditsPlan} - 1` } }
    : { column: creditsTopup, change: { creditsTopup: sql`${creditsTopup} - 1` } };
}
