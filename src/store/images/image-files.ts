import { and, asc, eq, gt, inArray, isNotNull, isNull, lte, or, sql } from "drizzle-orm";
import type { Tx } from "../store.ts";
import { isFieldPicture, isOpenPicture } from "./image-pictures.ts";
import { unfinished } from "./images.ts";
import { hasUpload } from "./photos.ts";

// The files that belong to images: finished pictures, and the photos and badges they are made from.

/** Finished pictures past their `expires_at` whose files still exist. */
export async function expiredOutputs(
  { db, t }: Tx,
  now: number,
  limit: number,
): Promise<{ id: string; names: string[] }[]> {
  const i = t.images;
  const rows = await db
    .select({ id: i.id, name: i.outputName, back: i.backOutputName })
    .from(i)
    .where(and(isNotNull(i.expiresAt), isNull(i.purgedAt), lte(i.expiresAt, now)))
    .orderBy(asc(i.expiresAt))
    .limit(limit);
  return rows.map(({ id, name, back }) => ({ id, names: [name, back].filter((one) => one !== null) }));
}

/** Where a list of pictures by expiry, or by their images' ends, continues. */
export interface PicturePlace {
  id: string;
  expiresAt: number;
  completedAt: number;
}

/**
 * Finished pictures that are still served, by their expiry, after `after`; with `since` only those whose
 * images ended later than that, by their ends.
 */
export async function servedPictures(
  { db, t }: Tx,
  query: { now: number; since?: number | undefined; after?: PicturePlace | undefined; limit: number },
): Promise<(PicturePlace & { files: { name: string; bytes: number }[] })[]> {
  const i = t.images;
  const { now, since, after } = query;
  const order = since === undefined ? i.expiresAt : i.completedAt;
  const from = (since === undefined ? after?.expiresAt : after?.completedAt) ?? since ?? now;
  const place = sql`${order} >= ${from} and (${order}, ${i.id}) > (${from}, ${after?.id ?? LAST_ID})`;
  // By their ends the expression keeps the index of expiries out, which would be gone through whole.
  const isServed = since === undefined ? gt(i.expiresAt, now) : sql`coalesce(${i.expiresAt}, 0) > ${now}`;
  const rows = await db
    .select({
      id: i.id,
      expiresAt: i.expiresAt,
      completedAt: i.completedAt,
      name: i.outputName,
      bytes: i.outputBytes,
      backName: i.backOutputName,
      backBytes: i.backOutputBytes,
    })
    .from(i)
    .where(and(isNull(i.purgedAt), place, isServed))
    .orderBy(asc(order), asc(i.id))
    .limit(query.limit);
  return rows.map(({ id, expiresAt, completedAt, name, bytes, backName, backBytes }) => ({
    id,
    expiresAt: expiresAt ?? 0,
    completedAt: completedAt ?? 0,
    files: [
      { name: name ?? "", bytes: bytes ?? 0 },
      ...(backName === null ? [] : [{ name: backName, bytes: backBytes ?? 0 }]),
    ],
  }));
}

/** Behind every id. */
const LAST_ID = "\u{10FFFF}";

export async function markPurged({ db, t }: Tx, ids: string[], now: number): Promise<void> {
  await db
    .update(t.images)
    .set({ purgedAt: now })
    .where(and(inArray(t.images.id, ids), isNull(t.images.purgedAt)));
}

/** Whether a template is needed by an image that is unfinished, or whose picture is still served. */
export async function templateInUse({ db, t }: Tx, digest: string): Promise<boolean> {
  const i = t.images;
  const [row] = await db
    .select({ id: i.id })
    .from(i)
    // As their index is: neither failed nor purged.
    .where(and(eq(i.templateDigest, digest), isNull(i.failureCode), isNull(i.purgedAt)))
    .limit(1);
  return row !== undefined;
}

/** Whether an unfinished image, or a valid upload, needs a photo or badge. */
export async function sourceInUse(tx: Tx, sha256: string): Promise<boolean> {
  const { db, t } = tx;
  const i = t.images;
  if (await hasUpload(tx, sha256)) return true;
  const rows = await db
    .select({ id: i.id })
    .from(i)
    .where(and(unfinished(t), or(eq(i.sourceSha256, sha256), eq(i.badgeSha256, sha256))))
    .limit(1);
  return rows.length > 0 || isOpenPicture(tx, sha256);
}

/** Whether an undeleted image, of `accountId` or of anybody, was made from this photo or badge. */
export async function imageNames(tx: Tx, sha256: string, accountId?: string): Promise<boolean> {
  const { db, t } = tx;
  const i = t.images;
  // Separate queries, each along its own index: the photo is more selective than the account, which SQLite
  // does not know.
  for (const column of [i.sourceSha256, i.badgeSha256]) {
    const rows = await db
      .select({ id: i.id })
      .from(i)
      .where(
        and(
          eq(column, sha256),
          sql`coalesce(${i.forgottenAt}, 0) = 0`,
          accountId ? sql`coalesce(${i.accountId}, '') = ${accountId}` : undefined,
        ),
      )
      .limit(1);
    if (rows.length > 0) return true;
  }
  return isFieldPicture(tx, sha256, accountId);
}
