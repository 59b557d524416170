import { SQL } from "bun";
import { openJobs } from "../../src/jobs/open-jobs.ts";
import { openPostgresStore } from "../../src/store/engine/postgres.ts";
import { FOLLOW_TEST_CLOCK, TEMPLATE } from "../../test/postgres.ts";
import { startPostgres } from "../postgres-server.ts";

/**
 * The suites that use the database. Those that start browsers, or inspect SQLite's own file, are left out.
 */
export const POSTGRES_SUITES = [
  "test/store/engine/postgres.test.ts",
  "test/store/engine/postgres-upgrade.test.ts",
  "test/store/postgres-plans.test.ts",
  "test/store/engine/pooler.test.ts",
  "test/store/engine/prepared.test.ts",
  "test/store/engine/half-open.test.ts",
  "test/store/images/queue-depth.test.ts",
  "test/state",
  "test/jobs",
  "test/service/cluster.test.ts",
  "test/service/move.test.ts",
  "test/scripts/clustertest.test.ts",
  "test/service/two-clocks.test.ts",
  "test/service/two-nodes.test.ts",
  "test/service/upgrade-to-cluster.test.ts",
  "test/app/batches/canceled-cards.test.ts",
  "test/app/batches/shared-fetches.test.ts",
  "test/app/credits/ledger.test.ts",
  "test/app/credits/statement.test.ts",
  "test/app/credits/usage-alerts.test.ts",
  "test/app/images/image-templates.test.ts",
  "test/app/images/keep-template.test.ts",
  "test/app/images/leases.test.ts",
  "test/app/images/lost-files.test.ts",
  "test/app/images/queue-estimate.test.ts",
  "test/app/images/source-keeper.test.ts",
  "test/app/mail",
  "test/app/operations/audit/audit.test.ts",
  "test/app/operations/retention.test.ts",
  "test/app/operations/audit/sealed-history.test.ts",
  "test/app/people",
  "test/app/exports",
  "test/app/webhooks",
  "test/http/batches.test.ts",
  "test/http/consent.test.ts",
  "test/http/gallery.test.ts",
  "test/http/idempotency.test.ts",
  "test/http/keys.test.ts",
  "test/http/list-filters.test.ts",
  "test/http/order-of-checks.test.ts",
  "test/http/own-words.test.ts",
  "test/http/paths-and-headers.test.ts",
  "test/http/photos.test.ts",
  "test/http/render.test.ts",
  "test/http/remake-batch.test.ts",
  "test/http/request-log.test.ts",
  "test/http/set-runs.test.ts",
  "test/http/sets.test.ts",
  "test/http/share.test.ts",
  "test/http/statements.test.ts",
  "test/http/status.test.ts",
  "test/http/webhook-api.test.ts",
  "test/console/sign-in.test.ts",
];

/**
 * The environment in which tests run on PostgreSQL: on the server of CARDPRESS_TEST_POSTGRES, or else on one
 * from npm, which `stop` ends.
 */
export async function startTestPostgres(): Promise<{ env: Record<string, string>; stop(): Promise<void> }> {
  const given = process.env.CARDPRESS_TEST_POSTGRES;
  const server = given ? { url: given, stop: async () => {} } : await startPostgres(["autovacuum=off"]);
  try {
    await makeTemplate(server.url);
  } catch (error) {
    await server.stop();
    throw error;
  }
  return { env: { ENGINE: "postgres", CARDPRESS_TEST_POSTGRES: server.url }, stop: server.stop };
}

async function makeTemplate(url: string): Promise<void> {
  const admin = new SQL(`${url}/postgres`, { max: 1 });
  await admin.unsafe(`DROP DATABASE IF EXISTS ${TEMPLATE}`);
  await admin.unsafe(`CREATE DATABASE ${TEMPLATE}`);
  await admin.close();
  const store = await openPostgresStore({ url: `${url}/${TEMPLATE}` });
  const jobs = await openJobs(store, { warn: console.warn });
  for (const statement of FOLLOW_TEST_CLOCK) await store.rawQuery(statement, []);
  await jobs.close();
  await store.close();
}
