import { ENVIRONMENTS } from "../src/core/account.ts";
import type { Kit } from "./kit.ts";

/** What the audit keeps of closed history, so that the next one begins behind it. */
export function bookTables(kit: Kit) {
  const { table, text, oneOf, int, json, primaryKey } = kit;

  /** Images that ended after the span before and up to `until`: audited, and summed up once and for all. */
  const sealedSpans = table("sealed_spans", {
    until: int("until").primaryKey(),
    images: int("images").notNull(),
    /** Its sums, as lists of values in the order of the columns of `sealed_sums`. */
    sums: json<(string | number)[][]>("sums").notNull(),
    /** SHA-256, as lower-case hex, of the span and its sums. */
    digest: text("digest").notNull(),
    sealedAt: int("sealed_at").notNull(),
    /** When the sums were last computed anew, or when that run of the audit began. */
    checkedAt: int("checked_at").notNull(),
  });

  /**
   * The sums over all sealed spans: how the images of one account ended that paid with one bucket's credits
   * of one month.
   */
  const sealedSums = table(
    "sealed_sums",
    {
      accountId: text("account_id").notNull(),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      /** Empty, like the month, for test images. */
      bucket: text("bucket").notNull(),
      period: text("period").notNull(),
      completed: int("completed").notNull(),
      failed: int("failed").notNull(),
      /** Failed ones whose credit came back after its month, and expired. */
      expired: int("expired").notNull(),
    },
    (t) => [primaryKey({ columns: [t.accountId, t.environment, t.bucket, t.period] })],
  );

  return { sealedSpans, sealedSums };
}
