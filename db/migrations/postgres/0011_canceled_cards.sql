ALTER TABLE "batches" ADD COLUMN "canceled" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "images" ADD COLUMN "failure_reason" text collate "C";--> statement-breakpoint
ALTER TABLE "usage_days" ADD COLUMN "canceled" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "usage_keys" ADD COLUMN "canceled" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Cards that were canceled before this was told apart: by the message they have had.
UPDATE images SET failure_reason = 'canceled' WHERE state = 'failed' AND failure_message = 'The batch was canceled before this card was made. Nothing was charged.';--> statement-breakpoint
UPDATE usage_days SET canceled = c.n FROM (SELECT account_id, environment, to_char(to_timestamp(completed_at / 1000) at time zone 'UTC', 'YYYY-MM-DD') AS day, count(*) AS n FROM images WHERE state = 'failed' AND failure_reason = 'canceled' GROUP BY 1, 2, 3) AS c WHERE c.account_id = usage_days.account_id AND c.environment = usage_days.environment AND c.day = usage_days.day;--> statement-breakpoint
UPDATE usage_keys SET canceled = c.n FROM (SELECT account_id, environment, to_char(to_timestamp(completed_at / 1000) at time zone 'UTC', 'YYYY-MM-DD') AS day, coalesce(key_id, 'console') AS key_id, count(*) AS n FROM images WHERE state = 'failed' AND failure_reason = 'canceled' GROUP BY 1, 2, 3, 4) AS c WHERE c.account_id = usage_keys.account_id AND c.environment = usage_keys.environment AND c.day = usage_keys.day AND c.key_id = usage_keys.key_id;--> statement-breakpoint
UPDATE batches SET canceled = (SELECT count(*) FROM batch_cards JOIN images ON images.id = batch_cards.image_id WHERE batch_cards.batch_id = batches.id AND images.failure_reason = 'canceled') WHERE canceled_at IS NOT NULL;--> statement-breakpoint
DROP INDEX "images_failures";--> statement-breakpoint
CREATE INDEX "images_faults" ON "images" USING btree ("completed_at") WHERE "images"."state" = 'failed' and coalesce("images"."failure_reason", '') <> 'canceled';