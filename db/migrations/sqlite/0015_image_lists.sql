CREATE TABLE `image_metadata` (
	`image_id` text NOT NULL,
	`account_id` text NOT NULL,
	`environment` text NOT NULL,
	`key` text NOT NULL,
	`value` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`image_id`, `key`),
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
INSERT INTO `image_metadata` (`image_id`, `account_id`, `environment`, `key`, `value`, `created_at`)
	SELECT i.`id`, i.`account_id`, i.`environment`, m.`key`, m.`value`, i.`created_at`
	FROM `images` AS i, json_each(i.`request`, '$.metadata') AS m
	WHERE i.`forgotten_at` IS NULL AND length(m.`key`) <= 100;--> statement-breakpoint
CREATE INDEX `image_metadata_list` ON `image_metadata` (`account_id`,`environment`,`key`,`value`,`created_at`,`image_id`);--> statement-breakpoint
DROP INDEX `images_external`;--> statement-breakpoint
CREATE INDEX `images_external` ON `images` (`account_id`,`environment`,`external_id`,`created_at`,`id`) WHERE "images"."forgotten_at" is null;