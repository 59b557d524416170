import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, lte, not, or, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import type { Tx } from "../store.ts";
import { deletePictures } from "./image-pictures.ts";
import type { Image } from "./images.ts";

// Deletion of personal data. An image's row stays without anything personal, since credits and counters refer
// to it.

interface Scope {
  accountId: string;
  environment: Environment;
}

/** The condition for images of this scope that are not forgotten. */
function isKeptIn({ accountId, environment }: Scope, i: Tables["images"]) {
  return and(eq(i.accountId, accountId), eq(i.environment, environment), isNull(i.forgottenAt));
}

/** An image of this scope, even a forgotten one. Nobody else changes it until this transaction ends. */
export async function findOnceOwn(
  { db, t, locked }: Tx,
  scope: Scope & { id: string },
): Promise<Image | undefined> {
  const [image] = await locked(db.select().from(t.images).where(eq(t.images.id, scope.id)).limit(1));
  return image?.accountId === scope.accountId && image.environment === scope.environment ? image : undefined;
}

/** The ids of up to `limit` images of a player, created up to `until`. */
export async function imagesOfPlayer(
  { db, t }: Tx,
  scope: Scope & { externalId: string; until?: number | undefined },
  limit: number,
): Promise<string[]> {
  const i = t.images;
  const rows = await db
    .select({ id: i.id })
    .from(i)
    .where(
      and(
        isKeptIn(scope, i),
        eq(i.externalId, scope.externalId),
        scope.until === undefined ? undefined : lte(i.createdAt, scope.until),
      ),
    )
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** Those of these images that are not forgotten. Nobody else changes them until this transaction ends. */
export async function lockImages({ db, t, locked }: Tx, ids: string[]): Promise<Image[]> {
  const i = t.images;
  const kept = and(inArray(i.id, ids), isNull(i.forgottenAt));
  return locked(db.select().from(i).where(kept).orderBy(asc(i.id)));
}

/** Up to `limit` images of an account that ended before `before`, oldest first. */
export async function endedBefore(
  { db, t }: Tx,
  scope: Scope,
  before: number,
  limit: number,
): Promise<Image[]> {
  const i = t.images;
  return db
    .select()
    .from(i)
    .where(and(isKeptIn(scope, i), lt(i.createdAt, before), lt(i.completedAt, before)))
    .orderBy(asc(i.createdAt), asc(i.id))
    .limit(limit);
}

/** Accounts that have everything deleted some days after completion. */
export async function forgettingAccounts({ db, t }: Tx): Promise<{ id: string; days: number }[]> {
  const { id, forgetAfterDays: days } = t.accounts;
  const rows = await db.select({ id, days }).from(t.accounts).where(isNotNull(days));
  return rows.map((row) => ({ id: row.id, days: row.days ?? 0 }));
}

/**
 * Removes everything personal from an image's row. An unfinished image fails, and its renderer finds its
 * lease lost.
 */
export async function emptyImage({ db, t }: Tx, image: Image, now: number): Promise<void> {
  const isOpen = image.completedAt === null;
  await db
    .update(t.images)
    .set({
      externalId: "",
      playerName: "",
      request: {},
      setPlace: null,
      exported: null,
      forgottenAt: now,
      publishAt: null,
      updatedAt: now,
      ...(isOpen
        ? {
            state: "failed" as const,
            failureCode: "IMAGE_PROCESSING_FAILED",
            failureReason: "canceled",
            leaseToken: null,
            leaseExpiresAt: null,
            completedAt: now,
          }
        : {}),
      ...(image.outputName === null ? { failureMessage: "The image was deleted." } : {}),
    })
    .where(and(eq(t.images.id, image.id), isNull(t.images.forgottenAt)));
}

/** Deletes the webhook events about an image, with their deliveries and the receivers' responses. */
export async function deleteEventsAbout({ db, t }: Tx, imageId: string): Promise<void> {
  const { webhookEvents: e, webhookDeliveries: d, deliveryAttempts: a } = t;
  const events = await db.select({ id: e.id }).from(e).where(eq(e.subject, imageId));
  if (events.length === 0) return;
  const ids = events.map(({ id }) => id);
  const deliveries = db.select({ id: d.id }).from(d).where(inArray(d.eventId, ids));
  await db.delete(a).where(inArray(a.deliveryId, deliveries));
  await db.delete(d).where(inArray(d.eventId, ids));
  await db.delete(e).where(inArray(e.id, ids));
}

/** Removes a player's own words from the request log of one environment. Returns whether there were any. */
export async function emptyRequests(
  { db, t }: Tx,
  { accountId, environment, externalId }: Scope & { externalId: string },
): Promise<boolean> {
  const { requestLog: l, requestPlayers: p } = t;
  const emptied = await db
    .update(l)
    .set({ externalId: null, body: null, details: null })
    .where(and(eq(l.accountId, accountId), eq(l.externalId, externalId), eq(l.environment, environment)))
    .returning({ id: l.id });
  const named = db
    .select({ id: p.requestId })
    .from(p)
    .innerJoin(l, eq(l.id, p.requestId))
    .where(and(eq(p.accountId, accountId), eq(p.externalId, externalId), eq(l.environment, environment)));
  const gone = await db
    .delete(p)
    .where(and(eq(p.accountId, accountId), eq(p.externalId, externalId), inArray(p.requestId, named)))
    .returning({ id: p.requestId });
  return emptied.length + gone.length > 0;
}

/**
 * Forgotten images whose files are not yet known to be gone, deleted at or before `until`; all but the first
 * `skip`.
 */
export async function forgottenWithFiles(
  { db, t }: Tx,
  { until, skip, limit }: { until: number; skip: number; limit: number },
): Promise<Image[]> {
  const i = t.images;
  return db
    .select()
    .from(i)
    .where(
      and(
        isNotNull(i.forgottenAt),
        isNull(i.erasedAt),
        lte(i.forgottenAt, until),
        or(isNull(i.purgedAt), isNotNull(i.sourceSha256), isNotNull(i.badgeSha256), hasPictures(t)),
      ),
    )
    .orderBy(asc(i.forgottenAt))
    .limit(limit)
    .offset(skip);
}

/** Whether the row's image still has pictures among its own fields. */
function hasPictures({ images: i, imagePictures: p }: Tables) {
  return sql`exists (select 1 from ${p} where ${p.imageId} = ${i.id})`;
}

/** Records that the files of forgotten images are gone. */
export async function markFilesGone(tx: Tx, ids: string[], now: number): Promise<void> {
  const { db, t } = tx;
  const i = t.images;
  for (const id of ids) await deletePictures(tx, id);
  await db
    .update(i)
    .set({ sourceSha256: null, badgeSha256: null, purgedAt: sql`coalesce(${i.purgedAt}, ${now})` })
    .where(and(inArray(i.id, ids), isNotNull(i.forgottenAt)));
}

/** Notes that something was deleted of which no image remembers it. */
export async function noteTraces({ db, t }: Tx, accountId: string, now: number): Promise<void> {
  await db.update(t.accounts).set({ tracesAt: now }).where(eq(t.accounts.id, accountId));
}

/** Whether forgotten images, or players without any, may have left traces in the database file. */
export async function hasTraces({ db, t }: Tx): Promise<boolean> {
  const i = t.images;
  const rows = await db
    .select({ id: i.id })
    .from(i)
    .where(and(isNotNull(i.forgottenAt), isNull(i.erasedAt), gt(i.forgottenAt, 0)))
    .limit(1);
  if (rows.length > 0) return true;
  const a = t.accounts;
  const accounts = await db.select({ id: a.id }).from(a).where(gt(a.tracesAt, 0)).limit(1);
  return accounts.length > 0;
}

/** Records that everything forgotten up to `until` has left no trace. */
export async function markErased({ db, t }: Tx, until: number, now: number): Promise<void> {
  const { images: i, accounts: a } = t;
  await db
    .update(a)
    .set({ tracesAt: null })
    .where(and(gt(a.tracesAt, 0), lte(a.tracesAt, until)));
  await db
    .update(i)
    .set({ erasedAt: now })
    .where(
      and(
        isNotNull(i.forgottenAt),
        isNull(i.erasedAt),
        lte(i.forgottenAt, until),
        isNotNull(i.purgedAt),
        isNull(i.sourceSha256),
        isNull(i.badgeSha256),
        not(hasPictures(t)),
      ),
    );
}
