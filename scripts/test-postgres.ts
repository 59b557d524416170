/**
 * Runs the suites that touch the store on PostgreSQL, on a server from npm that it starts on a free port.
 *
 *   bun run test:postgres [files and options of bun test]
 *
 * With CARDPRESS_TEST_POSTGRES=postgres://user:password@host:port it uses that server instead: its user must
 * be allowed to create databases, which are not removed.
 */
import { offerHelp } from "./help.ts";
import { runSuites } from "./run-suites.ts";
import { POSTGRES_SUITES, startTestPostgres } from "./suites/postgres.ts";

offerHelp(import.meta);
const postgres = await startTestPostgres();
try {
  process.exitCode = await runSuites(POSTGRES_SUITES, postgres.env);
} finally {
  await postgres.stop();
}
