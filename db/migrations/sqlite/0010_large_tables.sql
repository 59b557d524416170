CREATE INDEX `images_open_source` ON `images` (`source_sha256`) WHERE "images"."completed_at" is null;--> statement-breakpoint
CREATE INDEX `images_open_badge` ON `images` (`badge_sha256`) WHERE "images"."completed_at" is null;--> statement-breakpoint
CREATE INDEX `images_template` ON `images` (`template_digest`) WHERE "images"."template_digest" is not null and "images"."failure_code" is null and "images"."purged_at" is null;--> statement-breakpoint
CREATE INDEX `images_newest` ON `images` (`created_at`,`id`) WHERE "images"."forgotten_at" is null;