/**
 * Writes the migrations that bring the databases up to the tables in db/, for SQLite and for PostgreSQL.
 *
 *   bun run db:generate --name what_changes [--custom]
 *
 * Review the SQL and add each migration to the index.ts beside it. --custom creates empty ones to write by
 * hand. Only the newest snapshots of the tables are kept: the next migration is made from them alone.
 */

import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);
const options = process.argv.slice(2);
for (const config of ["db/drizzle.config.ts", "db/drizzle.postgres.config.ts"]) {
  const kit = Bun.spawn(["bunx", "drizzle-kit", "generate", "--config", config, ...options], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  if ((await kit.exited) !== 0) process.exit(1);
}
for (const dialect of ["sqlite", "postgres"]) {
  const meta = join(import.meta.dir, "../db/migrations", dialect, "meta");
  const snapshots = readdirSync(meta).filter((name) => name.endsWith("_snapshot.json"));
  for (const older of snapshots.sort().slice(0, -1)) rmSync(join(meta, older));
}
