ALTER TABLE "accounts" ADD COLUMN "traces_at" bigint;--> statement-breakpoint
CREATE INDEX "accounts_traces" ON "accounts" USING btree ("traces_at") WHERE "accounts"."traces_at" is not null;