import { sql } from "drizzle-orm";
import { ACCOUNT_STATUSES, ENVIRONMENTS, TIERS } from "../src/core/account.ts";
import { COMPOSITIONS } from "../src/core/card.ts";
import { CREDIT_BUCKETS, LEDGER_KINDS } from "../src/core/credits.ts";
import { IMAGE_STATES } from "../src/core/image-state.ts";
import type { KeyScope } from "../src/core/key-rules.ts";
import { WEBHOOK_DELIVERY_STATES, WEBHOOK_ENDPOINT_STATES } from "../src/core/webhook-event.ts";
import { bookTables } from "./books.ts";
import { clubTables } from "./club.ts";
import { exportTables } from "./exports.ts";
import { type Kit, sqliteKit } from "./kit.ts";
import { peopleTables } from "./people.ts";
import { batchTables } from "./season.ts";
import { setTables } from "./sets.ts";
import { statusTables } from "./status.ts";
import { templateTables } from "./templates.ts";

/** Every table, written once. `defineTables(postgresKit)` gives the same tables on Postgres. */
export function defineTables(kit: Kit) {
  const { table, text, oneOf, int, json, index, uniqueIndex, primaryKey, check } = kit;

  /**
   * Owns credits. The three balances are sums over the ledger, stored here so that a single UPDATE can guard
   * them.
   */
  const accounts = table(
    "accounts",
    {
      id: text("id").primaryKey(),
      name: text("name").notNull(),
      tier: oneOf("tier", TIERS).notNull(),
      status: oneOf("status", ACCOUNT_STATUSES).notNull(),
      suspendedReason: text("suspended_reason"),
      creditLimit: int("credit_limit").notNull(),
      /** The month, such as 2026-11, that `creditsPlan` is for. */
      planPeriod: text("plan_period").notNull(),
      creditsPlan: int("credits_plan").notNull(),
      creditsTopup: int("credits_topup").notNull(),
      creditsHeld: int("credits_held").notNull(),
      /** How long finished pictures are served, in days; null for the service's default. */
      retentionDays: int("retention_days"),
      /** Days after an image's end at which its personal data is deleted; null: only on request. */
      forgetAfterDays: int("forget_after_days"),
      /** Credits a month that the account means to use; null for none. Only warns, and stops nothing. */
      usageBudget: int("usage_budget"),
      /** Percent of the budget at which its owners are notified, ascending; null when there is no budget. */
      usageAlerts: json<number[] | null>("usage_alerts"),
      /** 1: developers may delete players in the console; 0: owners alone. */
      developersDeletePlayers: int("developers_delete_players").notNull().default(0),
      /** When a player without images was deleted whose traces are still in the database's file. */
      tracesAt: int("traces_at"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
    },
    (t) => [
      check("accounts_credits_plan", sql`${t.creditsPlan} >= 0`),
      check("accounts_credits_topup", sql`${t.creditsTopup} >= 0`),
      check("accounts_credits_held", sql`${t.creditsHeld} >= 0`),
      index("accounts_plan_period").on(t.planPeriod),
      index("accounts_list").on(t.createdAt, t.id),
      index("accounts_traces").on(t.tracesAt).where(sql`${t.tracesAt} is not null`),
    ],
  );

  /** The full key is shown once; only what identifies it is stored. */
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
      /** The key this one replaces; both work until the old one is revoked. */
      replacesKeyId: text("replaces_key_id"),
      /** What it may do; null for everything. */
      scopes: json<KeyScope[] | null>("scopes"),
      /** It is refused from this moment on; null: never. */
      expiresAt: int("expires_at"),
      /** The addresses and networks from which it may be used; null: any. */
      addresses: json<string[] | null>("addresses"),
      /** Signs addresses of on-demand pictures; sealed, and null for a key that signs none. */
      signingSecret: text("signing_secret"),
    },
    (t) => [
      uniqueIndex("api_keys_hash").on(t.hash),
      index("api_keys_account").on(t.accountId, t.createdAt, t.id),
    ],
  );

  /** What partners create, and the unit of work; this table is the queue. */
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
      /** Empty once the image is forgotten, like the player's name and the request. */
      externalId: text("external_id").notNull(),
      /** In lower case, for searching. */
      playerName: text("player_name").notNull().default(""),
      /** The accepted request body. */
      request: json<unknown>("request").notNull(),
      /** The key that requested it; null from the console, and for images that predate this column. */
      keyId: text("key_id"),
      /** SHA-256 of the photo and the badge as fetched at create; null for test images. */
      sourceSha256: text("source_sha256"),
      badgeSha256: text("badge_sha256"),
      /**
       * The card's template: as of acceptance, and after a successful render the one rendered with. The
       * digest identifies its files. Null for images that predate these columns.
       */
      templateName: text("template_name"),
      templateVersion: text("template_version"),
      templateDigest: text("template_digest"),
      /** Position in the fair order between accounts; the lowest is rendered next. */
      turn: int("turn").notNull(),
      /** 0: requested on its own; 1: part of a batch. An account's two lanes take turns like two accounts. */
      lane: int("lane").notNull().default(0),
      /** Not claimed before this time: the pause after a retryable error. */
      availableAt: int("available_at").notNull(),
      renders: int("renders").notNull(),
      leaseToken: text("lease_token"),
      leaseExpiresAt: int("lease_expires_at"),
      failureCode: text("failure_code"),
      failureMessage: text("failure_message"),
      /** What else is known of why it failed, as the API names it; null where its message alone tells. */
      failureReason: text("failure_reason"),
      /** The finished picture's file name: the image id and an unguessable part. */
      outputName: text("output_name"),
      outputWidth: int("output_width"),
      outputHeight: int("output_height"),
      outputContentType: text("output_content_type"),
      outputBytes: int("output_bytes"),
      /** The file name and size of the card's other side; null where none was made. */
      backOutputName: text("back_output_name"),
      backOutputBytes: int("back_output_bytes"),
      /** How the player is shown in it; null for pictures that predate this column. */
      outputComposition: oneOf("output_composition", COMPOSITIONS),
      /** Where it stands in its set, as JSON; null outside of sets. */
      setPlace: text("set_place"),
      /** What became of it in the account's own bucket, as JSON; null where none was named. */
      exported: text("exported"),
      createdAt: int("created_at").notNull(),
      updatedAt: int("updated_at").notNull(),
      completedAt: int("completed_at"),
      expiresAt: int("expires_at"),
      /** Before this time nobody is shown its page; null once it was published, and for most images. */
      publishAt: int("publish_at"),
      /** When the sweep removed the expired picture. */
      purgedAt: int("purged_at"),
      /**
       * When it was deleted on request: nothing personal is left in this row, which credits and counters
       * refer to.
       */
      forgottenAt: int("forgotten_at"),
      /** When the last trace of a forgotten image was gone from the database file too. */
      erasedAt: int("erased_at"),
    },
    (t) => [
      index("images_list")
        .on(t.accountId, t.environment, t.createdAt, t.id)
        .where(sql`${t.forgottenAt} is null`),
      index("images_list_state")
        .on(t.accountId, t.environment, t.state, t.createdAt, t.id)
        .where(sql`${t.forgottenAt} is null`),
      // Unfinished images, as in images_terminal; a condition that leaves `state` free for searching in the
      // index.
      index("images_queue")
        .on(t.environment, t.state, t.turn, t.createdAt, t.completedAt)
        .where(sql`${t.completedAt} is null`),
      index("images_account_queue")
        .on(t.accountId, t.environment, t.lane, t.turn)
        .where(sql`${t.completedAt} is null`),
      uniqueIndex("images_output_name").on(t.outputName).where(sql`${t.outputName} is not null`),
      uniqueIndex("images_back_output_name").on(t.backOutputName).where(sql`${t.backOutputName} is not null`),
      index("images_expiry").on(t.expiresAt).where(sql`${t.expiresAt} is not null and ${t.purgedAt} is null`),
      index("images_publication")
        .on(t.publishAt)
        .where(sql`${t.publishAt} is not null and ${t.outputName} is not null`),
      // What ended in a span of time: the audit goes through history along it.
      index("images_ended").on(t.completedAt).where(sql`${t.completedAt} is not null`),
      index("images_faults")
        .on(t.completedAt)
        .where(sql`${t.state} = 'failed' and coalesce(${t.failureReason}, '') <> 'canceled'`),
      index("images_external")
        .on(t.accountId, t.environment, t.externalId, t.createdAt, t.id)
        .where(sql`${t.forgottenAt} is null`),
      index("images_singles")
        .on(t.environment, t.turn)
        .where(sql`${t.completedAt} is null and ${t.lane} = 0`),
      index("images_source").on(t.sourceSha256).where(sql`${t.sourceSha256} is not null`),
      index("images_badge").on(t.badgeSha256).where(sql`${t.badgeSha256} is not null`),
      // Whether the few unfinished ones need a photo or badge, which many finished ones may have been made
      // from.
      index("images_open_source").on(t.sourceSha256).where(sql`${t.completedAt} is null`),
      index("images_open_badge").on(t.badgeSha256).where(sql`${t.completedAt} is null`),
      // Those that need their template: unfinished, or with a picture that is still served.
      index("images_template")
        .on(t.templateDigest)
        .where(sql`${t.templateDigest} is not null and ${t.failureCode} is null and ${t.purgedAt} is null`),
      index("images_newest").on(t.createdAt, t.id).where(sql`${t.forgottenAt} is null`),
      index("images_forgotten")
        .on(t.forgottenAt)
        .where(sql`${t.forgottenAt} is not null and ${t.erasedAt} is null`),
      check("images_lease", sql`(${t.state} = 'rendering') = (${t.leaseToken} is not null)`),
      check("images_terminal", sql`(${t.state} in ('completed', 'failed')) = (${t.completedAt} is not null)`),
      check("images_output", sql`(${t.state} = 'completed') = (${t.outputName} is not null)`),
      check("images_failure", sql`(${t.state} = 'failed') = (${t.failureCode} is not null)`),
    ],
  );

  /**
   * The metadata of images that are not forgotten, for lists by it. Its columns of the image repeat that
   * one's, so that one index leads to a page of a list.
   */
  const imageMetadata = table(
    "image_metadata",
    {
      imageId: text("image_id")
        .notNull()
        .references(() => images.id),
      accountId: text("account_id").notNull(),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      key: text("key").notNull(),
      value: text("value").notNull(),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.imageId, t.key] }),
      index("image_metadata_list").on(t.accountId, t.environment, t.key, t.value, t.createdAt, t.imageId),
    ],
  );

  /** The pictures among an image's own fields, as they were fetched. */
  const imagePictures = table(
    "image_pictures",
    {
      imageId: text("image_id")
        .notNull()
        .references(() => images.id),
      /** The field's name. */
      field: text("field").notNull(),
      sha256: text("sha256").notNull(),
    },
    (t) => [
      primaryKey({ columns: [t.imageId, t.field] }),
      index("image_pictures_source").on(t.sha256, t.imageId),
    ],
  );

  /** How a finished live picture was made: what its receipt states beyond the image's row. */
  const imageReceipts = table("image_receipts", {
    imageId: text("image_id")
      .primaryKey()
      .references(() => images.id),
    receipt: json<unknown>("receipt").notNull(),
  });

  /**
   * Immutable facts about credits; `amount` is always positive. Triggers refuse any UPDATE and DELETE, and
   * any entry that settles a reservation other than its own image's.
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
      /**
       * The month the credit belongs to: the plan grant's, or the month in which a top-up was granted or
       * used.
       */
      period: text("period").notNull(),
      amount: int("amount").notNull(),
      imageId: text("image_id").references(() => images.id),
      reason: text("reason"),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      check("ledger_amount", sql`${t.amount} > 0`),
      check("ledger_bucket", sql`${t.bucket} in ('plan', 'topup')`),
      // Each kind has a fixed shape: images move one credit at a time, grants belong to no image, only plan
      // credits expire.
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

  /**
   * Counters per UTC day, updated in the transactions that change the images, so that usage never counts
   * rows.
   */
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
      /** How many of the failed ones were canceled. */
      canceled: int("canceled").notNull().default(0),
      creditsUsed: int("credits_used").notNull(),
    },
    (t) => [primaryKey({ columns: [t.accountId, t.environment, t.day] })],
  );

  /** The same counters per key, to see which system requested what. */
  const usageKeys = table(
    "usage_keys",
    {
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      day: text("day").notNull(),
      /** "console" for requests made there. */
      keyId: text("key_id").notNull(),
      requested: int("requested").notNull(),
      completed: int("completed").notNull(),
      failed: int("failed").notNull(),
      /** How many of the failed ones were canceled. */
      canceled: int("canceled").notNull().default(0),
      creditsUsed: int("credits_used").notNull(),
    },
    (t) => [primaryKey({ columns: [t.accountId, t.environment, t.day, t.keyId] })],
  );

  /**
   * How many images failed for which reason, per day; those that failed before reasons were recorded are
   * in no row.
   */
  const usageFailures = table(
    "usage_failures",
    {
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      day: text("day").notNull(),
      /** As the API names it. */
      reason: text("reason").notNull(),
      failed: int("failed").notNull(),
    },
    (t) => [primaryKey({ columns: [t.accountId, t.environment, t.day, t.reason] })],
  );

  const season = batchTables(kit, accounts, images);

  /** Where a partner receives events of one environment. */
  const webhookEndpoints = table(
    "webhook_endpoints",
    {
      id: text("id").primaryKey(),
      accountId: text("account_id")
        .notNull()
        .references(() => accounts.id),
      environment: oneOf("environment", ENVIRONMENTS).notNull(),
      url: text("url").notNull(),
      /** The event types it receives; null for all, including future ones. */
      events: json<string[] | null>("events"),
      /**
       * Sealed with the data folder's key, like the secret it replaced, which also signs until it expires.
       */
      secret: text("secret").notNull(),
      previousSecret: text("previous_secret"),
      previousSecretExpiresAt: int("previous_secret_expires_at"),
      state: oneOf("state", WEBHOOK_ENDPOINT_STATES).notNull(),
      disabledReason: text("disabled_reason"),
      disabledAt: int("disabled_at"),
      /** The first failure since the last success; null while deliveries succeed. */
      failingSince: int("failing_since"),
      lastSuccessAt: int("last_success_at"),
      /** Nothing is sent before this time, because the receiver asked for a pause with Retry-After. */
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

  /**
   * An immutable fact, written in the transaction that makes it true, whether or not an endpoint receives it.
   */
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
      /** The request body of every delivery, identical in every attempt. */
      body: text("body").notNull(),
      createdAt: int("created_at").notNull(),
    },
    (t) => [
      uniqueIndex("webhook_events_once").on(t.subject, t.type),
      index("webhook_events_account").on(t.accountId, t.environment, t.createdAt, t.id),
      index("webhook_events_type").on(t.accountId, t.environment, t.type, t.createdAt, t.id),
      index("webhook_events_age").on(t.createdAt),
    ],
  );

  /** One event for one endpoint; this table is the queue. */
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
      /** Attempts in total. */
      attempts: int("attempts").notNull(),
      /** Attempts in the current run through the schedule; a redelivery starts a new run. */
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
      index("webhook_deliveries_type").on(t.endpointId, t.eventType, t.createdAt, t.id),
      // The few undelivered ones, which people look for among the many delivered.
      index("webhook_deliveries_undelivered")
        .on(t.accountId, t.environment, t.createdAt, t.id)
        .where(sql`${t.state} <> 'delivered'`),
      check("webhook_deliveries_next", sql`(${t.state} = 'pending') = (${t.nextAttemptAt} is not null)`),
      check("webhook_deliveries_lease", sql`(${t.state} = 'sending') = (${t.leaseToken} is not null)`),
      check("webhook_deliveries_delivered", sql`(${t.state} = 'delivered') = (${t.deliveredAt} is not null)`),
    ],
  );

  /** One request to an endpoint and its outcome. */
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
      /** Why it failed, written for the partner; null for a success. */
      error: text("error"),
      /** The beginning of a failing receiver's response. */
      answer: text("answer"),
    },
    (t) => [primaryKey({ columns: [t.deliveryId, t.number] })],
  );

  const people = peopleTables(kit, accounts);

  return {
    accounts,
    apiKeys,
    images,
    imageMetadata,
    imagePictures,
    imageReceipts,
    ledgerEntries,
    idempotencyRecords,
    usageDays,
    usageKeys,
    usageFailures,
    ...season,
    webhookEndpoints,
    webhookEvents,
    webhookDeliveries,
    deliveryAttempts,
    ...people,
    ...templateTables(kit),
    ...clubTables(kit, accounts),
    ...exportTables(kit, accounts, images),
    ...setTables(kit, accounts, images),
    ...bookTables(kit),
    ...statusTables(kit),
  };
}

export type Tables = ReturnType<typeof defineTables>;

/** The SQLite tables, exported one by one because drizzle-kit reads this module's exports. */
export const sqliteTables = defineTables(sqliteKit);
export const {
  accounts,
  apiKeys,
  images,
  imageMetadata,
  imagePictures,
  imageReceipts,
  ledgerEntries,
  idempotencyRecords,
  usageDays,
  usageKeys,
  usageFailures,
  webhookEndpoints,
  webhookEvents,
  webhookDeliveries,
  deliveryAttempts,
} = sqliteTables;
export const { photos, batches, batchCards, requestLog, requestPlayers } = sqliteTables;
export const { users, memberships, setupLinks, passkeys, identities, sessions, auditEntries, mails } =
  sqliteTables;
export const { templates, templateVersions } = sqliteTables;
export const { brandKits, playerConsents } = sqliteTables;
export const { accountBuckets, imageExports } = sqliteTables;
export const { cardSets, setPlayers, setCards } = sqliteTables;
export const { sealedSpans, sealedSums } = sqliteTables;
export const { statusDays, statusNotices } = sqliteTables;
