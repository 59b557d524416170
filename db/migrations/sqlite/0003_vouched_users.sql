ALTER TABLE `setup_links` ADD `is_vouched` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `users` ADD `is_vouched` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Who vouched for whom was not written down until now. Operators hold every power there is already; for all others it is asked again.
UPDATE `users` SET `is_vouched` = 1 WHERE `is_operator` = 1;
