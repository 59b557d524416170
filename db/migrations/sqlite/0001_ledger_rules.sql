-- Written by hand: drizzle-kit knows no triggers.
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

--> statement-breakpoint
-- REPLACE deletes the rows in its way without asking the triggers of deletes, unless the connection wants them asked.
CREATE TRIGGER `ledger_entries_no_replace` BEFORE INSERT ON `ledger_entries`
WHEN EXISTS (SELECT 1 FROM `ledger_entries` WHERE `id` = NEW.`id`)
	OR EXISTS (SELECT 1 FROM `ledger_entries` AS r WHERE NEW.`kind` = 'reserve' AND r.`kind` = 'reserve' AND r.`image_id` = NEW.`image_id`)
	OR EXISTS (SELECT 1 FROM `ledger_entries` AS r WHERE NEW.`kind` IN ('settle', 'release') AND r.`kind` IN ('settle', 'release') AND r.`image_id` = NEW.`image_id`)
	OR EXISTS (SELECT 1 FROM `ledger_entries` AS r WHERE NEW.`kind` = 'expire' AND r.`kind` = 'expire' AND r.`image_id` IS NOT NULL AND r.`image_id` = NEW.`image_id`)
	OR EXISTS (SELECT 1 FROM `ledger_entries` AS r WHERE NEW.`kind` = 'grant' AND NEW.`bucket` = 'plan'
		AND r.`kind` = 'grant' AND r.`bucket` = 'plan' AND r.`account_id` = NEW.`account_id` AND r.`period` = NEW.`period`)
	OR EXISTS (SELECT 1 FROM `ledger_entries` AS r WHERE NEW.`kind` = 'expire' AND NEW.`image_id` IS NULL
		AND r.`kind` = 'expire' AND r.`image_id` IS NULL AND r.`account_id` = NEW.`account_id` AND r.`period` = NEW.`period`)
BEGIN
	SELECT RAISE(ABORT, 'ledger entries are immutable');
END;
