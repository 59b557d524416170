CREATE TABLE "request_players" (
	"request_id" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"external_id" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "request_players_request_id_external_id_pk" PRIMARY KEY("request_id","external_id")
);
--> statement-breakpoint
ALTER TABLE "request_players" ADD CONSTRAINT "request_players_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "request_players_external" ON "request_players" USING btree ("account_id","external_id","request_id");--> statement-breakpoint
CREATE INDEX "request_players_age" ON "request_players" USING btree ("created_at");