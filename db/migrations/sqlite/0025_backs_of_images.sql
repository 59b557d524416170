ALTER TABLE `images` ADD `back_output_name` text;--> statement-breakpoint
ALTER TABLE `images` ADD `back_output_bytes` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `images_back_output_name` ON `images` (`back_output_name`) WHERE "images"."back_output_name" is not null;