CREATE TABLE `sealed_spans` (
	`until` integer PRIMARY KEY NOT NULL,
	`images` integer NOT NULL,
	`sums` text NOT NULL,
	`digest` text NOT NULL,
	`sealed_at` integer NOT NULL,
	`checked_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `sealed_sums` (
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`bucket` text NOT NULL,
	`period` text NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`expired` integer NOT NULL,
	PRIMARY KEY(`account_id`, `environment`, `bucket`, `period`)
);
--> statement-breakpoint
CREATE INDEX `images_ended` ON `images` (`completed_at`) WHERE "images"."completed_at" is not null;