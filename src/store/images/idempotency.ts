import { and, eq, inArray, like, lte } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { everyColumn, type Parameters, prepared } from "../engine/prepared.ts";
import type { Tx } from "../store.ts";

export type IdempotencyRecord = Tables["idempotencyRecords"]["$inferSelect"];
export type IdempotencyScope = Pick<IdempotencyRecord, "accountId" | "environment" | "key">;

function inScope(r: Tables["idempotencyRecords"], scope: Parameters<IdempotencyScope>) {
  return and(eq(r.accountId, scope.accountId), eq(r.environment, scope.environment), eq(r.key, scope.key));
}

const recordOf = prepared("idempotency record", ({ db, t }, scope: Parameters<IdempotencyScope>) =>
  db.select().from(t.idempotencyRecords).where(inScope(t.idempotencyRecords, scope)).limit(1),
);

export async function findRecord(tx: Tx, scope: IdempotencyScope): Promise<IdempotencyRecord | undefined> {
  const [record] = await recordOf(tx, scope);
  return record;
}

const recordInsert = prepared("idempotency insert", ({ db, t }, record: Parameters<IdempotencyRecord>) =>
  db.insert(t.idempotencyRecords).values(everyColumn(t.idempotencyRecords, record)),
);

export async function insertRecord(tx: Tx, record: IdempotencyRecord): Promise<void> {
  await recordInsert(tx, record);
}

const recordDelete = prepared(
  "idempotency delete",
  ({ db, t }, of: Parameters<IdempotencyScope & { imageId: string }>) =>
    db
      .delete(t.idempotencyRecords)
      .where(and(inScope(t.idempotencyRecords, of), eq(t.idempotencyRecords.imageId, of.imageId))),
);

/**
 * Frees a key that answers with this image; one that another process has since had answer with another stays.
 */
export async function deleteRecord(tx: Tx, of: IdempotencyScope & { imageId: string }): Promise<void> {
  await recordDelete(tx, of);
}

/** How the keys of signed addresses begin. */
export const ON_DEMAND_KEY = "on demand ";

/** Forgets that a signed address had this image: opened again, it makes a card anew. */
export async function freeAddress({ db, t }: Tx, imageId: string): Promise<void> {
  const r = t.idempotencyRecords;
  await db.delete(r).where(and(eq(r.imageId, imageId), like(r.key, `${ON_DEMAND_KEY}%`)));
}

const expiredDelete = prepared(
  "idempotency delete expired",
  ({ db, t }, at: Parameters<IdempotencyScope & { now: number }>) =>
    db
      .delete(t.idempotencyRecords)
      .where(and(inScope(t.idempotencyRecords, at), lte(t.idempotencyRecords.expiresAt, at.now))),
);

/**
 * Frees an expired key. One in force stays: on Postgres another process may have committed it since this
 * transaction looked for it.
 */
export async function freeExpiredKey(tx: Tx, scope: IdempotencyScope, now: number): Promise<void> {
  await expiredDelete(tx, { ...scope, now });
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

/** The record an image was created with, as long as it is retained. */
export async function findRecordOfImage(
  { db, t }: Tx,
  imageId: string,
): Promise<IdempotencyRecord | undefined> {
  const r = t.idempotencyRecords;
  const [record] = await db.select().from(r).where(eq(r.imageId, imageId)).limit(1);
  return record;
}
