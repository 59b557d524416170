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
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_account` ON `api_keys` (`account_id`,`created_at`,`id`);--> statement-breakpoint
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
CREATE INDEX `images_queue` ON `images` (`environment`,`state`,`turn`,`created_at`) WHERE "images"."state" in ('queued', 'rendering');--> statement-breakpoint
CREATE INDEX `images_account_queue` ON `images` (`account_id`,`environment`,`turn`) WHERE "images"."state" in ('queued', 'rendering');--> statement-breakpoint
CREATE UNIQUE INDEX `images_output_name` ON `images` (`output_name`) WHERE "images"."output_name" is not null;--> statement-breakpoint
CREATE INDEX `images_expiry` ON `images` (`expires_at`) WHERE "images"."expires_at" is not null and "images"."purged_at" is null;--> statement-breakpoint
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
	CONSTRAINT "ledger_amount" CHECK("ledger_entries"."amount" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_reserve` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" = 'reserve';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_resolution` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" in ('settle', 'release');--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_late_expiry` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_grant` ON `ledger_entries` (`account_id`,`period`) WHERE "ledger_entries"."kind" = 'grant' and "ledger_entries"."bucket" = 'plan';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_expiry` ON `ledger_entries` (`account_id`,`period`) WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is null;--> statement-breakpoint
CREATE INDEX `ledger_account` ON `ledger_entries` (`account_id`,`created_at`,`id`);--> statement-breakpoint
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
