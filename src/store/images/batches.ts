import {
  and,
  asc,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNull,
  lte,
  not,
  notInArray,
  type SQL,
  sql,
} from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import type { FailureReason } from "../../core/failure-reasons.ts";
import type { ImageState } from "../../core/image-state.ts";
import { MAX_RETRY_PAUSE_MS } from "../../core/limits.ts";
import type { ListPosition } from "../../core/list-position.ts";
import type { Tx } from "../store.ts";
import { insertMetadata } from "./image-metadata.ts";
import type { Image } from "./images.ts";

export type Batch = Tables["batches"]["$inferSelect"];

interface Scope {
  accountId: string;
  environment: Environment;
}

/** Rows per statement: SQLite accepts 32,766 bound values in all. */
const ROWS_AT_ONCE = 200;

function* chunks<T>(rows: T[]): Generator<T[]> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) yield rows.slice(at, at + ROWS_AT_ONCE);
}

/** Writes a batch and its images in order. */
export async function insertBatch({ db, t }: Tx, batch: Batch, imageIds: string[]): Promise<void> {
  await db.insert(t.batches).values(batch);
  const cards = imageIds.map((imageId, position) => ({ batchId: batch.id, position, imageId }));
  for (const rows of chunks(cards)) await db.insert(t.batchCards).values(rows);
}

export async function insertImages(tx: Tx, images: Image[]): Promise<void> {
  for (const rows of chunks(images)) await tx.db.insert(tx.t.images).values(rows);
  await insertMetadata(tx, images);
}

export async function insertRecords(
  { db, t }: Tx,
  records: Tables["idempotencyRecords"]["$inferInsert"][],
): Promise<void> {
  for (const rows of chunks(records)) await db.insert(t.idempotencyRecords).values(rows);
}

export async function findBatch({ db, t }: Tx, scope: Scope & { id: string }): Promise<Batch | undefined> {
  const [batch] = await db.select().from(t.batches).where(eq(t.batches.id, scope.id)).limit(1);
  return batch?.accountId === scope.accountId && batch.environment === scope.environment ? batch : undefined;
}

/** Newest first, after `after`. */
export async function listBatches(
  { db, t }: Tx,
  query: Scope & { after?: ListPosition | undefined; limit: number },
): Promise<Batch[]> {
  const b = t.batches;
  const { after } = query;
  return db
    .select()
    .from(b)
    .where(
      and(
        eq(b.accountId, query.accountId),
        eq(b.environment, query.environment),
        after ? sql`(${b.createdAt}, ${b.id}) < (${after.createdAt}, ${after.id})` : undefined,
      ),
    )
    .orderBy(desc(b.createdAt), desc(b.id))
    .limit(query.limit);
}

/** The images of a batch in their order. */
export async function imagesOfBatch({ db, t }: Tx, batchId: string): Promise<Image[]> {
  const { batchCards: c, images: i } = t;
  const rows = await db
    .select({ image: i })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(and(eq(c.batchId, batchId), gte(c.position, 0)))
    .orderBy(asc(c.position));
  return rows.map(({ image }) => image);
}

/**
 * The batch that each of these images was first requested in, by the image's id; single ones are left out.
 */
export async function firstBatches({ db, t }: Tx, imageIds: string[]): Promise<Map<string, string>> {
  const { batches: b, batchCards: c } = t;
  const cards = await db
    .select({ imageId: c.imageId, batchId: c.batchId })
    .from(c)
    .innerJoin(b, eq(b.id, c.batchId))
    .where(inArray(c.imageId, imageIds))
    .orderBy(desc(b.createdAt), desc(b.id));
  // The first one comes last, and stays.
  return new Map(cards.map(({ imageId, batchId }) => [imageId, batchId]));
}

/** Up to `limit` batches that have this image among their cards, newest first. */
export async function batchesWith({ db, t }: Tx, imageId: string, limit: number): Promise<Batch[]> {
  const { batches: b, batchCards: c } = t;
  const rows = await db
    .select({ batch: b })
    .from(c)
    .innerJoin(b, eq(b.id, c.batchId))
    .where(eq(c.imageId, imageId))
    .orderBy(desc(b.createdAt), desc(b.id))
    .limit(limit);
  return rows.map(({ batch }) => batch);
}

/** A page of a batch's images in order: from position `offset` on, those in one of these states. */
export async function batchImages(
  { db, t }: Tx,
  query: {
    batchId: string;
    states: readonly ImageState[];
    /** Only those that were canceled, or were not. */
    canceled?: boolean | undefined;
    /** With what is to replace a card, or failed to. */
    changes?: boolean | undefined;
    offset: number;
    limit: number;
  },
): Promise<Image[]> {
  const { batchCards: c, images: i } = t;
  const { canceled } = query;
  const reason =
    canceled === undefined
      ? undefined
      : sql`coalesce(${i.failureReason}, '') ${sql.raw(canceled ? "=" : "<>")} 'canceled'`;
  const rows = await db
    .select({ image: i })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(
      and(
        eq(c.batchId, query.batchId),
        inArray(i.state, [...query.states]),
        reason,
        query.changes ? undefined : gte(c.position, 0),
      ),
    )
    .orderBy(asc(c.position))
    .limit(query.limit)
    .offset(query.offset);
  return rows.map(({ image }) => image);
}

/** The number of unfinished cards in an account's batches. */
export async function openBatchCards({ db, t }: Tx, scope: Scope): Promise<number> {
  const i = t.images;
  const [row] = await db
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(i)
    .where(
      and(
        eq(i.accountId, scope.accountId),
        eq(i.environment, scope.environment),
        eq(i.lane, 1),
        isNull(i.completedAt),
      ),
    );
  return row?.n ?? 0;
}

/** Marks a batch as canceled; undefined when it has ended or is already canceled. */
export async function cancelBatchRow({ db, t }: Tx, id: string, now: number): Promise<Batch | undefined> {
  const b = t.batches;
  const [batch] = await db
    .update(b)
    .set({ canceledAt: now, updatedAt: now })
    .where(and(eq(b.id, id), isNull(b.completedAt), isNull(b.canceledAt)))
    .returning();
  return batch;
}

/** Canceled batches with images that have not ended yet. */
export async function canceledBatches({ db, t }: Tx, limit: number): Promise<Batch[]> {
  const b = t.batches;
  return db
    .select()
    .from(b)
    .where(sql`${b.canceledAt} is not null and ${b.completedAt} is null`)
    .limit(limit);
}

/** Whether another batch than this one still wants the image of the row. */
function wantedElsewhere({ t }: Tx, batchId: string): SQL {
  const { batches: b, batchCards: c, images: i } = t;
  return sql`exists (select 1 from ${c} as other join ${b} as wanting on wanting.id = other.batch_id
    where other.image_id = ${i.id} and wanting.id <> ${batchId} and wanting.canceled_at is null)`;
}

/** Up to `limit` images of a batch that are not being rendered yet and that no other batch still wants. */
export async function unbegunOfBatch(tx: Tx, batchId: string, limit: number): Promise<Image[]> {
  const { db, t } = tx;
  const { batchCards: c, images: i } = t;
  const wanted = wantedElsewhere(tx, batchId);
  const rows = await db
    .select({ image: i })
    .from(c)
    .innerJoin(i, eq(i.id, c.imageId))
    .where(and(eq(c.batchId, batchId), inArray(i.state, ["waiting", "queued"]), not(wanted)))
    .orderBy(asc(c.position))
    .limit(limit);
  return rows.map(({ image }) => image);
}

interface WaitingQuery {
  now: number;
  exceptAccounts: readonly string[];
}

/** Waits for its photo, and nobody is fetching it. */
const isDue = ({ images: i }: Tx["t"], now: number) =>
  and(
    eq(i.environment, "live"),
    eq(i.state, "waiting"),
    isNull(i.completedAt),
    // A pause beyond the maximum was written before the clock was set back.
    sql`(${i.availableAt} <= ${now} or ${i.availableAt} > ${now + MAX_RETRY_PAUSE_MS})`,
  );

/** The next live image waiting for its photo that nobody is fetching, in fair order. */
export async function nextWaiting(
  { db, t }: Tx,
  { now, exceptAccounts }: WaitingQuery,
): Promise<Pick<Image, "id" | "accountId"> | undefined> {
  const i = t.images;
  const [next] = await db
    .select({ id: i.id, accountId: i.accountId })
    .from(i)
    .where(and(isDue(t, now), notInArray(i.accountId, [...exceptAccounts])))
    .orderBy(asc(i.turn))
    .limit(1);
  return next;
}

/**
 * Takes an image that nextWaiting found; undefined when somebody else was quicker. Nobody else gets it until
 * `until`: the server that took it should have its photo by then, and if not, it is due again.
 */
export async function claimWaiting(
  { db, t }: Tx,
  id: string,
  { now, until }: { now: number; until: number },
): Promise<Image | undefined> {
  const i = t.images;
  const [image] = await db
    .update(i)
    .set({ availableAt: until })
    .where(and(eq(i.id, id), isDue(t, now)))
    .returning();
  return image;
}

/** Queues an image for rendering once its photo is there. Undefined when it is no longer waiting. */
export async function queueWaiting(
  { db, t }: Tx,
  id: string,
  {
    now,
    ...change
  }: Pick<Image, "sourceSha256" | "badgeSha256"> &
    Partial<Pick<Image, "request" | "playerName">> & { now: number },
): Promise<Image | undefined> {
  const i = t.images;
  const [image] = await db
    .update(i)
    .set({ state: "queued", ...change, availableAt: now, updatedAt: now })
    .where(and(eq(i.id, id), eq(i.state, "waiting")))
    .returning();
  return image;
}

/** Lets a claimed image wait until `until`; nothing changes when somebody else has claimed it since. */
export async function postponeWaiting(
  { db, t }: Tx,
  { id, availableAt: claimedUntil }: Pick<Image, "id" | "availableAt">,
  until: number,
): Promise<void> {
  const i = t.images;
  await db
    .update(i)
    .set({ availableAt: until })
    .where(and(eq(i.id, id), eq(i.state, "waiting"), eq(i.availableAt, claimedUntil)));
}

/**
 * Makes all waiting images due that were claimed or postponed at most `leaseMs` ahead: nobody is fetching.
 */
export async function freeWaiting(
  { db, t }: Tx,
  { now, leaseMs }: { now: number; leaseMs: number },
): Promise<void> {
  const i = t.images;
  await db
    .update(i)
    .set({ availableAt: now })
    .where(
      and(
        eq(i.environment, "live"),
        eq(i.state, "waiting"),
        isNull(i.completedAt),
        gt(i.availableAt, now),
        lte(i.availableAt, now + leaseMs),
      ),
    );
}

/** Locks those of these images that failUnbegun may fail. */
export async function lockUnbegun({ db, t, locked }: Tx, ids: string[]): Promise<void> {
  const i = t.images;
  const unbegun = and(inArray(i.id, ids), inArray(i.state, ["waiting", "queued"]));
  await locked(db.select({ id: i.id }).from(i).where(unbegun).orderBy(asc(i.id)));
}

/**
 * Fails those of these images that are not being rendered and have not ended; when `canceledBatch` is given,
 * none that another batch still wants. Returns them.
 */
export async function failUnbegun(
  tx: Tx,
  ids: string[],
  end: {
    code: string;
    message: string;
    reason: FailureReason;
    now: number;
    canceledBatch?: string | undefined;
  },
): Promise<Image[]> {
  const { db, t } = tx;
  const i = t.images;
  const { canceledBatch } = end;
  const unwanted = canceledBatch === undefined ? undefined : not(wantedElsewhere(tx, canceledBatch));
  return db
    .update(i)
    .set({
      state: "failed",
      failureCode: end.code,
      failureMessage: end.message,
      failureReason: end.reason,
      completedAt: end.now,
      updatedAt: end.now,
    })
    .where(and(inArray(i.id, ids), inArray(i.state, ["waiting", "queued"]), unwanted))
    .returning();
}
