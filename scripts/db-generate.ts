/**
 * Writes the migrations that the tables of db/ still need, for SQLite and for PostgreSQL.
 *
 *   bun run db:generate --name what_changes [--custom]
 *
 * Read the SQL, and add each to the index.ts beside it. --custom makes empty ones, to be written by hand.
 */
import { offerHelp } from "./help.ts";

offerHelp(import.meta);
const options = process.argv.slice(2);
for (const config of ["db/drizzle.config.ts", "db/drizzle.postgres.config.ts"]) {
  const kit = Bun.spawn(["bunx", "drizzle-kit", "generate", "--config", config, ...options], {
    stdio: ["inherit", "inherit", "inherit"],
  });
  if ((await kit.exited) !== 0) process.exit(1);
}
