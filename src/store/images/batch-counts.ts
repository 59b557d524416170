import { and, eq, inArray, isNotNull, isNull, or, sql } from "drizzle-orm";
import type { Tx } from "../store.ts";
import type { Batch } from "./batches.ts";

// What a batch counts of its cards' ends.

/** Canceled ones have failed too. */
export type CardEnd = "completed" | "failed" | "canceled";

/** Counts the same end of images in their batches, and returns the batches that are over with it. */
export async function countInBatches(
  { db, t }: Tx,
  imageIds: string[],
  end: CardEnd,
  now: number,
): Promise<Batch[]> {
  const { batches: b, batchCards: c } = t;
  const cards = await db.select({ batchId: c.batchId }).from(c).where(inArray(c.imageId, imageIds));
  const over: Batch[] = [];
  for (const [id, { length: ended }] of Map.groupBy(cards, ({ batchId }) => batchId)) {
    const [batch] = await db
      .update(b)
      .set({
        ...(end === "completed"
          ? { completed: sql`${b.completed} + ${ended}` }
          : { failed: sql`${b.failed} + ${ended}` }),
        ...(end === "canceled" ? { canceled: sql`${b.canceled} + ${ended}` } : {}),
        updatedAt: now,
        completedAt: sql`case when ${b.completed} + ${b.failed} + ${ended} = ${b.total} then ${now} else null end`,
      })
      .where(eq(b.id, id))
      .returning();
    if (batch && batch.completedAt !== null) over.push(batch);
  }
  return over;
}

/** Puts an image in the place of another one of the batch; false when that one is not there any more. */
export async function swapCard(
  { db, t }: Tx,
  batchId: string,
  { from, to }: { from: string; to: string },
): Promise<boolean> {
  const c = t.batchCards;
  const swapped = await db
    .update(c)
    .set({ imageId: to })
    .where(and(eq(c.batchId, batchId), eq(c.imageId, from)))
    .returning({ position: c.position });
  return swapped.length > 0;
}

/**
 * Counts a batch anew after ended cards of it made way for others: `left` are those ends, and of what took
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
