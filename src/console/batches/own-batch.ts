import { ENVIRONMENTS } from "../../core/account.ts";
import { type Batch, findBatch } from "../../store/images/batches.ts";
import { notFound } from "../page-error.ts";
import type { MemberVisit } from "../visit.ts";

/** The batch in the URL, in either environment of this account. Throws 404. */
export async function ownBatch({ deps, account, params }: MemberVisit): Promise<Batch> {
  for (const environment of ENVIRONMENTS) {
    const scope = { accountId: account.id, environment, id: params.id ?? "" };
    const batch = await findBatch(deps.store.read, scope);
    if (batch) return batch;
  }
  throw notFound();
}

/** A batch as the console counts it: a card that is being changed is still up, and completed. */
export interface CountedBatch extends Batch {
  /** How many are being changed. */
  changing: number;
}

export const countedBatch = (batch: Batch, changing: number): CountedBatch => ({
  ...batch,
  completed: batch.completed + changing,
  changing,
});
