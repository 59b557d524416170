-- The processes that serve from this database: see src/state/shared-nodes.ts.
CREATE TABLE "nodes" (
  "name" text COLLATE "C" PRIMARY KEY,
  "version" text COLLATE "C" NOT NULL,
  "workers" integer NOT NULL,
  "render_ms" integer NOT NULL,
  -- Epoch ms by the clock of this server.
  "seen_at" bigint NOT NULL
);
