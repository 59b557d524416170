CREATE TABLE `mails` (
	`id` text PRIMARY KEY NOT NULL,
	`occasion` text NOT NULL,
	`kind` text NOT NULL,
	`recipient` text NOT NULL,
	`subject` text NOT NULL,
	`body` text NOT NULL,
	`state` text NOT NULL,
	`attempts` integer NOT NULL,
	`next_attempt_at` integer,
	`last_error` text,
	`created_at` integer NOT NULL,
	`ended_at` integer,
	CONSTRAINT "mails_next" CHECK(("mails"."state" = 'pending') = ("mails"."next_attempt_at" is not null))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `mails_once` ON `mails` (`occasion`,`recipient`);--> statement-breakpoint
CREATE INDEX `mails_queue` ON `mails` (`next_attempt_at`) WHERE "mails"."state" = 'pending';--> statement-breakpoint
CREATE INDEX `mails_age` ON `mails` (`created_at`,`id`);