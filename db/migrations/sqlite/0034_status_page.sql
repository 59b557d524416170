CREATE TABLE `status_days` (
	`day` text PRIMARY KEY NOT NULL,
	`minutes` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `status_notices` (
	`id` text PRIMARY KEY NOT NULL,
	`title` text NOT NULL,
	`message` text NOT NULL,
	`posted_at` integer NOT NULL,
	`resolved_at` integer
);
--> statement-breakpoint
CREATE INDEX `status_notices_posted` ON `status_notices` (`posted_at`);