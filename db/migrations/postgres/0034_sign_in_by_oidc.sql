CREATE TABLE "identities" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"issuer" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"email" text collate "C",
	"created_at" bigint NOT NULL,
	"last_used_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "group_role" text collate "C";--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "hand_role" text collate "C";--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "identity_id" text collate "C";--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "operator_by_groups" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "identities" ADD CONSTRAINT "identities_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "identities_subject" ON "identities" USING btree ("issuer","subject");--> statement-breakpoint
CREATE INDEX "identities_user" ON "identities" USING btree ("user_id");