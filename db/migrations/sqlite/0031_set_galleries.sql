ALTER TABLE `card_sets` ADD `gallery_name` text;--> statement-breakpoint
CREATE UNIQUE INDEX `card_sets_gallery` ON `card_sets` (`gallery_name`) WHERE "card_sets"."gallery_name" is not null;