CREATE TABLE `player_consents` (
	`account_id` text NOT NULL,
	`external_id` text NOT NULL,
	`no_photo` integer NOT NULL,
	`no_full_name` integer NOT NULL,
	`ends_at` integer,
	`withdrawn_at` integer,
	`recalled_at` integer,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	PRIMARY KEY(`account_id`, `external_id`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `player_consents_list` ON `player_consents` (`account_id`,`updated_at`,`external_id`);--> statement-breakpoint
CREATE INDEX `player_consents_due` ON `player_consents` (`ends_at`) WHERE "player_consents"."ends_at" is not null and "player_consents"."recalled_at" is null;--> statement-breakpoint
CREATE INDEX `player_consents_recalled` ON `player_consents` (`recalled_at`) WHERE "player_consents"."recalled_at" is not null;