import { and, eq, type SQL } from "drizzle-orm";
import type { Tables } from "../../db/schema.ts";
import type { Environment } from "../core/account.ts";

interface KeyScope {
  accountId: string;
  environment: Environment;
  key: string;
}

/** What was made with this idempotency key, of those that keep it in their own row. */
export const ofIdempotencyKey = (
  rows: Tables["batches"] | Tables["cardSets"],
  { accountId, environment, key }: KeyScope,
): SQL | undefined =>
  and(eq(rows.accountId, accountId), eq(rows.environment, environment), eq(rows.idempotencyKey, key));
