import type { Environment } from "../core/account.ts";
import type { Ask } from "../core/ports.ts";
import type { Breach } from "./audit-checks.ts";
import type { Image } from "./images.ts";
import type { Tx } from "./store.ts";

// What pg-boss offers no call for, in its own tables: see "job table" in its documentation. A queue per environment; the
// id of a job is the MD5 of its image's id, so that an image has one job at most.

/** The schema that pg-boss's tables are in, apart from ours. */
export const JOBS_SCHEMA = "cardpress_jobs";

const JOBS = `${JOBS_SCHEMA}.job`;
/** Created, or to be tried again, or being worked on. */
const IS_LIVE = "state <= 'active'";
const JOB_OF_IMAGE = "j.name = i.environment AND j.id = md5(i.id)::uuid";
const HAS_A_JOB = "i.completed_at IS NULL AND i.state IN ('queued', 'rendering')";

/** Whether a job of this queue can be claimed now. */
export async function hasDueJob(ask: Ask, environment: Environment): Promise<boolean> {
  const rows = await ask(
    `SELECT 1 FROM ${JOBS} WHERE name = $1 AND state < 'active' AND NOT blocked
       AND start_after <= ${JOBS_SCHEMA}.job_now() LIMIT 1`,
    [environment],
  );
  return rows.length > 0;
}

/** The jobs' part of postponeTurns, to be called before it: jobs are locked before images everywhere. */
export async function postponeJobs(
  tx: Tx,
  lane: Pick<Image, "accountId" | "environment" | "lane">,
): Promise<void> {
  await asked(tx)(
    `UPDATE ${JOBS} AS j SET priority = j.priority - 1 FROM images AS i
     WHERE i.account_id = $1 AND i.environment = $2 AND i.lane = $3 AND i.completed_at IS NULL
       AND i.state = 'queued' AND ${JOB_OF_IMAGE} AND j.state < 'active'`,
    [lane.accountId, lane.environment, lane.lane],
  );
}

/** Up to `limit` images that should have a job and have none. */
export async function imagesWithoutJob(
  tx: Tx,
  limit: number,
): Promise<Pick<Image, "id" | "environment" | "turn">[]> {
  const rows = await asked(tx)(
    `SELECT i.id, i.environment, i.turn FROM images AS i
     WHERE ${HAS_A_JOB} AND NOT EXISTS (SELECT 1 FROM ${JOBS} AS j WHERE ${JOB_OF_IMAGE} AND j.${IS_LIVE})
     LIMIT $1`,
    [limit],
  );
  return rows.map(({ id, environment, turn }) => ({
    id: String(id),
    environment: environment as Environment,
    turn: Number(turn),
  }));
}

/** Images and jobs that do not belong together: the first breaches of the audit's rule about them. */
export async function unmatchedJobs(tx: Tx, limit: number): Promise<Breach[]> {
  const rows = await asked(tx)(
    `SELECT i.id, i.state || ' without a job' AS detail FROM images AS i
       WHERE ${HAS_A_JOB} AND NOT EXISTS (SELECT 1 FROM ${JOBS} AS j WHERE ${JOB_OF_IMAGE} AND j.${IS_LIVE})
     UNION ALL
     SELECT j.data->>'imageId', 'a job, ' || j.state || ', of an image that is ' || coalesce(i.state, 'missing')
       FROM ${JOBS} AS j LEFT JOIN images AS i ON ${JOB_OF_IMAGE}
       WHERE j.name IN ('live', 'test') AND j.${IS_LIVE}
         AND (i.id IS NULL OR i.state NOT IN ('queued', 'rendering'))
     UNION ALL
     SELECT i.id, 'queued, but somebody works on its job' FROM images AS i JOIN ${JOBS} AS j ON ${JOB_OF_IMAGE}
       WHERE i.completed_at IS NULL AND i.state = 'queued' AND j.state = 'active'
     LIMIT $1`,
    [limit],
  );
  return rows.map(({ id, detail }) => ({ id: String(id), detail: String(detail) }));
}

/** The way to speak PostgreSQL's own language in a transaction. */
export function asked(tx: Tx): Ask {
  if (!tx.ask) throw new Error("this transaction is not on PostgreSQL");
  return tx.ask;
}
