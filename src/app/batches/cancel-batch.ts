import type { Environment } from "../../core/account.ts";
import { batchNotFound, CANCELED_MESSAGE } from "../../core/partner-refusals.ts";
import {
  type Batch,
  cancelBatchRow,
  canceledBatches,
  findBatch,
  unbegunOfBatch,
} from "../../store/batches.ts";
import type { AppContext } from "../context.ts";
import { failImageUnbegun } from "../images/finish-image.ts";

/** How many batches a sweep handles, and how many cards at a time. */
const AT_ONCE = 100;

/**
 * Cancels a batch: cards whose rendering has not begun fail, and their credits are released; renders in progress
 * finish. Idempotent. Throws NOT_FOUND.
 */
export async function cancelBatch(
  context: AppContext,
  scope: { accountId: string; environment: Environment; id: string },
): Promise<Batch> {
  const { store, clock } = context;
  const found = await store.write("cancel batch", async (tx) => {
    await cancelBatchRow(tx, scope.id, clock.now());
    const batch = await findBatch(tx, scope);
    // Another account's batch: rolled back along with it.
    if (!batch) throw batchNotFound();
    return batch;
  });
  if (found.canceledAt !== null) await endUnbegun(context, found.id);
  return (await findBatch(store.read, scope)) ?? found;
}

async function endUnbegun(context: AppContext, batchId: string): Promise<void> {
  for (;;) {
    const open = await unbegunOfBatch(context.store.read, batchId, AT_ONCE);
    let ended = 0;
    for (const { id } of open) if (await failImageUnbegun(context, id, CANCELED_MESSAGE, batchId)) ended += 1;
    if (open.length < AT_ONCE || ended === 0) return;
  }
}

/** Finishes cancellations that a crash interrupted. */
export async function finishCanceling(context: AppContext): Promise<void> {
  for (const { id } of await canceledBatches(context.store.read, AT_ONCE)) await endUnbegun(context, id);
}
