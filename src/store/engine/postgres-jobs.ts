import { ENVIRONMENTS, type Environment } from "../../core/account.ts";
import type { RawQuery } from "../../core/ports.ts";
import type { Breach } from "../audit/audit-rule.ts";
import type { Image } from "../images/images.ts";
import type { Tx } from "../store.ts";

// What pg-boss offers no call for, in its own tables: see "job table" in its documentation. A queue per
// environment; the id of a job is the MD5 of its image's id, so that an image has one job at most.

/** The schema that pg-boss's tables are in, apart from ours. */
export const JOBS_SCHEMA = "cardpress_jobs";

const JOBS = `${JOBS_SCHEMA}.job`;
/** Created, or to be tried again, or being worked on. */
const IS_LIVE = "state <= 'active'";
const JOB_OF_IMAGE = "j.name = i.environment AND j.id = md5(i.id)::uuid";

/** Whether a job of this queue can be claimed now. */
export async function hasDueJob(rawQuery: RawQuery, environment: Environment): Promise<boolean> {
  const rows = await rawQuery(
    `SELECT 1 FROM ${JOBS} WHERE name = $1 AND state < 'active' AND NOT blocked
       AND start_after <= ${JOBS_SCHEMA}.job_now() LIMIT 1`,
    [environment],
  );
  return rows.length > 0;
}

/** Locks the jobs of these images. */
export async function lockJobs(tx: Tx, imageIds: readonly string[]): Promise<void> {
  await rawQueryOf(tx)(
    `SELECT id FROM ${JOBS} WHERE name IN ('live', 'test')
       AND id IN (SELECT md5(value)::uuid FROM json_array_elements_text($1::text::json) AS of(value))
     ORDER BY id FOR NO KEY UPDATE`,
    [JSON.stringify(imageIds)],
  );
}

/** The jobs' part of postponeTurns, to be called before it: jobs are locked before images everywhere. */
export async function postponeJobs(
  tx: Tx,
  lane: Pick<Image, "accountId" | "environment" | "lane">,
): Promise<void> {
  await rawQueryOf(tx)(
    `UPDATE ${JOBS} AS j SET priority = j.priority - 1 FROM images AS i
     WHERE i.account_id = $1 AND i.environment = $2 AND i.lane = $3 AND i.completed_at IS NULL
       AND i.state = 'queued' AND ${JOB_OF_IMAGE} AND j.state < 'active'`,
    [lane.accountId, lane.environment, lane.lane],
  );
}

/**
 * A place among the images that should have a job: queue by queue, in the order of the index images_queue.
 */
export type QueuePosition = Pick<Image, "environment" | "state" | "turn" | "createdAt" | "id">;

/** The next images behind `after` that should have a job, all in one state of one queue. */
export async function unfinishedAfter(
  tx: Tx,
  after: QueuePosition | undefined,
  limit: number,
): Promise<QueuePosition[]> {
  const places = ENVIRONMENTS.flatMap((environment) =>
    (["queued", "rendering"] as const).map((state) => ({ environment, state })),
  );
  const here = places.findIndex(
    ({ environment, state }) => environment === after?.environment && state === after.state,
  );
  for (const [n, { environment, state }] of places.slice(Math.max(0, here)).entries()) {
    const last = n === 0 ? after : undefined;
    const rows = await rawQueryOf(tx)(
      `SELECT turn, created_at, id FROM images WHERE environment = $1 AND state = $2 AND completed_at IS NULL
         ${last ? "AND (turn, created_at, id) > ($4, $5, $6)" : ""} ORDER BY turn, created_at, id LIMIT $3`,
      [environment, state, limit, ...(last ? [last.turn, last.createdAt, last.id] : [])],
    );
    if (rows.length > 0)
      return rows.map(({ turn, created_at, id }) => ({
        environment,
        state,
        turn: Number(turn),
        createdAt: Number(created_at),
        id: String(id),
      }));
  }
  return [];
}

/**
 * Those of the images, all of one queue, that have no job. Apart from finding the images: joined with them
 * PostgreSQL reads all jobs for each while it knows nothing of a new table.
 */
export async function withoutJob<Of extends Pick<Image, "id" | "environment">>(
  tx: Tx,
  images: readonly Of[],
): Promise<Of[]> {
  const [first] = images;
  if (!first) return [];
  const ids = images.map(({ id }) => id);
  const rows = await rawQueryOf(tx)(
    `SELECT data->>'imageId' AS id FROM ${JOBS}
     WHERE name = $1 AND ${IS_LIVE} AND id IN (SELECT md5(value)::uuid FROM json_array_elements_text($2::text::json) AS of(value))`,
    [first.environment, JSON.stringify(ids)],
  );
  const known = new Set(rows.map(({ id }) => id));
  return images.filter(({ id }) => !known.has(id));
}

/**
 * Images and jobs that do not belong together: the first breaches of the audit's rule about them. Both sides
 * are read once, along the indexes of what is not over; the images that are over are looked up for what is
 * wrong alone.
 */
export async function unmatchedJobs(tx: Tx, limit: number): Promise<Breach[]> {
  const rows = await rawQueryOf(tx)(
    `SELECT coalesce(i.id, j.image_id) AS id,
       CASE WHEN j.id IS NULL THEN i.state || ' without a job'
         WHEN i.id IS NULL THEN 'a job, ' || j.state || ', of an image that is '
           || coalesce((SELECT over.state FROM images AS over WHERE over.id = j.image_id), 'missing')
         ELSE 'queued, but somebody works on its job' END AS detail
     FROM (SELECT id, environment, state FROM images
         WHERE completed_at IS NULL AND state IN ('queued', 'rendering')) AS i
       FULL JOIN (SELECT id, name, state, data->>'imageId' AS image_id FROM ${JOBS}
         WHERE name IN ('live', 'test') AND ${IS_LIVE}) AS j
       ON ${JOB_OF_IMAGE}
     WHERE i.id IS NULL OR j.id IS NULL OR i.state = 'queued' AND j.state = 'active'
     LIMIT $1`,
    [limit],
  );
  return rows.map(({ id, detail }) => ({ id: String(id), detail: String(detail) }));
}

/** The way to speak PostgreSQL's own language in a transaction. */
export function rawQueryOf(tx: Tx): RawQuery {
  if (!tx.rawQuery) throw new Error("this transaction is not on PostgreSQL");
  return tx.rawQuery;
}
