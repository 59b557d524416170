import { and, asc, eq, inArray, isNotNull, lte } from "drizzle-orm";
import type { Tx } from "../store.ts";
import type { Image } from "./images.ts";

/** Finished images whose time to be published has come. */
export async function duePublications(
  { db, t }: Tx,
  { now, limit }: { now: number; limit: number },
): Promise<string[]> {
  const i = t.images;
  const rows = await db
    .select({ id: i.id })
    .from(i)
    .where(and(isNotNull(i.publishAt), isNotNull(i.outputName), lte(i.publishAt, now)))
    .orderBy(asc(i.publishAt))
    .limit(limit);
  return rows.map(({ id }) => id);
}

/** Changes when an image is published, whose row this transaction has locked. */
export async function setPublication(
  { db, t }: Tx,
  id: string,
  change: Pick<Image, "publishAt" | "expiresAt" | "request">,
): Promise<void> {
  await db.update(t.images).set(change).where(eq(t.images.id, id));
}

/** Publishes those of these images whose time has come; of several that try, each image goes to one. */
export async function markPublished({ db, t }: Tx, ids: string[], now: number): Promise<Image[]> {
  const i = t.images;
  return db
    .update(i)
    .set({ publishAt: null })
    .where(and(inArray(i.id, ids), eq(i.state, "completed"), lte(i.publishAt, now)))
    .returning();
}
