CREATE TABLE "player_consents" (
	"account_id" text collate "C" NOT NULL,
	"external_id" text collate "C" NOT NULL,
	"no_photo" bigint NOT NULL,
	"no_full_name" bigint NOT NULL,
	"ends_at" bigint,
	"withdrawn_at" bigint,
	"recalled_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "player_consents_account_id_external_id_pk" PRIMARY KEY("account_id","external_id")
);
--> statement-breakpoint
ALTER TABLE "player_consents" ADD CONSTRAINT "player_consents_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "player_consents_list" ON "player_consents" USING btree ("account_id","updated_at","external_id");--> statement-breakpoint
CREATE INDEX "player_consents_due" ON "player_consents" USING btree ("ends_at") WHERE "player_consents"."ends_at" is not null and "player_consents"."recalled_at" is null;--> statement-breakpoint
CREATE INDEX "player_consents_recalled" ON "player_consents" USING btree ("recalled_at") WHERE "player_consents"."recalled_at" is not null;