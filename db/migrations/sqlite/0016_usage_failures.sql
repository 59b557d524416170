CREATE TABLE `usage_failures` (
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`day` text NOT NULL,
	`reason` text NOT NULL,
	`failed` integer NOT NULL,
	PRIMARY KEY(`account_id`, `environment`, `day`, `reason`),
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action
);
