CREATE TABLE `identities` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`issuer` text NOT NULL,
	`subject` text NOT NULL,
	`email` text,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `identities_subject` ON `identities` (`issuer`,`subject`);--> statement-breakpoint
CREATE INDEX `identities_user` ON `identities` (`user_id`);--> statement-breakpoint
ALTER TABLE `memberships` ADD `group_role` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `hand_role` text;--> statement-breakpoint
ALTER TABLE `sessions` ADD `identity_id` text;--> statement-breakpoint
ALTER TABLE `users` ADD `operator_by_groups` integer DEFAULT 0 NOT NULL;