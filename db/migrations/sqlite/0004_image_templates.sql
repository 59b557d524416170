ALTER TABLE `images` ADD `template_name` text;--> statement-breakpoint
ALTER TABLE `images` ADD `template_version` text;--> statement-breakpoint
ALTER TABLE `images` ADD `template_digest` text;