import { sql } from "drizzle-orm";
import { ACCOUNT_STATUSES, ENVIRONMENTS, TIERS } from "../src/core/account.ts";
import { CREDIT_BUCKETS, LEDGER_KINDS } from "../src/core/credits.ts";
import { IMAGE_STATES } from "../src/core/image-state.ts";
import { WEBHOOK_DELIVERY_STATES, WEBHOOK_ENDPOINT_STATES } from "../src/core/webhook-event.ts";
import { type Kit, sqliteKit } from "./kit.ts";
import { peopleTables } from "./people.ts";
import { seasonTables } from "./season.ts";
import { templateTables } from "./templates.ts";

/** Every table, written once. `defineTables(postgresKit)` gives the same tables on Postgres. */
export function defineTables(kit: Kit) {
  const { table, text, oneOf, int, json, index, uniqueIndex, primaryKey, check } = kit;

  /** Owns credits. The three balances are the sums of the ledger, kept beside it so that one UPDATE can guard them. */
  const accounts = table(
    "accounts",
    {
      id: text("id").primaryKey(),
      name: text("name").notNull(),
      tier: oneOf("tier", TIERS).notNull(),
      status: oneOf("status", ACCOUNT_STATUSES).notNull(),
      suspendedReason: text("suspended_reason"),
      creditLimit: int("credit_limit").notNull(),
      /** The month, such as 2026-11, whose plan credits `creditsPlan` holds. */
      planPeriod: text("plan_period").notNull(),
      creditsPlan: int("credits_plan").notNull(),
      creditsTopup: int("credits_topup").notNull(),
      creditsHeld: int("credits_held").notNull(),
      /** How long finished pictures are served, in days; null as the service is configured. */
      retentionDays: int("retention_days"),
      /** How long after an image's end everything personal about it is deleted, in days; null: when somebody asks. */
      forgetAfterDays: int("forget_after_days"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
    },
    (t) => [
      check("accounts_credits_plan", sql`${t.creditsPlan} >= 0`),
      check("accounts_credits_topup", sql`${t.creditsTopup} >= 0`),
      check("accounts_credits_held", sql`${t.creditsHeld} >= 0`),
      index("accounts_plan_period").on(t.planPeriod),
      index("accounts_list").on(t.createdAt, t.id),
    ],
  );

  /** Shown once; only what identifies and recognises it is kept. */
  const apiKeys = table(
    "api_keys",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      name: text("name").notNull(),
      /** SHA-256 of the whole key, as lower-case hex. */
      hash: text("hash").notNull(),
      prefix: text("prefix").notNull(),
      last4: text("last4").notNull(),
      createdAt: int("created_at").notNull(),
      lastUsedAt: int("last_used_at"),
      revokedAt: int("revoked_at"),
      /** The key this one was made to replace; both work until the old one is revoked. */
      replacesKeyId: text("replaces_key_id"),
    },
    (t) => [
      uniqueIndex("api_keys_hash").on(t.hash),
      index("api_keys_account").on(t.accountId, t.createdAt, t.id),
    ],
  );

  /** What partners create, and the unit of work: this table is the queue. */
  const images = table(
    "images",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      state: oneOf("state", IMAGE_STATES).notNull(),
      type: text("type").notNull(),
      /** Empty once the image is forgotten; the same for the player's name and the request. */
      externalId: text("external_id").notNull(),
      /** In lower case, to be searched. */
      playerName: text("player_name").notNull().default(""),
      /** The accepted request body. */
      request: json<unknown>("request").notNull(),
      /** The key it was asked for with; null from the console, and for images from before this was written down. */
      keyId: text("key_id"),
      /** SHA-256 of the photo and the badge as fetched at create; null for test images. */
      sourceSha256: text("source_sha256"),
      badgeSha256: text("badge_sha256"),
      /**
       * The template of the card: as it was at accept, and once a render has ended well, as that render found it. The digest
       * says which files. Null for images from before this was written down.
       */
      templateName: text("template_name"),
      templateVersion: text("template_version"),
      templateDigest: text("template_digest"),
      /** The place in the fair order between accounts; the lowest is rendered next. */
      turn: int("turn").notNull(),
      /** 0: asked for one by one; 1: of a batch. An account's two lanes take turns like two accounts. */
      lane: int("lane").notNull().default(0),
      /** Not claimed before this time: the pause after a retryable fault. */
      availableAt: int("available_at").notNull(),
      renders: int("renders").notNull(),
      leaseToken: text("lease_token"),
      leaseExpiresAt: int("lease_expires_at"),
      failureCode: text("failure_code"),
      failureMessage: text("failure_message"),
      /** The finished picture's file name: the image id and an unguessable part. */
      outputName: text("output_name"),
      outputWidth: int("output_width"),
      outputHeight: int("output_height"),
      outputContentType: text("output_content_type"),
      outputBytes: int("output_bytes"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
      completedAt: int("completed_at"),
      expiresAt: int("expires_at"),
      /** When the sweep removed the expired picture. */
      purgedAt: int("purged_at"),
      /** When somebody had it deleted: nothing personal is left in this row, which credits and counters refer to. */
      forgottenAt: int("forgotten_at"),
      /** When the last trace of a forgotten image had left the database's file too. */
      erasedAt: int("erased_at"),
    },
    (t) => [
      index("images_list")
        .on(t.accountId, t.environment, t.createdAt, t.id)
        .where(sql`${t.forgottenAt} is null`),
      index("images_list_state")
        .on(t.accountId, t.environment, t.state, t.createdAt, t.id)
        .where(sql`${t.forgottenAt} is null`),
      // The unfinished, as images_terminal says; by a condition that leaves `state` free to be searched in the index.
      index("images_queue")
        .on(t.environment, t.state, t.turn, t.createdAt, t.completedAt)
        .where(sql`${t.completedAt} is null`),
      index("images_account_queue")
        .on(t.accountId, t.environment, t.lane, t.turn)
        .where(sql`${t.completedAt} is null`),
      uniqueIndex("images_output_name").on(t.outputName).where(sql`${t.outputName} is not null`),
      index("images_expiry").on(t.expiresAt).where(sql`${t.expiresAt} is not null and ${t.purgedAt} is null`),
      index("images_failures").on(t.completedAt).where(sql`${t.state} = 'failed'`),
      index("images_external").on(t.accountId, t.environment, t.externalId),
      index("images_singles")
        .on(t.environment, t.turn)
        .where(sql`${t.completedAt} is null and ${t.lane} = 0`),
      index("images_source").on(t.sourceSha256).where(sql`${t.sourceSha256} is not null`),
      index("images_badge").on(t.badgeSha256).where(sql`${t.badgeSha256} is not null`),
      index("images_forgotten")
        .on(t.forgottenAt)
        .where(sql`${t.forgottenAt} is not null and ${t.erasedAt} is null`),
      check("images_lease", sql`(${t.state} = 'rendering') = (${t.leaseToken} is not null)`),
      check("images_terminal", sql`(${t.state} in ('completed', 'failed')) = (${t.completedAt} is not null)`),
      check("images_output", sql`(${t.state} = 'completed') = (${t.outputName} is not null)`),
      check("images_failure", sql`(${t.state} = 'failed') = (${t.failureCode} is not null)`),
    ],
  );

  /** How a finished live picture was made: what its receipt says beyond the image's row. */
  const imageReceipts = table("image_receipts", {
    imageId: text("image_id")
      .primaryKey()
      .references(() => images.id),
    receipt: json<unknown>("receipt").notNull(),
  });

  /**
   * Immutable facts about credits; `amount` is always positive. Triggers refuse any UPDATE and DELETE, and an entry that
   * ends a reservation other than the one of its image.
   */
  const ledgerEntries = table(
    "ledger_entries",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      kind: oneOf("kind", LEDGER_KINDS).notNull(),
      bucket: oneOf("bucket", CREDIT_BUCKETS).notNull(),
      /** The month the credit belongs to: of the plan grant, or the month a top-up was used or made in. */
      period: text("period").notNull(),
      amount: int("amount").notNull(),
      imageId: text("image_id").references(() => images.id),
      reason: text("reason"),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      check("ledger_amount", sql`${t.amount} > 0`),
      check("ledger_bucket", sql`${t.bucket} in ('plan', 'topup')`),
      // Each kind has one shape: images move one credit at a time, grants belong to none, only plan credits expire.
      check(
        "ledger_shape",
        sql`case ${t.kind}
          when 'grant' then ${t.imageId} is null
          when 'expire' then ${t.bucket} = 'plan' and (${t.imageId} is null or ${t.amount} = 1)
          else ${t.kind} in ('reserve', 'settle', 'release') and ${t.imageId} is not null and ${t.amount} = 1
        end`,
      ),
      uniqueIndex("ledger_one_reserve").on(t.imageId).where(sql`${t.kind} = 'reserve'`),
      uniqueIndex("ledger_one_resolution").on(t.imageId).where(sql`${t.kind} in ('settle', 'release')`),
      uniqueIndex("ledger_one_late_expiry")
        .on(t.imageId)
        .where(sql`${t.kind} = 'expire' and ${t.imageId} is not null`),
      uniqueIndex("ledger_one_grant")
        .on(t.accountId, t.period)
        .where(sql`${t.kind} = 'grant' and ${t.bucket} = 'plan'`),
      uniqueIndex("ledger_one_expiry")
        .on(t.accountId, t.period)
        .where(sql`${t.kind} = 'expire' and ${t.imageId} is null`),
      index("ledger_account").on(t.accountId, t.createdAt, t.id),
      index("ledger_grants").on(t.accountId, t.createdAt, t.id).where(sql`${t.kind} = 'grant'`),
    ],
  );

  /** The stored 202 of an accepted create, replayed byte for byte. */
  const idempotencyRecords = table(
    "idempotency_records",
    {
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      key: text("key").notNull(),
      /** SHA-256 of the canonical payload. */
      fingerprint: text("fingerprint").notNull(),
      imageId: text("image_id")
        .notNull()
        .references(() => images.id),
      responseBody: text("response_body").notNull(),
      createdAt: int("created_at").notNull(),
      expiresAt: int("expires_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.accountId, t.environment, t.key] }),
      index("idempotency_expiry").on(t.expiresAt),
      index("idempotency_image").on(t.imageId),
    ],
  );

  /** Counters by UTC day, written in the transactions that change the images, so that usage never counts rows. */
  const usageDays = table(
    "usage_days",
    {
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      /** Such as 2026-11-21. */
      day: text("day").notNull(),
      requested: int("requested").notNull(),
      completed: int("completed").notNull(),
      failed: int("failed").notNull(),
      creditsUsed: int("credits_used").notNull(),
    },
    (t) => [primaryKey({ columns: [t.accountId, t.environment, t.day] })],
  );

  /** The same counters of each key, for whoever wants to know which system asked for what. */
  const usageKeys = table(
    "usage_keys",
    {
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      day: text("day").notNull(),
      /** "console" for what was asked for there. */
      keyId: text("key_id").notNull(),
      requested: int("requested").notNull(),
      completed: int("completed").notNull(),
      failed: int("failed").notNull(),
      creditsUsed: int("credits_used").notNull(),
    },
    (t) => [primaryKey({ columns: [t.accountId, t.environment, t.day, t.keyId] })],
  );

  const season = seasonTables(kit, accounts, images);

  /** Where a partner wants to hear of events, in one environment. */
  const webhookEndpoints = table(
    "webhook_endpoints",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      url: text("url").notNull(),
      /** The event types it wants; null for all, also those to come. */
      events: json<string[] | null>("events"),
      /** Sealed with the data folder's key; the same for the one it replaced, which signs too until it expires. */
      secret: text("secret").notNull(),
      previousSecret: text("previous_secret"),
      previousSecretExpiresAt: int("previous_secret_expires_at"),
      state: oneOf("state", WEBHOOK_ENDPOINT_STATES).notNull(),
      disabledReason: text("disabled_reason"),
      disabledAt: int("disabled_at"),
      /** The first failure since the last success; null while all is well. */
      failingSince: int("failing_since"),
      lastSuccessAt: int("last_success_at"),
      /** Nothing is sent before this time: the receiver asked for the pause by Retry-After. */
      pausedUntil: int("paused_until"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
    },
    (t) => [
      index("webhook_endpoints_account").on(t.accountId, t.environment, t.createdAt, t.id),
      index("webhook_endpoints_state").on(t.state),
      index("webhook_endpoints_old_secrets")
        .on(t.previousSecretExpiresAt)
        .where(sql`${t.previousSecretExpiresAt} is not null`),
      check("webhook_endpoints_disabled", sql`(${t.state} = 'enabled') = (${t.disabledAt} is null)`),
      check(
        "webhook_endpoints_previous",
        sql`(${t.previousSecret} is null) = (${t.previousSecretExpiresAt} is null)`,
      ),
    ],
  );

  /** An immutable fact, written in the transaction that makes it true, whether anybody listens or not. */
  const webhookEvents = table(
    "webhook_events",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      type: text("type").notNull(),
      /** What the event is about, such as an image's id. */
      subject: text("subject").notNull(),
      /** The request body of every delivery, the same bytes at every attempt. */
      body: text("body").notNull(),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      uniqueIndex("webhook_events_once").on(t.subject, t.type),
      index("webhook_events_account").on(t.accountId, t.environment, t.createdAt, t.id),
      index("webhook_events_age").on(t.createdAt),
    ],
  );

  /** One event for one endpoint: this table is the queue. */
  const webhookDeliveries = table(
    "webhook_deliveries",
    {
      id: text("id").primaryKey(),
      eventId: text("event_id")
        .notNull()
        .references(() => webhookEvents.id),
      endpointId: text("endpoint_id")
        .notNull()
        .references(() => webhookEndpoints.id),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      eventType: text("event_type").notNull(),
      state: oneOf("state", WEBHOOK_DELIVERY_STATES).notNull(),
      /** Attempts in all. */
      attempts: int("attempts").notNull(),
      /** Attempts of the present run through the schedule; a redelivery begins a new one. */
      step: int("step").notNull(),
      nextAttemptAt: int("next_attempt_at"),
      leaseToken: text("lease_token"),
      leaseExpiresAt: int("lease_expires_at"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
      deliveredAt: int("delivered_at"),
    },
    (t) => [
      uniqueIndex("webhook_deliveries_once").on(t.eventId, t.endpointId),
      index("webhook_deliveries_queue").on(t.endpointId, t.nextAttemptAt).where(sql`${t.state} = 'pending'`),
      index("webhook_deliveries_leases").on(t.leaseExpiresAt).where(sql`${t.state} = 'sending'`),
      index("webhook_deliveries_account").on(t.accountId, t.environment, t.createdAt, t.id),
      index("webhook_deliveries_endpoint").on(t.endpointId, t.createdAt, t.id),
      // The few that people look for among the many that arrived.
      index("webhook_deliveries_undelivered")
        .on(t.accountId, t.environment, t.createdAt, t.id)
        .where(sql`${t.state} <> 'delivered'`),
      check("webhook_deliveries_next", sql`(${t.state} = 'pending') = (${t.nextAttemptAt} is not null)`),
      check("webhook_deliveries_lease", sql`(${t.state} = 'sending') = (${t.leaseToken} is not null)`),
      check("webhook_deliveries_delivered", sql`(${t.state} = 'delivered') = (${t.deliveredAt} is not null)`),
    ],
  );

  /** One call to an endpoint, as it went. */
  const deliveryAttempts = table(
    "delivery_attempts",
    {
      deliveryId: text("delivery_id")
        .notNull()
        .references(() => webhookDeliveries.id),
      /** 1 for the first. */
      number: int("number").notNull(),
      startedAt: int("started_at").notNull(),
      durationMs: int("duration_ms").notNull(),
      /** The HTTP status, null when no answer came. */
      status: int("status"),
      /** Why it failed, for the partner to read; null for a success. */
      error: text("error"),
      /** The beginning of what a failing receiver answered. */
      answer: text("answer"),
    },
    (t) => [primaryKey({ columns: [t.deliveryId, t.number] })],
  );

  const people = peopleTables(kit, accounts);

  return {
    accounts,
    apiKeys,
    images,
    imageReceipts,
    ledgerEntries,
    idempotencyRecords,
    usageDays,
    usageKeys,
    ...season,
    webhookEndpoints,
    webhookEvents,
    webhookDeliveries,
    deliveryAttempts,
    ...people,
    ...templateTables(kit),
  };
}

export type Tables = ReturnType<typeof defineTables>;

/** The SQLite tables; named one by one because drizzle-kit reads this module's exports. */
export const sqliteTables = defineTables(sqliteKit);
export const {
  accounts,
  apiKeys,
  images,
  imageReceipts,
  ledgerEntries,
  idempotencyRecords,
  usageDays,
  usageKeys,
  webhookEndpoints,
  webhookEvents,
  webhookDeliveries,
  deliveryAttempts,
} = sqliteTables;
export const { photos, batches, batchCards, requestLog } = sqliteTables;
export const { users, memberships, setupLinks, passkeys, sessions, auditEntries, mails } = sqliteTables;
export const { templates, templateVersions } = sqliteTables;
