import { sql } from "drizzle-orm";
import type { AnySQLiteColumn } from "drizzle-orm/sqlite-core";
import { ENVIRONMENTS } from "../src/core/account.ts";
import type { Kit } from "./kit.ts";

/** A table that another table's rows belong to. */
type Owner = { id: AnySQLiteColumn };

/** What whole squads need beyond single images: uploaded photos, batches, and the request log. */
export function batchTables(kit: Kit, accounts: Owner, images: Owner) {
  const { table, text, oneOf, int, json, index, uniqueIndex, primaryKey, check } = kit;

  /** Photos and badges that partners uploaded instead of hosting them. The bytes are among the sources. */
  const photos = table(
    "photos",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      sha256: text("sha256").notNull(),
      contentType: text("content_type").notNull(),
      width: int("width").notNull(),
      height: int("height").notNull(),
      bytes: int("bytes").notNull(),
      createdAt: int("created_at").notNull(),
      expiresAt: int("expires_at").notNull(),
    },
    (t) => [
      index("photos_account").on(t.accountId, t.expiresAt, t.bytes),
      index("photos_expiry").on(t.expiresAt),
      index("photos_sha256").on(t.sha256),
    ],
  );

  /** Cards requested together. Their cost and outcome are recorded on their images. */
  const batches = table(
    "batches",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      /** A name given by the partner; shown in the console. */
      name: text("name").notNull(),
      /** The partner's Idempotency-Key, if one was sent, and the SHA-256 of the canonical payload. */
      idempotencyKey: text("idempotency_key"),
      fingerprint: text("fingerprint").notNull(),
      total: int("total").notNull(),
      completed: int("completed").notNull(),
      failed: int("failed").notNull(),
      /** How many of the failed ones were canceled. */
      canceled: int("canceled").notNull().default(0),
      /** How often it went on after its end, because cards were made again; each end is reported. */
      reopened: int("reopened").notNull().default(0),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
      canceledAt: int("canceled_at"),
      /** When the last of its images ended. */
      completedAt: int("completed_at"),
    },
    (t) => [
      index("batches_list").on(t.accountId, t.environment, t.createdAt, t.id),
      uniqueIndex("batches_key")
        .on(t.accountId, t.environment, t.idempotencyKey)
        .where(sql`${t.idempotencyKey} is not null`),
      index("batches_canceled")
        .on(t.canceledAt)
        .where(sql`${t.canceledAt} is not null and ${t.completedAt} is null`),
      check("batches_counts", sql`${t.completed} + ${t.failed} <= ${t.total}`),
      check("batches_end", sql`(${t.completed} + ${t.failed} = ${t.total}) = (${t.completedAt} is not null)`),
    ],
  );

  /**
   * The images of a batch in the order they were requested, and what is to replace one of them. An image may
   * be in several batches, if a batch was sent again.
   */
  const batchCards = table(
    "batch_cards",
    {
      batchId: text("batch_id")
        .notNull()
        .references(() => batches.id),
      /** From 0; below it what is to replace a card: see batch-places.ts. */
      position: int("position").notNull(),
      imageId: text("image_id")
        .notNull()
        .references(() => images.id),
    },
    (t) => [primaryKey({ columns: [t.batchId, t.position] }), index("batch_cards_image").on(t.imageId)],
  );

  /** Requests made with an account's keys, and the answers. Kept for a month. */
  const requestLog = table(
    "request_log",
    {
      /** The request id returned with the answer. */
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      keyId: text("key_id").notNull(),
      method: text("method").notNull(),
      path: text("path").notNull(),
      status: int("status").notNull(),
      /** The error code; null for a success. */
      code: text("code"),
      durationMs: int("duration_ms").notNull(),
      /** The player concerned, if the request or the image names one. */
      externalId: text("external_id"),
      /** The invalid fields, each with the rule it breaks. */
      details: json<{ field: string; message: string }[] | null>("details"),
      /** The beginning of a refused body, without secrets. */
      body: text("body"),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      index("request_log_list").on(t.accountId, t.createdAt, t.id),
      index("request_log_refused").on(t.accountId, t.createdAt, t.id).where(sql`${t.status} >= 400`),
      index("request_log_external")
        .on(t.accountId, t.externalId, t.createdAt, t.id)
        .where(sql`${t.externalId} is not null`),
      index("request_log_age").on(t.createdAt),
    ],
  );

  /** The players of requests about many, such as a batch; a row goes when its player is deleted. */
  const requestPlayers = table(
    "request_players",
    {
      requestId: text("request_id").notNull(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      externalId: text("external_id").notNull(),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.requestId, t.externalId] }),
      index("request_players_external").on(t.accountId, t.externalId, t.createdAt, t.requestId),
      index("request_players_age").on(t.createdAt),
    ],
  );

  return { photos, batches, batchCards, requestLog, requestPlayers };
}
