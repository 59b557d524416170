ALTER TABLE `accounts` ADD `usage_budget` integer;--> statement-breakpoint
ALTER TABLE `accounts` ADD `usage_alerts` text;