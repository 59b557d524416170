CREATE TABLE `request_players` (
	`request_id` text NOT NULL,
	`account_id` text NOT NULL,
	`external_id` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`request_id`, `external_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `request_players_external` ON `request_players` (`account_id`,`external_id`,`request_id`);--> statement-breakpoint
CREATE INDEX `request_players_age` ON `request_players` (`created_at`);