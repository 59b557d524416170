CREATE TABLE "image_metadata" (
	"image_id" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"key" text collate "C" NOT NULL,
	"value" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "image_metadata_image_id_key_pk" PRIMARY KEY("image_id","key")
);
--> statement-breakpoint
INSERT INTO "image_metadata" ("image_id", "account_id", "environment", "key", "value", "created_at")
	SELECT i."id", i."account_id", i."environment", m."key", m."value", i."created_at"
	FROM "images" AS i CROSS JOIN LATERAL json_each_text(i."request"::json -> 'metadata') AS m("key", "value")
	WHERE i."forgotten_at" IS NULL AND length(m."key") <= 100;--> statement-breakpoint
DROP INDEX "images_external";--> statement-breakpoint
ALTER TABLE "image_metadata" ADD CONSTRAINT "image_metadata_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "image_metadata_list" ON "image_metadata" USING btree ("account_id","environment","key","value","created_at","image_id");--> statement-breakpoint
CREATE INDEX "images_external" ON "images" USING btree ("account_id","environment","external_id","created_at","id") WHERE "images"."forgotten_at" is null;