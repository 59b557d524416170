ALTER TABLE `accounts` ADD `traces_at` integer;--> statement-breakpoint
CREATE INDEX `accounts_traces` ON `accounts` (`traces_at`) WHERE "accounts"."traces_at" is not null;