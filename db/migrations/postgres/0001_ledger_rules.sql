-- Written by hand: drizzle-kit knows no triggers.
CREATE FUNCTION "refuse_ledger_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'ledger entries are immutable';
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "ledger_entries_no_update" BEFORE UPDATE ON "ledger_entries"
FOR EACH ROW EXECUTE FUNCTION "refuse_ledger_change"();
--> statement-breakpoint
CREATE TRIGGER "ledger_entries_no_delete" BEFORE DELETE ON "ledger_entries"
FOR EACH ROW EXECUTE FUNCTION "refuse_ledger_change"();
--> statement-breakpoint
CREATE TRIGGER "ledger_entries_no_truncate" BEFORE TRUNCATE ON "ledger_entries"
FOR EACH STATEMENT EXECUTE FUNCTION "refuse_ledger_change"();
--> statement-breakpoint
CREATE FUNCTION "match_ledger_resolution"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (
		SELECT 1 FROM "ledger_entries" AS r
		WHERE r."kind" = 'reserve' AND r."image_id" = NEW."image_id" AND r."account_id" = NEW."account_id"
			AND r."bucket" = NEW."bucket" AND r."period" = NEW."period"
	) THEN
		RAISE EXCEPTION 'this ends no reservation of its image, account, bucket and period';
	END IF;
	RETURN NEW;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "ledger_entries_resolution_matches" BEFORE INSERT ON "ledger_entries"
FOR EACH ROW WHEN (NEW."kind" IN ('settle', 'release')) EXECUTE FUNCTION "match_ledger_resolution"();
--> statement-breakpoint
CREATE FUNCTION "match_ledger_late_expiry"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	IF NOT EXISTS (
		SELECT 1 FROM "ledger_entries" AS r
		WHERE r."kind" = 'release' AND r."image_id" = NEW."image_id" AND r."account_id" = NEW."account_id"
			AND r."bucket" = NEW."bucket" AND r."period" = NEW."period"
	) THEN
		RAISE EXCEPTION 'this expires no released credit of its image, account and period';
	END IF;
	RETURN NEW;
END;
$$;
--> statement-breakpoint
CREATE TRIGGER "ledger_entries_late_expiry_matches" BEFORE INSERT ON "ledger_entries"
FOR EACH ROW WHEN (NEW."kind" = 'expire' AND NEW."image_id" IS NOT NULL) EXECUTE FUNCTION "match_ledger_late_expiry"();
