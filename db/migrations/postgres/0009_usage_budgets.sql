ALTER TABLE "accounts" ADD COLUMN "usage_budget" bigint;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "usage_alerts" text;