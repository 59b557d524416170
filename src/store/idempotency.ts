import { and, eq, inArray, lte } from "drizzle-orm";
import type { Tables } from "../../db/schema.ts";
import type { Tx } from "./store.ts";

export type IdempotencyRecord = Tables["idempotencyRecords"]["$inferSelect"];
export type IdempotencyScope = Pick<IdempotencyRecord, "accountId" | "environment" | "key">;

export async function findRecord(
  { db, t }: Tx,
  scope: IdempotencyScope,
): Promise<IdempotencyRecord | undefined> {
  const r = t.idempotencyRecords;
  const [record] = await db
    .select()
    .from(r)
    .where(and(eq(r.accountId, scope.accountId), eq(r.environment, scope.environment), eq(r.key, scope.key)))
    .limit(1);
  return record;
}

export async function insertRecord({ db, t }: Tx, record: IdempotencyRecord): Promise<void> {
  await db.insert(t.idempotencyRecords).values(record);
}

export async function deleteRecord({ db, t }: Tx, scope: IdempotencyScope): Promise<void> {
  const r = t.idempotencyRecords;
  await db
    .delete(r)
    .where(and(eq(r.accountId, scope.accountId), eq(r.environment, scope.environment), eq(r.key, scope.key)));
}

/** Deletes up to `limit` records past their retention; returns how many. */
export async function deleteExpiredRecords({ db, t }: Tx, now: number, limit: number): Promise<number> {
  const r = t.idempotencyRecords;
  const due = db.select({ imageId: r.imageId }).from(r).where(lte(r.expiresAt, now)).limit(limit);
  const gone = await db
    .delete(r)
    .where(and(lte(r.expiresAt, now), inArray(r.imageId, due)))
    .returning({ key: r.key });
  return gone.length;
}

/** The record an image was created with, while it is kept. */
export async function findRecordOfImage(
  { db, t }: Tx,
  imageId: string,
): Promise<IdempotencyRecord | undefined> {
  const r = t.idempotencyRecords;
  const [record] = await db.select().from(r).where(eq(r.imageId, imageId)).limit(1);
  return record;
}
