CREATE TABLE "template_versions" (
	"name" text collate "C" NOT NULL,
	"version" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"published_at" bigint NOT NULL,
	CONSTRAINT "template_versions_name_version_pk" PRIMARY KEY("name","version")
);
--> statement-breakpoint
CREATE TABLE "templates" (
	"name" text collate "C" PRIMARY KEY NOT NULL,
	"version" text collate "C" NOT NULL,
	"digest" text collate "C" NOT NULL,
	"is_listed" bigint NOT NULL,
	"updated_at" bigint NOT NULL
);
