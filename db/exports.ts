import { sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import { EXPORT_STATES } from "../src/core/export-key.ts";
import type { Kit } from "./kit.ts";

/** What an account has put into a bucket of its own. */
export function exportTables(kit: Kit, accounts: { id: AnySQLiteColumn }, images: { id: AnySQLiteColumn }) {
  const { table, text, oneOf, int, json, index } = kit;

  /** An account's own bucket: its live cards are put there too. */
  const accountBuckets = table("account_buckets", {
    accountId: text("account_id")
      .primaryKey()
      .references(() => accounts.id),
    endpoint: text("endpoint").notNull(),
    region: text("region").notNull(),
    bucket: text("bucket").notNull(),
    /** What keys are made of, with placeholders. */
    keyPattern: text("key_pattern").notNull(),
    accessKeyId: text("access_key_id").notNull(),
    /** Sealed. */
    secretAccessKey: text("secret_access_key").notNull(),
    /** Since when every attempt has failed, and the pause until the next; null while it works. */
    failingSince: int("failing_since"),
    pausedUntil: int("paused_until"),
    lastError: text("last_error"),
    createdAt: int("created_at").notNull(),
    updatedAt: int("updated_at").notNull(),
  });

  /** A card's objects in it. Without a row there are none, and none are due. */
  const imageExports = table(
    "image_exports",
    {
      imageId: text("image_id")
        .primaryKey()
        .references(() => images.id),
      accountId: text("account_id").notNull(),
      state: oneOf("state", EXPORT_STATES).notNull(),
      /** The keys of the picture and, where there is one, its back. */
      keys: json<string[]>("keys").notNull(),
      /** The bucket of the latest attempt, in which some may be; null before the first. */
      place: text("place"),
      /** Failed attempts since it was last begun anew. */
      attempts: int("attempts").notNull(),
      /** Null when nothing is to be done, or somebody does it. */
      nextAttemptAt: int("next_attempt_at"),
      leaseToken: text("lease_token"),
      leaseExpiresAt: int("lease_expires_at"),
      error: text("error"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
    },
    (t) => [
      index("image_exports_due").on(t.accountId, t.nextAttemptAt).where(sql`${t.nextAttemptAt} is not null`),
      index("image_exports_leases").on(t.leaseExpiresAt).where(sql`${t.leaseExpiresAt} is not null`),
      index("image_exports_failed").on(t.accountId, t.updatedAt, t.imageId).where(sql`${t.state} = 'failed'`),
    ],
  );

  return { accountBuckets, imageExports };
}
