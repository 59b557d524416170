import { logAction } from "../../app/operations/activity.ts";
import type { Batch } from "../../store/images/batches.ts";
import { counted } from "../elements.tsx";
import type { MemberVisit } from "../visit.ts";

/** Notes in the account's activity who ordered a batch in the console. */
export async function logBatch(
  { deps, user, account, now }: MemberVisit,
  { id, total, environment }: Pick<Batch, "id" | "total" | "environment">,
): Promise<void> {
  const subject = `${id}, ${counted(total, `${environment} card`)}`;
  const entry = { by: user.id, accountId: account.id, action: "batch.created", subject } as const;
  await deps.store.write("log batch", (tx) => logAction(tx, entry, { ...deps, now }), { concurrent: true });
}
