import type { Remade } from "../../app/batches/remake-cards.ts";
import { isPartnerRefusal } from "../../http/http-refusal.ts";
import type { Batch } from "../../store/images/batches.ts";
import { takeFromBudget } from "../budget.ts";
import type { MemberVisit } from "../visit.ts";

/**
 * Makes cards of a batch again, and leaves a notice for the next page; a refusal, as without credits, is left
 * there too.
 * @param choose the cards
 * @param notice what is said of how many are made
 * @returns false when it was refused
 */
export async function remakeInBatch(
  visit: MemberVisit,
  { id: batchId, environment }: Batch,
  choose: () => Promise<Remade[]>,
  notice: (made: number) => string,
): Promise<boolean> {
  const { deps, account, session, flashes } = visit;
  try {
    await takeFromBudget(visit, environment);
    const { made } = await deps.remakeCards({ account, environment, batchId, cards: await choose() });
    await flashes.put(session.id, { notice: notice(made) });
    return true;
  } catch (error) {
    if (!isPartnerRefusal(error)) throw error;
    const [detail] = error.details ?? [];
    const problem = detail ? `${error.message} ${detail.field} ${detail.message}` : error.message;
    await flashes.put(session.id, { problem });
    return false;
  }
}
