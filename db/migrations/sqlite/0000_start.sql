CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`tier` text NOT NULL,
	`status` text NOT NULL,
	`suspended_reason` text,
	`credit_limit` integer NOT NULL,
	`plan_period` text NOT NULL,
	`credits_plan` integer NOT NULL,
	`credits_topup` integer NOT NULL,
	`credits_held` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	CONSTRAINT "accounts_credits_plan" CHECK("accounts"."credits_plan" >= 0),
	CONSTRAINT "accounts_credits_topup" CHECK("accounts"."credits_topup" >= 0),
	CONSTRAINT "accounts_credits_held" CHECK("accounts"."credits_held" >= 0)
);
--> statement-breakpoint
CREATE INDEX `accounts_plan_period` ON `accounts` (`plan_period`);--> statement-breakpoint
CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`prefix` text NOT NULL,
	`last4` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer,
	`replaces_key_id` text,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `audit_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`account_id` text,
	`action` text NOT NULL,
	`subject` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `audit_time` ON `audit_entries` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_account` ON `audit_entries` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`delivery_id` text NOT NULL,
	`number` integer NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`status` integer,
	`error` text,
	`answer` text,
	PRIMARY KEY(`delivery_id`, `number`),
	FOREIGN KEY (`delivery_id`) REFERENCES `webhook_deliveries`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `idempotency_records` (
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`image_id` text NOT NULL,
	`response_body` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `environment`, `key`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `idempotency_expiry` ON `idempotency_records` (`expires_at`);--> statement-breakpoint
CREATE INDEX `idempotency_image` ON `idempotency_records` (`image_id`);--> statement-breakpoint
CREATE TABLE `images` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`state` text NOT NULL,
	`type` text NOT NULL,
	`external_id` text NOT NULL,
	`request` text NOT NULL,
	`source_sha256` text,
	`badge_sha256` text,
	`turn` integer NOT NULL,
	`available_at` integer NOT NULL,
	`renders` integer NOT NULL,
	`lease_token` text,
	`lease_expires_at` integer,
	`failure_code` text,
	`failure_message` text,
	`output_name` text,
	`output_width` integer,
	`output_height` integer,
	`output_content_type` text,
	`output_bytes` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`completed_at` integer,
	`expires_at` integer,
	`purged_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "images_lease" CHECK(("images"."state" = 'rendering') = ("images"."lease_token" is not null)),
	CONSTRAINT "images_terminal" CHECK(("images"."state" in ('completed', 'failed')) = ("images"."completed_at" is not null)),
	CONSTRAINT "images_output" CHECK(("images"."state" = 'completed') = ("images"."output_name" is not null)),
	CONSTRAINT "images_failure" CHECK(("images"."state" = 'failed') = ("images"."failure_code" is not null))
);
--> statement-breakpoint
CREATE INDEX `images_list` ON `images` (`account_id`,`environment`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `images_list_state` ON `images` (`account_id`,`environment`,`state`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `images_queue` ON `images` (`environment`,`state`,`turn`,`created_at`,`completed_at`) WHERE "images"."completed_at" is null;--> statement-breakpoint
CREATE INDEX `images_account_queue` ON `images` (`account_id`,`environment`,`turn`) WHERE "images"."completed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX `images_output_name` ON `images` (`output_name`) WHERE "images"."output_name" is not null;--> statement-breakpoint
CREATE INDEX `images_expiry` ON `images` (`expires_at`) WHERE "images"."expires_at" is not null and "images"."purged_at" is null;--> statement-breakpoint
CREATE INDEX `images_failures` ON `images` (`completed_at`) WHERE "images"."state" = 'failed';--> statement-breakpoint
CREATE INDEX `images_external` ON `images` (`account_id`,`environment`,`external_id`);--> statement-breakpoint
CREATE TABLE `ledger_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`bucket` text NOT NULL,
	`period` text NOT NULL,
	`amount` integer NOT NULL,
	`image_id` text,
	`reason` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "ledger_amount" CHECK("ledger_entries"."amount" > 0),
	CONSTRAINT "ledger_bucket" CHECK("ledger_entries"."bucket" in ('plan', 'topup')),
	CONSTRAINT "ledger_shape" CHECK(case "ledger_entries"."kind"
          when 'grant' then "ledger_entries"."image_id" is null
          when 'expire' then "ledger_entries"."bucket" = 'plan' and ("ledger_entries"."image_id" is null or "ledger_entries"."amount" = 1)
          else "ledger_entries"."kind" in ('reserve', 'settle', 'release') and "ledger_entries"."image_id" is not null and "ledger_entries"."amount" = 1
        end)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_reserve` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" = 'reserve';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_resolution` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" in ('settle', 'release');--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_late_expiry` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_grant` ON `ledger_entries` (`account_id`,`period`) WHERE "ledger_entries"."kind" = 'grant' and "ledger_entries"."bucket" = 'plan';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_expiry` ON `ledger_entries` (`account_id`,`period`) WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is null;--> statement-breakpoint
CREATE INDEX `ledger_account` ON `ledger_entries` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `ledger_grants` ON `ledger_entries` (`account_id`,`created_at`,`id`) WHERE "ledger_entries"."kind" = 'grant';--> statement-breakpoint
CREATE TABLE `memberships` (
	`user_id` text NOT NULL,
	`account_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`user_id`, `account_id`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `memberships_account` ON `memberships` (`account_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `passkeys` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`credential_id` text NOT NULL,
	`public_key` text NOT NULL,
	`counter` integer NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `passkeys_credential` ON `passkeys` (`credential_id`);--> statement-breakpoint
CREATE INDEX `passkeys_user` ON `passkeys` (`user_id`);--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`token_hash` text NOT NULL,
	`user_id` text NOT NULL,
	`csrf_token` text NOT NULL,
	`account_id` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token` ON `sessions` (`token_hash`);--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE INDEX `sessions_expiry` ON `sessions` (`expires_at`);--> statement-breakpoint
CREATE TABLE `setup_links` (
	`token_hash` text PRIMARY KEY NOT NULL,
	`user_id` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`used_at` integer,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `setup_links_user` ON `setup_links` (`user_id`);--> statement-breakpoint
CREATE INDEX `setup_links_expiry` ON `setup_links` (`expires_at`);--> statement-breakpoint
CREATE TABLE `usage_days` (
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`day` text NOT NULL,
	`requested` integer NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`credits_used` integer NOT NULL,
	PRIMARY KEY(`account_id`, `environment`, `day`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`password_hash` text,
	`is_operator` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_sign_in_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email`);--> statement-breakpoint
CREATE INDEX `users_operators` ON `users` (`created_at`) WHERE "users"."is_operator" = 1;--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`event_id` text NOT NULL,
	`endpoint_id` text NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`event_type` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`step` integer NOT NULL,
	`next_attempt_at` integer,
	`lease_token` text,
	`lease_expires_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`delivered_at` integer,
	FOREIGN KEY (`event_id`) REFERENCES `webhook_events`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`endpoint_id`) REFERENCES `webhook_endpoints`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "webhook_deliveries_next" CHECK(("webhook_deliveries"."state" = 'pending') = ("webhook_deliveries"."next_attempt_at" is not null)),
	CONSTRAINT "webhook_deliveries_lease" CHECK(("webhook_deliveries"."state" = 'sending') = ("webhook_deliveries"."lease_token" is not null)),
	CONSTRAINT "webhook_deliveries_delivered" CHECK(("webhook_deliveries"."state" = 'delivered') = ("webhook_deliveries"."delivered_at" is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_once` ON `webhook_deliveries` (`event_id`,`endpoint_id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_queue` ON `webhook_deliveries` (`endpoint_id`,`next_attempt_at`) WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_leases` ON `webhook_deliveries` (`lease_expires_at`) WHERE "webhook_deliveries"."state" = 'sending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_account` ON `webhook_deliveries` (`account_id`,`environment`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_endpoint` ON `webhook_deliveries` (`endpoint_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_undelivered` ON `webhook_deliveries` (`account_id`,`environment`,`created_at`,`id`) WHERE "webhook_deliveries"."state" <> 'delivered';--> statement-breakpoint
CREATE TABLE `webhook_endpoints` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`url` text NOT NULL,
	`events` text,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_secret_expires_at` integer,
	`state` text NOT NULL,
	`disabled_reason` text,
	`disabled_at` integer,
	`failing_since` integer,
	`last_success_at` integer,
	`paused_until` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "webhook_endpoints_disabled" CHECK(("webhook_endpoints"."state" = 'enabled') = ("webhook_endpoints"."disabled_at" is null)),
	CONSTRAINT "webhook_endpoints_previous" CHECK(("webhook_endpoints"."previous_secret" is null) = ("webhook_endpoints"."previous_secret_expires_at" is null))
);
--> statement-breakpoint
CREATE INDEX `webhook_endpoints_account` ON `webhook_endpoints` (`account_id`,`environment`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_endpoints_state` ON `webhook_endpoints` (`state`);--> statement-breakpoint
CREATE TABLE `webhook_events` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`type` text NOT NULL,
	`subject` text NOT NULL,
	`body` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_events_once` ON `webhook_events` (`subject`,`type`);--> statement-breakpoint
CREATE INDEX `webhook_events_account` ON `webhook_events` (`account_id`,`environment`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_events_age` ON `webhook_events` (`created_at`);