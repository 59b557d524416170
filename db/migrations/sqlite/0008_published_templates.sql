CREATE TABLE `template_versions` (
	`name` text NOT NULL,
	`version` text NOT NULL,
	`digest` text NOT NULL,
	`published_at` integer NOT NULL,
	PRIMARY KEY(`name`, `version`)
);
--> statement-breakpoint
CREATE TABLE `templates` (
	`name` text PRIMARY KEY NOT NULL,
	`version` text NOT NULL,
	`digest` text NOT NULL,
	`is_listed` integer NOT NULL,
	`updated_at` integer NOT NULL
);
