import { and, asc, desc, eq, exists, inArray, isNull, lte, notExists, or, type SQL, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { ExportNote } from "../../core/export-key.ts";
import type { Tx } from "../store.ts";

export type AccountBucket = Tables["accountBuckets"]["$inferSelect"];
export type ImageExport = Tables["imageExports"]["$inferSelect"];

export async function findBucket({ db, t }: Tx, accountId: string): Promise<AccountBucket | undefined> {
  const [bucket] = await db
    .select()
    .from(t.accountBuckets)
    .where(eq(t.accountBuckets.accountId, accountId))
    .limit(1);
  return bucket;
}

/** The secrets of all accounts' buckets, as they are sealed. */
export async function sealedBucketSecrets({
  db,
  t,
}: Tx): Promise<Pick<AccountBucket, "accountId" | "secretAccessKey">[]> {
  const { accountId, secretAccessKey } = t.accountBuckets;
  return db.select({ accountId, secretAccessKey }).from(t.accountBuckets).orderBy(asc(accountId));
}

/** Names an account's bucket, in place of any before. */
export async function putBucket({ db, t }: Tx, bucket: AccountBucket): Promise<void> {
  const { accountId: target } = t.accountBuckets;
  await db.insert(t.accountBuckets).values(bucket).onConflictDoUpdate({ target, set: bucket });
}

/** Returns whether there was one. */
export async function deleteBucket({ db, t }: Tx, accountId: string): Promise<boolean> {
  const { accountBuckets: b } = t;
  const gone = await db.delete(b).where(eq(b.accountId, accountId)).returning({ id: b.accountId });
  return gone.length > 0;
}

export async function changeHealth(
  { db, t }: Tx,
  accountId: string,
  health: Pick<AccountBucket, "failingSince" | "pausedUntil" | "lastError">,
): Promise<void> {
  await db.update(t.accountBuckets).set(health).where(eq(t.accountBuckets.accountId, accountId));
}

/** An image's export, and what its views say of it. */
export async function putExport(tx: Tx, row: ImageExport, note: ExportNote): Promise<void> {
  await tx.db.insert(tx.t.imageExports).values(row);
  await noteExport(tx, row.imageId, note);
}

export async function noteExport({ db, t }: Tx, imageId: string, note: ExportNote | null): Promise<void> {
  const exported = note === null ? null : JSON.stringify(note);
  await db.update(t.images).set({ exported }).where(eq(t.images.id, imageId));
}

export async function findExport({ db, t }: Tx, imageId: string): Promise<ImageExport | undefined> {
  const [row] = await db.select().from(t.imageExports).where(eq(t.imageExports.imageId, imageId)).limit(1);
  return row;
}

/** See findExport: until this transaction ends, nobody else claims it or ends a claim of it. */
export async function lockExport({ db, t, locked }: Tx, imageId: string): Promise<ImageExport | undefined> {
  const e = t.imageExports;
  const [row] = await locked(db.select().from(e).where(eq(e.imageId, imageId)).limit(1));
  return row;
}

/** The buckets for which something is due, and that are not paused. One index probe for each. */
export async function dueBuckets({ db, t }: Tx, now: number): Promise<AccountBucket[]> {
  const { accountBuckets: b, imageExports: e } = t;
  const due = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(eq(e.accountId, b.accountId), sql`${e.nextAttemptAt} is not null`, lte(e.nextAttemptAt, now)));
  return db
    .select()
    .from(b)
    .where(and(or(isNull(b.pausedUntil), lte(b.pausedUntil, now)), exists(due)));
}

/**
 * Claims the longest due export of an account for one attempt. What is to be put into `place` counts as being
 * there from now on, since a process that is killed says no more.
 */
export async function claimExport(
  { db, t }: Tx,
  claim: { accountId: string; token: string; now: number; leaseExpiresAt: number; place: string },
): Promise<ImageExport | undefined> {
  const e = t.imageExports;
  const isDue = and(sql`${e.nextAttemptAt} is not null`, lte(e.nextAttemptAt, claim.now));
  const next = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(eq(e.accountId, claim.accountId), isDue))
    .orderBy(asc(e.nextAttemptAt))
    .limit(1);
  const [row] = await db
    .update(e)
    .set({
      nextAttemptAt: null,
      leaseToken: claim.token,
      leaseExpiresAt: claim.leaseExpiresAt,
      place: sql`case when ${e.state} = 'removing' then ${e.place} else ${claim.place} end`,
    })
    .where(and(inArray(e.imageId, next), isDue))
    .returning();
  return row;
}

/** How a claim ends. */
export type ExportOutcome = Partial<
  Pick<ImageExport, "state" | "attempts" | "nextAttemptAt" | "error" | "updatedAt">
>;

/**
 * Ends a claim. False when it was lost, such as to the deletion of the card, which then need not wait any
 * longer for what was under way.
 */
export async function endExport(
  { db, t }: Tx,
  { imageId, token, now }: { imageId: string; token: string; now: number },
  end: ExportOutcome,
): Promise<boolean> {
  const e = t.imageExports;
  const [ended] = await db
    .update(e)
    .set({ ...end, leaseToken: null, leaseExpiresAt: null })
    .where(and(eq(e.imageId, imageId), eq(e.leaseToken, token)))
    .returning({ id: e.imageId });
  if (ended) return true;
  await db
    .update(e)
    .set({ nextAttemptAt: now })
    .where(and(eq(e.imageId, imageId), eq(e.state, "removing"), isNull(e.leaseToken)));
  return false;
}

export async function deleteExport({ db, t }: Tx, imageId: string): Promise<void> {
  await db.delete(t.imageExports).where(eq(t.imageExports.imageId, imageId));
}

/** Has the objects of a deleted card removed from `at` on, also while they are being put there. */
export async function startRemoval({ db, t }: Tx, imageId: string, at: number): Promise<void> {
  await db
    .update(t.imageExports)
    .set({
      state: "removing",
      attempts: 0,
      nextAttemptAt: at,
      leaseToken: null,
      leaseExpiresAt: null,
      error: null,
    })
    .where(eq(t.imageExports.imageId, imageId));
}

/** Makes claims due again whose lease has expired. Returns how many. */
export async function releaseExports(tx: Tx, now: number, limit: number): Promise<number> {
  const e = tx.t.imageExports;
  const lost = tx.db
    .select({ id: e.imageId })
    .from(e)
    .where(and(isClaimed(tx), lte(e.leaseExpiresAt, now)))
    .limit(limit);
  return endClaims(tx, now, inArray(e.imageId, lost));
}

/** Makes due again what was claimed with these tokens, whose processes have ended. Returns how many. */
export async function releaseExportsOf(tx: Tx, tokens: readonly string[], now: number): Promise<number> {
  let count = 0;
  for (let at = 0; at < tokens.length; at += TOKENS_AT_ONCE) {
    const some = tokens.slice(at, at + TOKENS_AT_ONCE);
    count += await endClaims(tx, now, and(isClaimed(tx), inArray(tx.t.imageExports.leaseToken, some)));
  }
  return count;
}

/** Values of one statement: SQLite accepts 32,766 in all. */
const TOKENS_AT_ONCE = 500;

/** Written out, as the index of the few is. */
const isClaimed = ({ t }: Tx) => sql`${t.imageExports.leaseExpiresAt} is not null`;

async function endClaims({ db, t }: Tx, now: number, which: SQL | undefined): Promise<number> {
  const e = t.imageExports;
  const ended = await db
    .update(e)
    .set({ leaseToken: null, leaseExpiresAt: null, nextAttemptAt: now })
    .where(which)
    .returning({ id: e.imageId });
  return ended.length;
}

export async function hasLostExport(tx: Tx, now: number): Promise<boolean> {
  const e = tx.t.imageExports;
  const rows = await tx.db
    .select({ id: e.imageId })
    .from(e)
    .where(and(isClaimed(tx), lte(e.leaseExpiresAt, now)))
    .limit(1);
  return rows.length > 0;
}

/** Those given up, the latest first. */
export async function failedExports({ db, t }: Tx, accountId: string, limit: number): Promise<ImageExport[]> {
  const e = t.imageExports;
  return db
    .select()
    .from(e)
    .where(and(eq(e.accountId, accountId), sql`${e.state} = 'failed'`))
    .orderBy(desc(e.updatedAt), desc(e.imageId))
    .limit(limit);
}

/** How many cards wait to be put there, up to `limit`; what is to be removed is none of them. */
export async function countWaiting({ db, t }: Tx, accountId: string, limit: number): Promise<number> {
  const e = t.imageExports;
  const rows = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(eq(e.accountId, accountId), eq(e.state, "pending"), sql`${e.nextAttemptAt} is not null`))
    .limit(limit)
    .as("waiting");
  const [row] = await db.select({ n: sql<number>`count(*)`.mapWith(Number) }).from(rows);
  return row?.n ?? 0;
}

/** Begins the given failed exports anew. */
export async function restartExports(
  { db, t }: Tx,
  { accountId, imageIds, now }: { accountId: string; imageIds: string[]; now: number },
): Promise<string[]> {
  const e = t.imageExports;
  const restarted = await db
    .update(e)
    .set({ state: "pending", attempts: 0, nextAttemptAt: now, error: null, updatedAt: now })
    .where(and(eq(e.accountId, accountId), inArray(e.imageId, imageIds), sql`${e.state} = 'failed'`))
    .returning({ id: e.imageId });
  return restarted.map(({ id }) => id);
}

/** Up to `limit` accounts that name no bucket and have something that waits for one, or was given up. */
export async function accountsWithoutBucket({ db, t }: Tx, limit: number): Promise<string[]> {
  const { accounts: a, accountBuckets: b, imageExports: e } = t;
  const bucket = db.select({ id: b.accountId }).from(b).where(eq(b.accountId, a.id));
  const waiting = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(eq(e.accountId, a.id), sql`${e.nextAttemptAt} is not null`));
  const failed = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(eq(e.accountId, a.id), sql`${e.state} = 'failed'`));
  const found = await db
    .select({ id: a.id })
    .from(a)
    .where(and(notExists(bucket), or(exists(waiting), exists(failed))))
    .limit(limit);
  return found.map(({ id }) => id);
}

/** Drops what has not been put into a bucket that is no longer named. Returns the images. */
export async function dropUnexported({ db, t }: Tx, accountId: string, limit: number): Promise<string[]> {
  const { accountBuckets: b, imageExports: e } = t;
  // In the same statement, so that what is recorded for a bucket named meanwhile stays.
  const bucket = db.select({ id: b.accountId }).from(b).where(eq(b.accountId, accountId));
  const isUnexported = or(sql`${e.nextAttemptAt} is not null`, sql`${e.state} = 'failed'`);
  const waiting = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(eq(e.accountId, accountId), isUnexported, notExists(bucket)))
    .limit(limit);
  const dropped = await db.delete(e).where(inArray(e.imageId, waiting)).returning({ id: e.imageId });
  const ids = dropped.map(({ id }) => id);
  if (ids.length > 0) await db.update(t.images).set({ exported: null }).where(inArray(t.images.id, ids));
  return ids;
}
