CREATE TABLE "card_sets" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"season" text collate "C" NOT NULL,
	"parallels" text NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "set_cards" (
	"image_id" text collate "C" PRIMARY KEY NOT NULL,
	"set_id" text collate "C" NOT NULL,
	"player" bigint NOT NULL,
	"parallel" text collate "C" NOT NULL,
	"serial" bigint,
	"size" bigint,
	"state" text collate "C" NOT NULL,
	"replaces_image_id" text collate "C",
	"created_at" bigint NOT NULL,
	CONSTRAINT "set_cards_range" CHECK ("set_cards"."serial" is null or ("set_cards"."serial" >= 1 and "set_cards"."serial" <= "set_cards"."size"))
);
--> statement-breakpoint
CREATE TABLE "set_players" (
	"set_id" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"external_id" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"number" bigint,
	CONSTRAINT "set_players_set_id_position_pk" PRIMARY KEY("set_id","position")
);
--> statement-breakpoint
ALTER TABLE "card_sets" ADD CONSTRAINT "card_sets_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "set_cards" ADD CONSTRAINT "set_cards_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "set_cards" ADD CONSTRAINT "set_cards_set_id_card_sets_id_fk" FOREIGN KEY ("set_id") REFERENCES "public"."card_sets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "set_players" ADD CONSTRAINT "set_players_set_id_card_sets_id_fk" FOREIGN KEY ("set_id") REFERENCES "public"."card_sets"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "card_sets_list" ON "card_sets" USING btree ("account_id","environment","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "set_cards_serial" ON "set_cards" USING btree ("set_id","player","parallel","serial") WHERE "set_cards"."serial" is not null and "set_cards"."state" in ('held', 'final');--> statement-breakpoint
CREATE INDEX "set_cards_list" ON "set_cards" USING btree ("set_id","player","parallel","state");--> statement-breakpoint
CREATE UNIQUE INDEX "set_players_external" ON "set_players" USING btree ("external_id","set_id") WHERE "set_players"."external_id" <> '';