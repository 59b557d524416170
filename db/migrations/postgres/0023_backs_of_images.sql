ALTER TABLE "images" ADD COLUMN "back_output_name" text collate "C";--> statement-breakpoint
ALTER TABLE "images" ADD COLUMN "back_output_bytes" bigint;--> statement-breakpoint
CREATE UNIQUE INDEX "images_back_output_name" ON "images" USING btree ("back_output_name") WHERE "images"."back_output_name" is not null;