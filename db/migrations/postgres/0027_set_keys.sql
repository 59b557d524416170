ALTER TABLE "card_sets" ADD COLUMN "idempotency_key" text collate "C";--> statement-breakpoint
ALTER TABLE "card_sets" ADD COLUMN "fingerprint" text collate "C";--> statement-breakpoint
CREATE UNIQUE INDEX "card_sets_key" ON "card_sets" USING btree ("account_id","environment","idempotency_key") WHERE "card_sets"."idempotency_key" is not null;