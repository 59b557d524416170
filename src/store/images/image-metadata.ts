import { eq } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { CreateImageRequest } from "../../core/image-request.ts";
import { MAX_METADATA_FILTER_KEY_CHARS } from "../../core/limits.ts";
import type { Tx } from "../store.ts";

/** Rows per statement: SQLite accepts 32,766 bound values in all. */
const ROWS_AT_ONCE = 1_000;

/** Writes the metadata of new images, by which lists find them. */
export async function insertMetadata(
  { db, t }: Tx,
  images: readonly Tables["images"]["$inferSelect"][],
): Promise<void> {
  const rows = images.flatMap(({ id: imageId, accountId, environment, createdAt, request }) =>
    Object.entries((request as CreateImageRequest).metadata ?? {})
      .filter(([key]) => isFilterKey(key))
      .map(([key, value]) => ({ imageId, accountId, environment, key, value, createdAt })),
  );
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    await db.insert(t.imageMetadata).values(rows.slice(at, at + ROWS_AT_ONCE));
}

/** Whether lists can ask for this key of the metadata: PostgreSQL's index entries have a bounded size. */
export function isFilterKey(key: string): boolean {
  return [...key].length <= MAX_METADATA_FILTER_KEY_CHARS;
}

export async function deleteMetadata({ db, t }: Tx, imageId: string): Promise<void> {
  await db.delete(t.imageMetadata).where(eq(t.imageMetadata.imageId, imageId));
}
