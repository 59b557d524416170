ALTER TABLE `card_sets` ADD `idempotency_key` text;--> statement-breakpoint
ALTER TABLE `card_sets` ADD `fingerprint` text;--> statement-breakpoint
CREATE UNIQUE INDEX `card_sets_key` ON `card_sets` (`account_id`,`environment`,`idempotency_key`) WHERE "card_sets"."idempotency_key" is not null;