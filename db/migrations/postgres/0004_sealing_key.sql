-- By which key the secrets in this database are sealed: one row, written at the first start. See src/store/sealing-key.ts.
CREATE TABLE "sealing_key" (
  "only" integer PRIMARY KEY DEFAULT 1 CHECK ("only" = 1),
  "key_id" text COLLATE "C" NOT NULL
);
