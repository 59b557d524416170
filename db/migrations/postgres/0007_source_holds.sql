-- Which photos and badges creates in progress need, and which are being removed: see src/state/shared-holds.ts.
CREATE TABLE "source_holds" (
  -- "leaving" where it is being removed.
  "holder" text COLLATE "C" NOT NULL,
  "sha256" text COLLATE "C" NOT NULL,
  -- Epoch ms by the clock of this server.
  "until" bigint NOT NULL,
  PRIMARY KEY ("holder", "sha256")
);
--> statement-breakpoint
CREATE INDEX "source_holds_sha256" ON "source_holds" ("sha256");
