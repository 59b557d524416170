import { type CardEnd, countInBatches } from "../../store/images/batch-counts.ts";
import type { Batch } from "../../store/images/batches.ts";
import type { Image } from "../../store/images/images.ts";
import { LANES } from "../../store/images/queue-place.ts";
import type { Tx } from "../../store/store.ts";
import type { Moment } from "../context.ts";
import { recordEvent } from "../webhooks/webhook-events.ts";
import { batchView } from "./batch-view.ts";

/**
 * Counts the same end of images in their batches, in the transaction that ends them, and records which
 * batches are over.
 */
export async function noteBatches(tx: Tx, images: Image[], end: CardEnd, moment: Moment): Promise<void> {
  const cards = images.filter(({ lane }) => lane === LANES.batch).map(({ id }) => id);
  if (cards.length === 0) return;
  for (const batch of await countInBatches(tx, cards, end, moment.now)) await tellEnd(tx, batch, moment);
}

/** Records `batch.completed`, again for each time that the batch went on after its end. */
export function tellEnd(tx: Tx, batch: Batch, moment: Moment): Promise<void> {
  const { accountId, environment } = batch;
  const subject = batch.reopened === 0 ? batch.id : `${batch.id}#${batch.reopened}`;
  const data = batchView(batch);
  return recordEvent(tx, { accountId, environment, type: "batch.completed", subject, data }, moment);
}
