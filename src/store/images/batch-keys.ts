import { and, eq, gte, lt } from "drizzle-orm";
import type { Environment } from "../../core/account.ts";
import { ofIdempotencyKey } from "../idempotency-key.ts";
import type { Tx } from "../store.ts";
import type { Batch } from "./batches.ts";

interface Scope {
  accountId: string;
  environment: Environment;
}

/** The batch that was made with this idempotency key, however long ago. */
export async function findBatchByKey(
  { db, t }: Tx,
  scope: Scope & { key: string },
): Promise<Batch | undefined> {
  const b = t.batches;
  const [batch] = await db.select().from(b).where(ofIdempotencyKey(b, scope)).limit(1);
  return batch;
}

/** The batches whose idempotency keys begin with `start` and a hyphen, the newest first. */
export async function batchesByKeyStart(
  { db, t }: Tx,
  { accountId, environment, start }: Scope & { start: string },
): Promise<Batch[]> {
  const b = t.batches;
  const [from, to] = [`${start}-`, `${start}.`];
  const found = await db
    .select()
    .from(b)
    .where(
      and(
        eq(b.accountId, accountId),
        eq(b.environment, environment),
        gte(b.idempotencyKey, from),
        lt(b.idempotencyKey, to),
      ),
    );
  return found.sort((one, other) => other.createdAt - one.createdAt);
}

/** Frees an expired idempotency key for reuse. */
export async function freeBatchKey({ db, t }: Tx, scope: Scope & { key: string }): Promise<void> {
  const b = t.batches;
  await db.update(b).set({ idempotencyKey: null }).where(ofIdempotencyKey(b, scope));
}
