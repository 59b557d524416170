import type { Environment } from "../../core/account.ts";
import { batchNotFound, CANCELED_MESSAGE } from "../../core/partner-refusals.ts";
import {
  type Batch,
  cancelBatchRow,
  canceledBatches,
  findBatch,
  unbegunOfBatch,
} from "../../store/images/batches.ts";
import type { AppContext } from "../context.ts";
import { failImagesUnbegun } from "../images/finish-image.ts";

/** Batches that one sweep handles. */
const BATCHES_AT_ONCE = 100;
/** Cards per transaction: every other writer waits for it. */
const CARDS_AT_ONCE = 250;

/**
 * Cancels a batch: cards whose rendering has not begun fail, and their credits are released; renders in
 * progress finish. Idempotent. Throws NOT_FOUND.
 */
export async function cancelBatch(
  context: AppContext,
  scope: { accountId: string; environment: Environment; id: string },
): Promise<Batch> {
  const { store, clock } = context;
  const found = await store.write(
    "cancel batch",
    async (tx) => {
      await cancelBatchRow(tx, scope.id, clock.now());
      const batch = await findBatch(tx, scope);
      // Another account's batch: rolled back along with it.
      if (!batch) throw batchNotFound();
      return batch;
    },
    { concurrent: true },
  );
  if (found.canceledAt !== null) await endUnbegun(context, found.id);
  return (await findBatch(store.read, scope)) ?? found;
}

async function endUnbegun(context: AppContext, batchId: string): Promise<void> {
  for (;;) {
    const open = await unbegunOfBatch(context.store.read, batchId, CARDS_AT_ONCE);
    const ids = open.map(({ id }) => id);
    if (ids.length === 0) return;
    const ended = await failImagesUnbegun(
      context,
      ids,
      { message: CANCELED_MESSAGE, reason: "canceled" },
      batchId,
    );
    if (ids.length < CARDS_AT_ONCE || ended === 0) return;
  }
}

/** Finishes cancellations that a crash interrupted. */
export async function finishCanceling(context: AppContext): Promise<void> {
  for (const { id } of await canceledBatches(context.store.read, BATCHES_AT_ONCE))
    await endUnbegun(context, id);
}
