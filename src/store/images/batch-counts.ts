import { and, eq, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Tx } from "../store.ts";
import { takePlaces } from "./batch-places.ts";
import type { Batch } from "./batches.ts";

// What a batch counts of its cards' ends.

/** Canceled ones have failed too. */
export type CardEnd = "completed" | "failed" | "canceled";

/**
 * Counts the same end of images in their batches, and returns the batches that are over with it. A change
 * takes the place of its card when it is ready; when it failed, the card of before stays and counts again.
 */
export async function countInBatches(
  tx: Tx,
  imageIds: string[],
  end: CardEnd,
  now: number,
): Promise<Batch[]> {
  const { db, t } = tx;
  const { batches: b, batchCards: c } = t;
  const cards = await db
    .select({ batchId: c.batchId, position: c.position })
    .from(c)
    .where(inArray(c.imageId, imageIds));
  const over: Batch[] = [];
  for (const [id, own] of Map.groupBy(cards, ({ batchId }) => batchId)) {
    const changes = own.map(({ position }) => position).filter((position) => position < 0);
    if (end === "completed" && changes.length > 0) await takePlaces(tx, id, changes);
    const completed = end === "completed" ? own.length : changes.length;
    const failed = own.length - completed;
    const [batch] = await db
      .update(b)
      .set({
        completed: sql`${b.completed} + ${completed}`,
        failed: sql`${b.failed} + ${failed}`,
        canceled: sql`${b.canceled} + ${end === "canceled" ? failed : 0}`,
        updatedAt: now,
        completedAt: sql`case when ${b.completed} + ${b.failed} + ${own.length} = ${b.total} then ${now} else null end`,
      })
      .where(eq(b.id, id))
      .returning();
    if (batch && batch.completedAt !== null) over.push(batch);
  }
  return over;
}

/**
 * Counts a batch anew after ended cards of it made way for others: `left` are those ends, and of what takes
 * their places `completed` are ready and `open` are not. With open ones it goes on, even if it had ended or
 * was canceled. Undefined while it is being canceled.
 */
export async function recountBatch(
  { db, t }: Tx,
  id: string,
  { left, completed, open, now }: { left: readonly CardEnd[]; completed: number; open: number; now: number },
): Promise<Batch | undefined> {
  const b = t.batches;
  const fewer = (...ends: CardEnd[]) => left.filter((end) => ends.includes(end)).length;
  const [batch] = await db
    .update(b)
    .set({
      completed: sql`${b.completed} - ${fewer("completed") - completed}`,
      failed: sql`${b.failed} - ${fewer("failed", "canceled")}`,
      canceled: sql`${b.canceled} - ${fewer("canceled")}`,
      updatedAt: now,
      ...(open > 0
        ? {
            reopened: sql`${b.reopened} + case when ${b.completedAt} is null then 0 else 1 end`,
            completedAt: null,
            canceledAt: null,
          }
        : {}),
    })
    .where(and(eq(b.id, id), or(isNull(b.canceledAt), isNotNull(b.completedAt))))
    .returning();
  return batch;
}
