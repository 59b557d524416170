CREATE TABLE `account_buckets` (
	`account_id` text PRIMARY KEY NOT NULL,
	`endpoint` text NOT NULL,
	`region` text NOT NULL,
	`bucket` text NOT NULL,
	`key_pattern` text NOT NULL,
	`access_key_id` text NOT NULL,
	`secret_access_key` text NOT NULL,
	`failing_since` integer,
	`paused_until` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `image_exports` (
	`image_id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`state` text NOT NULL,
	`keys` text NOT NULL,
	`place` text,
	`attempts` integer NOT NULL,
	`next_attempt_at` integer,
	`lease_token` text,
	`lease_expires_at` integer,
	`error` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `image_exports_due` ON `image_exports` (`account_id`,`next_attempt_at`) WHERE "image_exports"."next_attempt_at" is not null;--> statement-breakpoint
CREATE INDEX `image_exports_leases` ON `image_exports` (`lease_expires_at`) WHERE "image_exports"."lease_expires_at" is not null;--> statement-breakpoint
CREATE INDEX `image_exports_failed` ON `image_exports` (`account_id`,`updated_at`,`image_id`) WHERE "image_exports"."state" = 'failed';--> statement-breakpoint
ALTER TABLE `images` ADD `exported` text;