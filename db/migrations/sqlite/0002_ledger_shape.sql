CREATE TABLE `__new_ledger_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`kind` text NOT NULL,
	`bucket` text NOT NULL,
	`period` text NOT NULL,
	`amount` integer NOT NULL,
	`image_id` text,
	`reason` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `accounts`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "ledger_amount" CHECK("__new_ledger_entries"."amount" > 0),
	CONSTRAINT "ledger_bucket" CHECK("__new_ledger_entries"."bucket" in ('plan', 'topup')),
	CONSTRAINT "ledger_shape" CHECK(case "__new_ledger_entries"."kind"
          when 'grant' then "__new_ledger_entries"."image_id" is null
          when 'expire' then "__new_ledger_entries"."bucket" = 'plan' and ("__new_ledger_entries"."image_id" is null or "__new_ledger_entries"."amount" = 1)
          else "__new_ledger_entries"."kind" in ('reserve', 'settle', 'release') and "__new_ledger_entries"."image_id" is not null and "__new_ledger_entries"."amount" = 1
        end)
);
--> statement-breakpoint
INSERT INTO `__new_ledger_entries`("id", "account_id", "kind", "bucket", "period", "amount", "image_id", "reason", "created_at") SELECT "id", "account_id", "kind", "bucket", "period", "amount", "image_id", "reason", "created_at" FROM `ledger_entries`;--> statement-breakpoint
DROP TABLE `ledger_entries`;--> statement-breakpoint
ALTER TABLE `__new_ledger_entries` RENAME TO `ledger_entries`;--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_reserve` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" = 'reserve';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_resolution` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" in ('settle', 'release');--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_late_expiry` ON `ledger_entries` (`image_id`) WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_grant` ON `ledger_entries` (`account_id`,`period`) WHERE "ledger_entries"."kind" = 'grant' and "ledger_entries"."bucket" = 'plan';--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_one_expiry` ON `ledger_entries` (`account_id`,`period`) WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is null;--> statement-breakpoint
CREATE INDEX `ledger_account` ON `ledger_entries` (`account_id`,`created_at`,`id`);--> statement-breakpoint
-- The old table took its triggers with it.
CREATE TRIGGER `ledger_entries_no_update` BEFORE UPDATE ON `ledger_entries`
BEGIN
	SELECT RAISE(ABORT, 'ledger entries are immutable');
END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_no_delete` BEFORE DELETE ON `ledger_entries`
BEGIN
	SELECT RAISE(ABORT, 'ledger entries are immutable');
END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_resolution_matches` BEFORE INSERT ON `ledger_entries`
WHEN NEW.`kind` IN ('settle', 'release') AND NOT EXISTS (
	SELECT 1 FROM `ledger_entries` AS r
	WHERE r.`kind` = 'reserve' AND r.`image_id` = NEW.`image_id` AND r.`account_id` = NEW.`account_id`
		AND r.`bucket` = NEW.`bucket` AND r.`period` = NEW.`period`
)
BEGIN
	SELECT RAISE(ABORT, 'this ends no reservation of its image, account, bucket and period');
END;
--> statement-breakpoint
CREATE TRIGGER `ledger_entries_late_expiry_matches` BEFORE INSERT ON `ledger_entries`
WHEN NEW.`kind` = 'expire' AND NEW.`image_id` IS NOT NULL AND NOT EXISTS (
	SELECT 1 FROM `ledger_entries` AS r
	WHERE r.`kind` = 'release' AND r.`image_id` = NEW.`image_id` AND r.`account_id` = NEW.`account_id`
		AND r.`bucket` = NEW.`bucket` AND r.`period` = NEW.`period`
)
BEGIN
	SELECT RAISE(ABORT, 'this expires no released credit of its image, account and period');
END;
