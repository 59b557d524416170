CREATE TABLE `batch_cards` (
	`batch_id` text NOT NULL,
	`position` integer NOT NULL,
	`image_id` text NOT NULL,
	PRIMARY KEY(`batch_id`, `position`),
	FOREIGN KEY (`batch_id`) REFERENCES `batches`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `batch_cards_image` ON `batch_cards` (`image_id`);--> statement-breakpoint
CREATE TABLE `batches` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`name` text NOT NULL,
	`idempotency_key` text,
	`fingerprint` text NOT NULL,
	`total` integer NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`canceled_at` integer,
	`completed_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "batches_counts" CHECK("batches"."completed" + "batches"."failed" <= "batches"."total"),
	CONSTRAINT "batches_end" CHECK(("batches"."completed" + "batches"."failed" = "batches"."total") = ("batches"."completed_at" is not null))
);
--> statement-breakpoint
CREATE INDEX `batches_list` ON `batches` (`account_id`,`environment`,`created_at`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `batches_key` ON `batches` (`account_id`,`environment`,`idempotency_key`) WHERE "batches"."idempotency_key" is not null;--> statement-breakpoint
CREATE INDEX `batches_canceled` ON `batches` (`canceled_at`) WHERE "batches"."canceled_at" is not null and "batches"."completed_at" is null;--> statement-breakpoint
CREATE TABLE `photos` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`sha256` text NOT NULL,
	`content_type` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`bytes` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `photos_account` ON `photos` (`account_id`,`expires_at`,`bytes`);--> statement-breakpoint
CREATE INDEX `photos_expiry` ON `photos` (`expires_at`);--> statement-breakpoint
CREATE INDEX `photos_sha256` ON `photos` (`sha256`);--> statement-breakpoint
CREATE TABLE `request_log` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`key_id` text NOT NULL,
	`method` text NOT NULL,
	`path` text NOT NULL,
	`status` integer NOT NULL,
	`code` text,
	`duration_ms` integer NOT NULL,
	`external_id` text,
	`details` text,
	`body` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `request_log_list` ON `request_log` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `request_log_refused` ON `request_log` (`account_id`,`created_at`,`id`) WHERE "request_log"."status" >= 400;--> statement-breakpoint
CREATE INDEX `request_log_external` ON `request_log` (`account_id`,`external_id`,`created_at`,`id`) WHERE "request_log"."external_id" is not null;--> statement-breakpoint
CREATE INDEX `request_log_age` ON `request_log` (`created_at`);--> statement-breakpoint
CREATE TABLE `usage_keys` (
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`day` text NOT NULL,
	`key_id` text NOT NULL,
	`requested` integer NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`credits_used` integer NOT NULL,
	PRIMARY KEY(`account_id`, `environment`, `day`, `key_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
DROP INDEX `images_list`;--> statement-breakpoint
DROP INDEX `images_list_state`;--> statement-breakpoint
DROP INDEX `images_account_queue`;--> statement-breakpoint
ALTER TABLE `images` ADD `player_name` text DEFAULT '' NOT NULL;--> statement-breakpoint
ALTER TABLE `images` ADD `key_id` text;--> statement-breakpoint
ALTER TABLE `images` ADD `lane` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `images` ADD `forgotten_at` integer;--> statement-breakpoint
ALTER TABLE `images` ADD `erased_at` integer;--> statement-breakpoint
CREATE INDEX `images_singles` ON `images` (`environment`,`turn`) WHERE "images"."completed_at" is null and "images"."lane" = 0;--> statement-breakpoint
CREATE INDEX `images_source` ON `images` (`source_sha256`) WHERE "images"."source_sha256" is not null;--> statement-breakpoint
CREATE INDEX `images_badge` ON `images` (`badge_sha256`) WHERE "images"."badge_sha256" is not null;--> statement-breakpoint
CREATE INDEX `images_forgotten` ON `images` (`forgotten_at`) WHERE "images"."forgotten_at" is not null and "images"."erased_at" is null;--> statement-breakpoint
CREATE INDEX `images_list` ON `images` (`account_id`,`environment`,`created_at`,`id`) WHERE "images"."forgotten_at" is null;--> statement-breakpoint
CREATE INDEX `images_list_state` ON `images` (`account_id`,`environment`,`state`,`created_at`,`id`) WHERE "images"."forgotten_at" is null;--> statement-breakpoint
CREATE INDEX `images_account_queue` ON `images` (`account_id`,`environment`,`lane`,`turn`) WHERE "images"."completed_at" is null;--> statement-breakpoint
ALTER TABLE `accounts` ADD `retention_days` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `forget_after_days` integer;--> statement-breakpoint
UPDATE `images` SET `player_name` = lower(coalesce(json_extract(`request`, '$.player.name'), ''));
