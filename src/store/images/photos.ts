import { and, eq, gt, inArray, lte, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";
import type { Tx } from "../store.ts";

/** A photo or badge that a partner sent us; the bytes are the source of this SHA-256. */
export type Photo = Tables["photos"]["$inferSelect"];

export async function insertPhoto({ db, t }: Tx, photo: Photo): Promise<void> {
  await db.insert(t.photos).values(photo);
}

/** An unexpired upload of this scope. */
export async function findPhoto(
  { db, t }: Tx,
  scope: { accountId: string; environment: Environment; id: string; now: number },
): Promise<Photo | undefined> {
  const [photo] = await db.select().from(t.photos).where(eq(t.photos.id, scope.id)).limit(1);
  const isOwn = photo?.accountId === scope.accountId && photo.environment === scope.environment;
  return isOwn && photo.expiresAt > scope.now ? photo : undefined;
}

/** Ids that a statement names at most. */
const IDS_AT_ONCE = 500;

/** Those of these uploads that have not expired. */
export async function keptPhotos(
  { db, t }: Tx,
  { accountId, environment }: Pick<Photo, "accountId" | "environment">,
  ids: string[],
  now: number,
): Promise<Set<string>> {
  const p = t.photos;
  const kept = new Set<string>();
  for (let at = 0; at < ids.length; at += IDS_AT_ONCE) {
    const rows = await db
      .select({ id: p.id })
      .from(p)
      .where(
        and(
          inArray(p.id, ids.slice(at, at + IDS_AT_ONCE)),
          eq(p.accountId, accountId),
          eq(p.environment, environment),
          gt(p.expiresAt, now),
        ),
      );
    for (const { id } of rows) kept.add(id);
  }
  return kept;
}

/** How many unexpired uploads an account has, and their total bytes. */
export async function uploadsOf(
  { db, t }: Tx,
  accountId: string,
  now: number,
): Promise<{ count: number; bytes: number }> {
  const p = t.photos;
  const [row] = await db
    .select({
      count: sql<number>`count(*)`.mapWith(Number),
      bytes: sql<number>`coalesce(sum(${p.bytes}), 0)`.mapWith(Number),
    })
    .from(p)
    .where(and(eq(p.accountId, accountId), gt(p.expiresAt, now)));
  return row ?? { count: 0, bytes: 0 };
}

/** Whether any upload has these bytes. */
export async function hasUpload({ db, t }: Tx, sha256: string): Promise<boolean> {
  const p = t.photos;
  return (await db.select({ id: p.id }).from(p).where(eq(p.sha256, sha256)).limit(1)).length > 0;
}

/** Has an upload expire at another time; from then on the sweep removes it. */
export async function expirePhoto(
  { db, t }: Tx,
  { accountId, id, at }: { accountId: string; id: string; at: number },
): Promise<void> {
  const p = t.photos;
  await db
    .update(p)
    .set({ expiresAt: at })
    .where(and(eq(p.id, id), eq(p.accountId, accountId)));
}

export async function deleteUploads(
  { db, t }: Tx,
  { accountId, environment }: Pick<Photo, "accountId" | "environment">,
  sha256: string,
): Promise<void> {
  const p = t.photos;
  await db
    .delete(p)
    .where(and(eq(p.sha256, sha256), eq(p.accountId, accountId), eq(p.environment, environment)));
}

/** Deletes up to `limit` expired uploads and returns the SHA-256 of each. */
export async function deleteExpiredUploads({ db, t }: Tx, now: number, limit: number): Promise<string[]> {
  const p = t.photos;
  const due = db.select({ id: p.id }).from(p).where(lte(p.expiresAt, now)).limit(limit);
  const gone = await db.delete(p).where(inArray(p.id, due)).returning({ sha256: p.sha256 });
  return gone.map(({ sha256 }) => sha256);
}
