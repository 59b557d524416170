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
