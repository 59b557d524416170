CREATE TABLE `image_receipts` (
	`image_id` text PRIMARY KEY NOT NULL,
	`receipt` text NOT NULL,
	FOREIGN KEY (`image_id`) REFERENCES `images`(`id`) ON UPDATE no action ON DELETE no action
);
