import { and, asc, desc, eq, exists, inArray, isNull, lte, or, sql } from "drizzle-orm";
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
export async function sealedBucketSecrets({ db, t }: Tx): Promise<string[]> {
  const rows = await db.select({ secret: t.accountBuckets.secretAccessKey }).from(t.accountBuckets);
  return rows.map(({ secret }) => secret);
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
export type ExportEnd = Partial<
  Pick<ImageExport, "state" | "attempts" | "nextAttemptAt" | "error" | "updatedAt">
>;

/**
 * Ends a claim. False when it was lost, such as to the deletion of the card, which then need not wait any
 * longer for what was under way.
 */
export async function endExport(
  { db, t }: Tx,
  { imageId, token, now }: { imageId: string; token: string; now: number },
  end: ExportEnd,
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

/** Has the objects of a deleted card removed from `at` on, whoever is putting them there. */
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
export async function releaseExports({ db, t }: Tx, now: number, limit: number): Promise<number> {
  const e = t.imageExports;
  const lost = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(sql`${e.leaseExpiresAt} is not null`, lte(e.leaseExpiresAt, now)))
    .limit(limit);
  const released = await db
    .update(e)
    .set({ leaseToken: null, leaseExpiresAt: null, nextAttemptAt: now })
    .where(inArray(e.imageId, lost))
    .returning({ id: e.imageId });
  return released.length;
}

export async function hasLostExport({ db, t }: Tx, now: number): Promise<boolean> {
  const e = t.imageExports;
  const rows = await db
    .select({ id: e.imageId })
    .from(e)
    .where(and(sql`${e.leaseExpiresAt} is not null`, lte(e.leaseExpiresAt, now)))
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

/** How many wait for an attempt, up to `limit`. */
export async function countWaiting({ db, t }: Tx, accountId: string, limit: number): Promise<number> {
  const e = t.imageExports;
  const rows = db
    .select({ id: e.imageId })
    .from(e)
    .where(and(eq(e.accountId, accountId), sql`${e.nextAttemptAt} is not null`))
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

/** Drops what has not been put into a bucket that is no longer named. Returns the images. */
export async function dropUnexported({ db, t }: Tx, accountId: string, limit: number): Promise<string[]> {
  const e = t.imageExports;
  const waiting = db
    .select({ id: e.imageId })
    .from(e)
    .where(
      and(eq(e.accountId, accountId), or(sql`${e.nextAttemptAt} is not null`, sql`${e.state} = 'failed'`)),
    )
    .limit(limit);
  const dropped = await db.delete(e).where(inArray(e.imageId, waiting)).returning({ id: e.imageId });
  const ids = dropped.map(({ id }) => id);
  if (ids.length > 0) await db.update(t.images).set({ exported: null }).where(inArray(t.images.id, ids));
  return ids;
}
