CREATE TABLE "usage_failures" (
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"day" text collate "C" NOT NULL,
	"reason" text collate "C" NOT NULL,
	"failed" bigint NOT NULL,
	CONSTRAINT "usage_failures_account_id_environment_day_reason_pk" PRIMARY KEY("account_id","environment","day","reason")
);
--> statement-breakpoint
ALTER TABLE "usage_failures" ADD CONSTRAINT "usage_failures_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;