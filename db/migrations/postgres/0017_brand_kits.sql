CREATE TABLE "brand_kits" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"preset" text collate "C" NOT NULL,
	"composition" text collate "C" NOT NULL,
	"background_theme" text collate "C" NOT NULL,
	"primary_color" text collate "C" NOT NULL,
	"secondary_color" text collate "C" NOT NULL,
	"badge_url" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "brand_kits" ADD CONSTRAINT "brand_kits_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "brand_kits_name" ON "brand_kits" USING btree ("account_id","name");