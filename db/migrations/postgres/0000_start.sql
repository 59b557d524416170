CREATE TABLE "accounts" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"name" text collate "C" NOT NULL,
	"tier" text collate "C" NOT NULL,
	"status" text collate "C" NOT NULL,
	"suspended_reason" text collate "C",
	"credit_limit" bigint NOT NULL,
	"plan_period" text collate "C" NOT NULL,
	"credits_plan" bigint NOT NULL,
	"credits_topup" bigint NOT NULL,
	"credits_held" bigint NOT NULL,
	"retention_days" bigint,
	"forget_after_days" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "accounts_credits_plan" CHECK ("accounts"."credits_plan" >= 0),
	CONSTRAINT "accounts_credits_topup" CHECK ("accounts"."credits_topup" >= 0),
	CONSTRAINT "accounts_credits_held" CHECK ("accounts"."credits_held" >= 0)
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"hash" text collate "C" NOT NULL,
	"prefix" text collate "C" NOT NULL,
	"last4" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint,
	"revoked_at" bigint,
	"replaces_key_id" text collate "C"
);
--> statement-breakpoint
CREATE TABLE "audit_entries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C",
	"account_id" text collate "C",
	"action" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "batch_cards" (
	"batch_id" text collate "C" NOT NULL,
	"position" bigint NOT NULL,
	"image_id" text collate "C" NOT NULL,
	CONSTRAINT "batch_cards_batch_id_position_pk" PRIMARY KEY("batch_id","position")
);
--> statement-breakpoint
CREATE TABLE "batches" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"name" text collate "C" NOT NULL,
	"idempotency_key" text collate "C",
	"fingerprint" text collate "C" NOT NULL,
	"total" bigint NOT NULL,
	"completed" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"canceled_at" bigint,
	"completed_at" bigint,
	CONSTRAINT "batches_counts" CHECK ("batches"."completed" + "batches"."failed" <= "batches"."total"),
	CONSTRAINT "batches_end" CHECK (("batches"."completed" + "batches"."failed" = "batches"."total") = ("batches"."completed_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "delivery_attempts" (
	"delivery_id" text collate "C" NOT NULL,
	"number" bigint NOT NULL,
	"started_at" bigint NOT NULL,
	"duration_ms" bigint NOT NULL,
	"status" bigint,
	"error" text collate "C",
	"answer" text collate "C",
	CONSTRAINT "delivery_attempts_delivery_id_number_pk" PRIMARY KEY("delivery_id","number")
);
--> statement-breakpoint
CREATE TABLE "idempotency_records" (
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"key" text collate "C" NOT NULL,
	"fingerprint" text collate "C" NOT NULL,
	"image_id" text collate "C" NOT NULL,
	"response_body" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	CONSTRAINT "idempotency_records_account_id_environment_key_pk" PRIMARY KEY("account_id","environment","key")
);
--> statement-breakpoint
CREATE TABLE "image_receipts" (
	"image_id" text collate "C" PRIMARY KEY NOT NULL,
	"receipt" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "images" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"external_id" text collate "C" NOT NULL,
	"player_name" text collate "C" DEFAULT '' NOT NULL,
	"request" text NOT NULL,
	"key_id" text collate "C",
	"source_sha256" text collate "C",
	"badge_sha256" text collate "C",
	"template_name" text collate "C",
	"template_version" text collate "C",
	"template_digest" text collate "C",
	"turn" bigint NOT NULL,
	"lane" bigint DEFAULT 0 NOT NULL,
	"available_at" bigint NOT NULL,
	"renders" bigint NOT NULL,
	"lease_token" text collate "C",
	"lease_expires_at" bigint,
	"failure_code" text collate "C",
	"failure_message" text collate "C",
	"output_name" text collate "C",
	"output_width" bigint,
	"output_height" bigint,
	"output_content_type" text collate "C",
	"output_bytes" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"completed_at" bigint,
	"expires_at" bigint,
	"purged_at" bigint,
	"forgotten_at" bigint,
	"erased_at" bigint,
	CONSTRAINT "images_lease" CHECK (("images"."state" = 'rendering') = ("images"."lease_token" is not null)),
	CONSTRAINT "images_terminal" CHECK (("images"."state" in ('completed', 'failed')) = ("images"."completed_at" is not null)),
	CONSTRAINT "images_output" CHECK (("images"."state" = 'completed') = ("images"."output_name" is not null)),
	CONSTRAINT "images_failure" CHECK (("images"."state" = 'failed') = ("images"."failure_code" is not null))
);
--> statement-breakpoint
CREATE TABLE "ledger_entries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"bucket" text collate "C" NOT NULL,
	"period" text collate "C" NOT NULL,
	"amount" bigint NOT NULL,
	"image_id" text collate "C",
	"reason" text collate "C",
	"created_at" bigint NOT NULL,
	CONSTRAINT "ledger_amount" CHECK ("ledger_entries"."amount" > 0),
	CONSTRAINT "ledger_bucket" CHECK ("ledger_entries"."bucket" in ('plan', 'topup')),
	CONSTRAINT "ledger_shape" CHECK (case "ledger_entries"."kind"
          when 'grant' then "ledger_entries"."image_id" is null
          when 'expire' then "ledger_entries"."bucket" = 'plan' and ("ledger_entries"."image_id" is null or "ledger_entries"."amount" = 1)
          else "ledger_entries"."kind" in ('reserve', 'settle', 'release') and "ledger_entries"."image_id" is not null and "ledger_entries"."amount" = 1
        end)
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"occasion" text collate "C" NOT NULL,
	"kind" text collate "C" NOT NULL,
	"recipient" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"body" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"attempts" bigint NOT NULL,
	"next_attempt_at" bigint,
	"last_error" text collate "C",
	"created_at" bigint NOT NULL,
	"ended_at" bigint,
	CONSTRAINT "mails_next" CHECK (("mails"."state" = 'pending') = ("mails"."next_attempt_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"user_id" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"role" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	CONSTRAINT "memberships_user_id_account_id_pk" PRIMARY KEY("user_id","account_id")
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"credential_id" text collate "C" NOT NULL,
	"public_key" text collate "C" NOT NULL,
	"counter" bigint NOT NULL,
	"name" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL,
	"last_used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "photos" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"sha256" text collate "C" NOT NULL,
	"content_type" text collate "C" NOT NULL,
	"width" bigint NOT NULL,
	"height" bigint NOT NULL,
	"bytes" bigint NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "request_log" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"key_id" text collate "C" NOT NULL,
	"method" text collate "C" NOT NULL,
	"path" text collate "C" NOT NULL,
	"status" bigint NOT NULL,
	"code" text collate "C",
	"duration_ms" bigint NOT NULL,
	"external_id" text collate "C",
	"details" text,
	"body" text collate "C",
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"token_hash" text collate "C" NOT NULL,
	"user_id" text collate "C" NOT NULL,
	"csrf_token" text collate "C" NOT NULL,
	"account_id" text collate "C",
	"created_at" bigint NOT NULL,
	"last_seen_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "setup_links" (
	"token_hash" text collate "C" PRIMARY KEY NOT NULL,
	"user_id" text collate "C",
	"is_vouched" bigint DEFAULT 0 NOT NULL,
	"created_at" bigint NOT NULL,
	"expires_at" bigint NOT NULL,
	"used_at" bigint
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"day" text collate "C" NOT NULL,
	"requested" bigint NOT NULL,
	"completed" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"credits_used" bigint NOT NULL,
	CONSTRAINT "usage_days_account_id_environment_day_pk" PRIMARY KEY("account_id","environment","day")
);
--> statement-breakpoint
CREATE TABLE "usage_keys" (
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"day" text collate "C" NOT NULL,
	"key_id" text collate "C" NOT NULL,
	"requested" bigint NOT NULL,
	"completed" bigint NOT NULL,
	"failed" bigint NOT NULL,
	"credits_used" bigint NOT NULL,
	CONSTRAINT "usage_keys_account_id_environment_day_key_id_pk" PRIMARY KEY("account_id","environment","day","key_id")
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"email" text collate "C" NOT NULL,
	"password_hash" text collate "C",
	"is_operator" bigint NOT NULL,
	"is_vouched" bigint DEFAULT 0 NOT NULL,
	"created_at" bigint NOT NULL,
	"last_sign_in_at" bigint
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"event_id" text collate "C" NOT NULL,
	"endpoint_id" text collate "C" NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"event_type" text collate "C" NOT NULL,
	"state" text collate "C" NOT NULL,
	"attempts" bigint NOT NULL,
	"step" bigint NOT NULL,
	"next_attempt_at" bigint,
	"lease_token" text collate "C",
	"lease_expires_at" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	"delivered_at" bigint,
	CONSTRAINT "webhook_deliveries_next" CHECK (("webhook_deliveries"."state" = 'pending') = ("webhook_deliveries"."next_attempt_at" is not null)),
	CONSTRAINT "webhook_deliveries_lease" CHECK (("webhook_deliveries"."state" = 'sending') = ("webhook_deliveries"."lease_token" is not null)),
	CONSTRAINT "webhook_deliveries_delivered" CHECK (("webhook_deliveries"."state" = 'delivered') = ("webhook_deliveries"."delivered_at" is not null))
);
--> statement-breakpoint
CREATE TABLE "webhook_endpoints" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"url" text collate "C" NOT NULL,
	"events" text,
	"secret" text collate "C" NOT NULL,
	"previous_secret" text collate "C",
	"previous_secret_expires_at" bigint,
	"state" text collate "C" NOT NULL,
	"disabled_reason" text collate "C",
	"disabled_at" bigint,
	"failing_since" bigint,
	"last_success_at" bigint,
	"paused_until" bigint,
	"created_at" bigint NOT NULL,
	"updated_at" bigint NOT NULL,
	CONSTRAINT "webhook_endpoints_disabled" CHECK (("webhook_endpoints"."state" = 'enabled') = ("webhook_endpoints"."disabled_at" is null)),
	CONSTRAINT "webhook_endpoints_previous" CHECK (("webhook_endpoints"."previous_secret" is null) = ("webhook_endpoints"."previous_secret_expires_at" is null))
);
--> statement-breakpoint
CREATE TABLE "webhook_events" (
	"id" text collate "C" PRIMARY KEY NOT NULL,
	"account_id" text collate "C" NOT NULL,
	"environment" text collate "C" NOT NULL,
	"type" text collate "C" NOT NULL,
	"subject" text collate "C" NOT NULL,
	"body" text collate "C" NOT NULL,
	"created_at" bigint NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "batch_cards" ADD CONSTRAINT "batch_cards_batch_id_batches_id_fk" FOREIGN KEY ("batch_id") REFERENCES "public"."batches"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "batch_cards" ADD CONSTRAINT "batch_cards_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "batches" ADD CONSTRAINT "batches_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD CONSTRAINT "delivery_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_records" ADD CONSTRAINT "idempotency_records_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "idempotency_records" ADD CONSTRAINT "idempotency_records_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "image_receipts" ADD CONSTRAINT "image_receipts_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "images" ADD CONSTRAINT "images_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "ledger_entries" ADD CONSTRAINT "ledger_entries_image_id_images_id_fk" FOREIGN KEY ("image_id") REFERENCES "public"."images"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "photos" ADD CONSTRAINT "photos_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "request_log" ADD CONSTRAINT "request_log_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "setup_links" ADD CONSTRAINT "setup_links_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_days" ADD CONSTRAINT "usage_days_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "usage_keys" ADD CONSTRAINT "usage_keys_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_event_id_webhook_events_id_fk" FOREIGN KEY ("event_id") REFERENCES "public"."webhook_events"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_endpoint_id_webhook_endpoints_id_fk" FOREIGN KEY ("endpoint_id") REFERENCES "public"."webhook_endpoints"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_endpoints" ADD CONSTRAINT "webhook_endpoints_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_events" ADD CONSTRAINT "webhook_events_account_id_accounts_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."accounts"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "accounts_plan_period" ON "accounts" USING btree ("plan_period");--> statement-breakpoint
CREATE INDEX "accounts_list" ON "accounts" USING btree ("created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_hash" ON "api_keys" USING btree ("hash");--> statement-breakpoint
CREATE INDEX "api_keys_account" ON "api_keys" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_time" ON "audit_entries" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "audit_account" ON "audit_entries" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "batch_cards_image" ON "batch_cards" USING btree ("image_id");--> statement-breakpoint
CREATE INDEX "batches_list" ON "batches" USING btree ("account_id","environment","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "batches_key" ON "batches" USING btree ("account_id","environment","idempotency_key") WHERE "batches"."idempotency_key" is not null;--> statement-breakpoint
CREATE INDEX "batches_canceled" ON "batches" USING btree ("canceled_at") WHERE "batches"."canceled_at" is not null and "batches"."completed_at" is null;--> statement-breakpoint
CREATE INDEX "idempotency_expiry" ON "idempotency_records" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "idempotency_image" ON "idempotency_records" USING btree ("image_id");--> statement-breakpoint
CREATE INDEX "images_list" ON "images" USING btree ("account_id","environment","created_at","id") WHERE "images"."forgotten_at" is null;--> statement-breakpoint
CREATE INDEX "images_list_state" ON "images" USING btree ("account_id","environment","state","created_at","id") WHERE "images"."forgotten_at" is null;--> statement-breakpoint
CREATE INDEX "images_queue" ON "images" USING btree ("environment","state","turn","created_at","completed_at") WHERE "images"."completed_at" is null;--> statement-breakpoint
CREATE INDEX "images_account_queue" ON "images" USING btree ("account_id","environment","lane","turn") WHERE "images"."completed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "images_output_name" ON "images" USING btree ("output_name") WHERE "images"."output_name" is not null;--> statement-breakpoint
CREATE INDEX "images_expiry" ON "images" USING btree ("expires_at") WHERE "images"."expires_at" is not null and "images"."purged_at" is null;--> statement-breakpoint
CREATE INDEX "images_failures" ON "images" USING btree ("completed_at") WHERE "images"."state" = 'failed';--> statement-breakpoint
CREATE INDEX "images_external" ON "images" USING btree ("account_id","environment","external_id");--> statement-breakpoint
CREATE INDEX "images_singles" ON "images" USING btree ("environment","turn") WHERE "images"."completed_at" is null and "images"."lane" = 0;--> statement-breakpoint
CREATE INDEX "images_source" ON "images" USING btree ("source_sha256") WHERE "images"."source_sha256" is not null;--> statement-breakpoint
CREATE INDEX "images_badge" ON "images" USING btree ("badge_sha256") WHERE "images"."badge_sha256" is not null;--> statement-breakpoint
CREATE INDEX "images_forgotten" ON "images" USING btree ("forgotten_at") WHERE "images"."forgotten_at" is not null and "images"."erased_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_one_reserve" ON "ledger_entries" USING btree ("image_id") WHERE "ledger_entries"."kind" = 'reserve';--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_one_resolution" ON "ledger_entries" USING btree ("image_id") WHERE "ledger_entries"."kind" in ('settle', 'release');--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_one_late_expiry" ON "ledger_entries" USING btree ("image_id") WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_one_grant" ON "ledger_entries" USING btree ("account_id","period") WHERE "ledger_entries"."kind" = 'grant' and "ledger_entries"."bucket" = 'plan';--> statement-breakpoint
CREATE UNIQUE INDEX "ledger_one_expiry" ON "ledger_entries" USING btree ("account_id","period") WHERE "ledger_entries"."kind" = 'expire' and "ledger_entries"."image_id" is null;--> statement-breakpoint
CREATE INDEX "ledger_account" ON "ledger_entries" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "ledger_grants" ON "ledger_entries" USING btree ("account_id","created_at","id") WHERE "ledger_entries"."kind" = 'grant';--> statement-breakpoint
CREATE UNIQUE INDEX "mails_once" ON "mails" USING btree ("occasion","recipient");--> statement-breakpoint
CREATE INDEX "mails_queue" ON "mails" USING btree ("next_attempt_at") WHERE "mails"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "mails_age" ON "mails" USING btree ("created_at","id");--> statement-breakpoint
CREATE INDEX "memberships_account" ON "memberships" USING btree ("account_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "passkeys_credential" ON "passkeys" USING btree ("credential_id");--> statement-breakpoint
CREATE INDEX "passkeys_user" ON "passkeys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "photos_account" ON "photos" USING btree ("account_id","expires_at","bytes");--> statement-breakpoint
CREATE INDEX "photos_expiry" ON "photos" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "photos_sha256" ON "photos" USING btree ("sha256");--> statement-breakpoint
CREATE INDEX "request_log_list" ON "request_log" USING btree ("account_id","created_at","id");--> statement-breakpoint
CREATE INDEX "request_log_refused" ON "request_log" USING btree ("account_id","created_at","id") WHERE "request_log"."status" >= 400;--> statement-breakpoint
CREATE INDEX "request_log_external" ON "request_log" USING btree ("account_id","external_id","created_at","id") WHERE "request_log"."external_id" is not null;--> statement-breakpoint
CREATE INDEX "request_log_age" ON "request_log" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "sessions_token" ON "sessions" USING btree ("token_hash");--> statement-breakpoint
CREATE INDEX "sessions_user" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_expiry" ON "sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "setup_links_user" ON "setup_links" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "setup_links_expiry" ON "setup_links" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email" ON "users" USING btree ("email");--> statement-breakpoint
CREATE INDEX "users_operators" ON "users" USING btree ("created_at") WHERE "users"."is_operator" = 1;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_deliveries_once" ON "webhook_deliveries" USING btree ("event_id","endpoint_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_queue" ON "webhook_deliveries" USING btree ("endpoint_id","next_attempt_at") WHERE "webhook_deliveries"."state" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_leases" ON "webhook_deliveries" USING btree ("lease_expires_at") WHERE "webhook_deliveries"."state" = 'sending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_account" ON "webhook_deliveries" USING btree ("account_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_endpoint" ON "webhook_deliveries" USING btree ("endpoint_id","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_undelivered" ON "webhook_deliveries" USING btree ("account_id","environment","created_at","id") WHERE "webhook_deliveries"."state" <> 'delivered';--> statement-breakpoint
CREATE INDEX "webhook_endpoints_account" ON "webhook_endpoints" USING btree ("account_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_state" ON "webhook_endpoints" USING btree ("state");--> statement-breakpoint
CREATE INDEX "webhook_endpoints_old_secrets" ON "webhook_endpoints" USING btree ("previous_secret_expires_at") WHERE "webhook_endpoints"."previous_secret_expires_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "webhook_events_once" ON "webhook_events" USING btree ("subject","type");--> statement-breakpoint
CREATE INDEX "webhook_events_account" ON "webhook_events" USING btree ("account_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "webhook_events_age" ON "webhook_events" USING btree ("created_at");