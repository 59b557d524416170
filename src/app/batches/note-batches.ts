import { type Batch, countInBatches } from "../../store/batches.ts";
import { type Image, LANES } from "../../store/images.ts";
import type { Tx } from "../../store/store.ts";
import type { Moment } from "../context.ts";
import { recordEvent } from "../webhooks/webhook-events.ts";
import { batchView } from "./batch-view.ts";

/** Counts an image's end in its batches, in the same transaction, and records the completion of those it completes. */
export async function noteBatches(
  tx: Tx,
  image: Image,
  end: "completed" | "failed",
  moment: Moment,
): Promise<void> {
  if (image.lane !== LANES.batch) return;
  for (const batch of await countInBatches(tx, image, end, moment.now)) await tellEnd(tx, batch, moment);
}

/** Records `batch.completed`. */
export function tellEnd(tx: Tx, batch: Batch, moment: Moment): Promise<void> {
  const { accountId, environment, id: subject } = batch;
  const data = batchView(batch);
  return recordEvent(tx, { accountId, environment, type: "batch.completed", subject, data }, moment);
}
