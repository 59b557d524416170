CREATE TABLE `card_sets` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`name` text NOT NULL,
	`season` text NOT NULL,
	`parallels` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `card_sets_list` ON `card_sets` (`account_id`,`environment`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `set_cards` (
	`image_id` text PRIMARY KEY NOT NULL,
	`set_id` text NOT NULL,
	`player` integer NOT NULL,
	`parallel` text NOT NULL,
	`serial` integer,
	`size` integer,
	`state` text NOT NULL,
	`replaces_image_id` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`set_id`) REFERENCES `card_sets`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "set_cards_range" CHECK("set_cards"."serial" is null or ("set_cards"."serial" >= 1 and "set_cards"."serial" <= "set_cards"."size"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `set_cards_serial` ON `set_cards` (`set_id`,`player`,`parallel`,`serial`) WHERE "set_cards"."serial" is not null and "set_cards"."state" in ('held', 'final');--> statement-breakpoint
CREATE INDEX `set_cards_list` ON `set_cards` (`set_id`,`player`,`parallel`,`state`);--> statement-breakpoint
CREATE TABLE `set_players` (
	`set_id` text NOT NULL,
	`position` integer NOT NULL,
	`external_id` text NOT NULL,
	`name` text NOT NULL,
	`number` integer,
	PRIMARY KEY(`set_id`, `position`),
	FOREIGN KEY (`set_id`) REFERENCES `card_sets`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `set_players_external` ON `set_players` (`external_id`,`set_id`) WHERE "set_players"."external_id" <> '';