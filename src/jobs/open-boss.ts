import { fromBunSql, PgBoss, type QueueOptions } from "pg-boss";
import { pgboss } from "pg-boss/package.json";
import { OperatorError } from "../core/errors.ts";
import { JOB_HEARTBEAT_MS, JOB_SUPERVISION_MS, LEASE_MS } from "../core/limits.ts";
import type { Log } from "../core/ports.ts";
import { MINUTE_MS, SECOND_MS } from "../core/time.ts";
import type { PostgresStore } from "../store/engine/postgres.ts";
import { mayNot } from "../store/engine/postgres-errors.ts";
import { JOBS_SCHEMA } from "../store/engine/postgres-jobs.ts";
import { bossJobs } from "./boss-jobs.ts";
import { enqueueAllMissing, type OpenJobs } from "./jobs.ts";

const seconds = (ms: number) => ms / SECOND_MS;
const YEAR_SECONDS = 365 * 24 * 3600;

/** For pg-boss: how often an image may be rendered is decided by us, and none is ever dropped for its age. */
const QUEUE = {
  heartbeatSeconds: seconds(JOB_HEARTBEAT_MS),
  expireInSeconds: seconds(LEASE_MS),
  retryLimit: 1_000_000,
  retryDelay: 0,
  retentionSeconds: 20 * YEAR_SECONDS,
  // Ended jobs are of use to people who watch the queue, for a while.
  deleteAfterSeconds: seconds(60 * MINUTE_MS),
} satisfies QueueOptions;

/** Looking for dead workers a moment early is in time; a whole period late is not. */
const MONITOR_SECONDS = Math.floor(0.9 * seconds(JOB_SUPERVISION_MS));

/** pg-boss rebuilds an index that has grown without need, once a day, beside everything else that goes on. */
const REBUILD = /^\s*(REINDEX|DROP) INDEX CONCURRENTLY\b/;
const REBUILD_MS = 5 * MINUTE_MS;

/**
 * Opens the queue in the store's database, in a schema of its own, which is made or brought up to date under
 * the lock of our migrations. It speaks through the store's connections. Throws an OperatorError where the
 * database's user may not.
 */
export async function openBossJobs(store: PostgresStore, log: Pick<Log, "warn">): Promise<OpenJobs> {
  const boss = new PgBoss({
    db: fromBunSql({
      unsafe: (text, values) => {
        if (REBUILD.test(text)) return store.withoutTimeout(text, REBUILD_MS);
        return values ? store.rawQuery(text, values) : store.script(text);
      },
      reserve: async () => ({ unsafe: (text) => store.script(text), release: () => {} }),
    }),
    schema: JOBS_SCHEMA,
    createSchema: !(await hasSchema(store)),
    // A service supervises its queue by itself; a command does not.
    supervise: false,
    schedule: false,
    registerInstance: false,
    openTelemetry: { enabled: false },
    monitorIntervalSeconds: MONITOR_SECONDS,
    maintenanceIntervalSeconds: seconds(10 * MINUTE_MS),
    // What waits, and how long, is shown by our own figures.
    warningQueueSize: 1_000_000_000,
  });
  // pg-boss adds to errors what they are about, and what it emits then is no Error.
  boss.on("error", (error) =>
    log.warn("queue_fault", { error: `${error.name ?? "Error"}: ${error.message}` }),
  );
  boss.on("warning", ({ message }) => log.warn("queue_warning", { message }));
  const jobs = bossJobs(boss, store, log);
  const stop = () => boss.stop({ graceful: false });
  try {
    await store.migrating(async (refuseWhileOthersServe) => {
      const isNew = !(await boss.isInstalled());
      const version = isNew ? pgboss.schema : await boss.schemaVersion();
      if (version === null || version > pgboss.schema) throw newerQueue(version);
      if (version < pgboss.schema) await refuseWhileOthersServe();
      await boss.start();
      for (const name of ["live", "test"]) await ensureQueue(boss, name);
      if (isNew)
        await enqueueAllMissing((after) =>
          store.write("adopt images", (tx) => jobs.enqueueMissing(tx, after)),
        );
    });
  } catch (error) {
    await stop();
    throw mayNot(error) ? refusedRights(error as Error) : error;
  }
  return { ...jobs, close: stop };
}

async function hasSchema({ rawQuery }: PostgresStore): Promise<boolean> {
  const [found] = await rawQuery("SELECT to_regnamespace($1)::text AS name", [JOBS_SCHEMA]);
  return found?.name != null;
}

async function ensureQueue(boss: PgBoss, name: string): Promise<void> {
  const known = await boss.getQueue(name);
  if (!known) return boss.createQueue(name, QUEUE);
  const isAsWanted = Object.entries(QUEUE).every(
    ([key, value]) => known[key as keyof typeof QUEUE] === value,
  );
  if (!isAsWanted) await boss.updateQueue(name, QUEUE);
}

function newerQueue(version: number | null): OperatorError {
  return new OperatorError(
    `The queue of renders in the database was written by a newer cardpress (its schema "${JOBS_SCHEMA}" has version ${version}, this one knows ${pgboss.schema}). Install that version or a later one, or restore a backup made before.`,
  );
}

function refusedRights(cause: Error): OperatorError {
  return new OperatorError(
    `The user of CARDPRESS_DATABASE_URL may not keep the queue of renders in the database: ${cause.message}. It lives in a schema of its own, "${JOBS_SCHEMA}". Let an administrator run CREATE SCHEMA ${JOBS_SCHEMA} AUTHORIZATION <that user>, or give that user the right to create one: GRANT CREATE ON DATABASE <database> TO <that user>.`,
  );
}
