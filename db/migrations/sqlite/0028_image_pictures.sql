CREATE TABLE `image_pictures` (
	`image_id` text NOT NULL,
	`field` text NOT NULL,
	`sha256` text NOT NULL,
	PRIMARY KEY(`image_id`, `field`),
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `image_pictures_source` ON `image_pictures` (`sha256`,`image_id`);