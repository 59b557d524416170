import { and, eq, sql } from "drizzle-orm";
import type { Tx } from "../store.ts";
import { unfinished } from "./images.ts";

// The pictures among images' own fields: which were fetched for which image.

/** The SHA-256 of each picture by its field's name. */
export type FieldPictures = Readonly<Record<string, string>>;

/** Records what was fetched for an image. */
export async function insertPictures({ db, t }: Tx, imageId: string, pictures: FieldPictures): Promise<void> {
  const rows = Object.entries(pictures).map(([field, sha256]) => ({ imageId, field, sha256 }));
  if (rows.length > 0) await db.insert(t.imagePictures).values(rows);
}

/** What was fetched for an image; empty for most. */
export async function picturesOfImage({ db, t }: Tx, imageId: string): Promise<FieldPictures> {
  const p = t.imagePictures;
  const rows = await db
    .select({ field: p.field, sha256: p.sha256 })
    .from(p)
    .where(eq(p.imageId, imageId))
    .orderBy(p.field);
  return Object.fromEntries(rows.map(({ field, sha256 }) => [field, sha256]));
}

/** Forgets what was fetched for an image. */
export async function deletePictures({ db, t }: Tx, imageId: string): Promise<void> {
  await db.delete(t.imagePictures).where(eq(t.imagePictures.imageId, imageId));
}

/**
 * Whether an unfinished image has this picture in a field. It goes through those, of which there are fewer
 * than cards with a sponsor's logo, and through live ones alone, as test images have no pictures.
 */
export async function isOpenPicture({ db, t }: Tx, sha256: string): Promise<boolean> {
  const { images: i, imagePictures: p } = t;
  // Most photos are nobody's logo: found by one look into an index.
  const named = await db.select({ id: p.imageId }).from(p).where(eq(p.sha256, sha256)).limit(1);
  if (named.length === 0) return false;
  const has = sql`exists (select 1 from ${p} where ${p.imageId} = ${i.id} and ${p.sha256} = ${sha256})`;
  const rows = await db
    .select({ id: i.id })
    .from(i)
    .where(and(eq(i.environment, "live"), unfinished(t), has))
    .limit(1);
  return rows.length > 0;
}

/** Whether an undeleted image, of `accountId` or of anybody, has this picture in a field. */
export async function isFieldPicture({ db, t }: Tx, sha256: string, accountId?: string): Promise<boolean> {
  const { images: i, imagePictures: p } = t;
  const rows = await db
    .select({ id: i.id })
    .from(p)
    .innerJoin(i, eq(i.id, p.imageId))
    .where(
      and(
        eq(p.sha256, sha256),
        sql`coalesce(${i.forgottenAt}, 0) = 0`,
        accountId ? eq(i.accountId, accountId) : undefined,
      ),
    )
    .limit(1);
  return rows.length > 0;
}
