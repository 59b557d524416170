CREATE TABLE "status_days" (
	"day" text collate "C" PRIMARY KEY NOT NULL,
	"minutes" text collate "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "status_notices" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"title" text collate "C" NOT NULL,
	"message" text collate "C" NOT NULL,
	"posted_at" bigint NOT NULL,
	"resolved_at" bigint
);
--> statement-breakpoint
CREATE INDEX "status_notices_posted" ON "status_notices" USING btree ("posted_at");