CREATE TABLE "account_buckets" (
	"account_id" text collate "C" PRIMARY KEY NOT NULL,
	"endpoint" text collate "C" NOT NULL,
	"region" text collate "C" NOT NULL,
	"bucket" text collate "C" NOT NULL,
	"key_pattern" text collate "C" NOT NULL,
	"access_key_id" text collate "C" NOT NULL,
	"secret_access_key" text collate "C" NOT NULL,
	"failing_since" bigint,
	"paused_until" bigint,
	"last_error" text collate "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "image_exports" (
	"image_id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"keys" text NOT NULL,
	"place" text collate "C",
	"attempts" bigint NOT NULL,
	"next_attempt_at" bigint,
	"lease_token" text collate "C",
	"lease_expires_at" bigint,
	"error" text collate "C",
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "images" ADD COLUMN "exported" text collate "C";--> statement-breakpoint
ALTER TABLE "account_buckets" ADD CONSTRAINT "account_buckets_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "image_exports" ADD CONSTRAINT "image_exports_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "image_exports_due" ON "image_exports" USING btree ("account_id","next_attempt_at") WHERE "image_exports"."next_attempt_at" is not null;--> statement-breakpoint
CREATE INDEX "image_exports_leases" ON "image_exports" USING btree ("lease_expires_at") WHERE "image_exports"."lease_expires_at" is not null;--> statement-breakpoint
CREATE INDEX "image_exports_failed" ON "image_exports" USING btree ("account_id","updated_at","image_id") WHERE "image_exports"."state" = 'failed';