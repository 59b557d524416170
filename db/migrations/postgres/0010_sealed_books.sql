CREATE TABLE "sealed_spans" (
	"until" bigint PRIMARY KEY NOT NULL,
	"images" bigint NOT NULL,
	"sums" text NOT NULL,
	"digest" text collate "C" NOT NULL,
	"sealed_at" bigint NOT NULL,
	"checked_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sealed_sums" (
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"bucket" text collate "C" NOT NULL,
	"period" text collate "C" NOT NULL,
	"completed" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"expired" bigint NOT NULL,
	CONSTRAINT "sealed_sums_account_id_environment_bucket_period_pk" PRIMARY KEY("account_id","environment","bucket","period")
);
--> statement-breakpoint
CREATE INDEX "images_ended" ON "images" USING btree ("completed_at") WHERE "images"."completed_at" is not null;