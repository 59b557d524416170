CREATE TABLE "image_pictures" (
	"image_id" text collate "C" NOT NULL,
	"field" text collate "C" NOT NULL,
	"sha256" text collate "C" NOT NULL,
	CONSTRAINT "image_pictures_image_id_field_pk" PRIMARY KEY("image_id","field")
);
--> statement-breakpoint
ALTER TABLE "image_pictures" ADD CONSTRAINT "image_pictures_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "image_pictures_source" ON "image_pictures" USING btree ("sha256","image_id");