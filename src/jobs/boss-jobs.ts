import { createHash } from "node:crypto";
import { type Db, fromBunSql, type JobAttempt, type PgBoss } from "pg-boss";
import type { Environment } from "../core/account.ts";
import { JOB_TOUCH_MS, MAX_RENDERS } from "../core/limits.ts";
import type { Log } from "../core/ports.ts";
import type { PostgresStore } from "../store/engine/postgres.ts";
import {
  hasDueJob,
  lockJobs,
  postponeJobs,
  rawQueryOf,
  unfinishedAfter,
  withoutJob,
} from "../store/engine/postgres-jobs.ts";
import { claimQueued, inheritImage, type Lease, postponeTurns } from "../store/images/images.ts";
import type { Tx } from "../store/store.ts";
import type { Claim, Claimed, Jobs } from "./jobs.ts";

interface JobData {
  imageId: string;
}

/** A claim in pg-boss's terms. Each claim of a job has another retryCount, which fences its end. */
interface Attempt extends JobAttempt {
  queue: Environment;
}

/**
 * pg-boss is the queue: one job per unfinished image, claimed by fetch() and ended in our transactions. Its
 * work() is not used: it waits between fetches, and a worker must be held before an image is claimed.
 */
export function bossJobs(boss: PgBoss, store: PostgresStore, log: Pick<Log, "warn">): Jobs {
  const enqueue: Jobs["enqueue"] = async (tx, images) => {
    for (const [queue, group] of Map.groupBy(images, ({ environment }) => environment)) {
      const jobs = group.map(({ id, turn }) => ({ id: jobId(id), data: { imageId: id }, priority: -turn }));
      await boss.insert(queue, jobs, { db: within(tx) });
    }
  };
  return {
    enqueue,
    isWaiting: (environment) => hasDueJob(store.rawQuery, environment),
    claim: (tx, claim) => claimJob(boss, tx, claim),
    heartbeat: heartbeats(boss, log),
    end: async (tx, lease) => {
      const attempt = attemptOf(lease);
      if (!attempt) return false;
      return affected(await boss.complete(attempt.queue, attempt, null, { db: within(tx) })) === 1;
    },
    requeue: async (tx, lease, pauseMs) => {
      const attempt = attemptOf(lease);
      if (!attempt) return false;
      const db = within(tx);
      if (affected(await boss.fail(attempt.queue, attempt, null, { db })) !== 1) return false;
      if (pauseMs > 0)
        await boss.update(attempt.queue, undefined, { id: attempt.id, startAfter: pauseMs / 1000, db });
      return true;
    },
    lock: lockJobs,
    cancel: async (tx, images) => {
      for (const [queue, group] of Map.groupBy(images, ({ environment }) => environment)) {
        const ids = group.map(({ id }) => jobId(id));
        await boss.deleteJob(queue, ids, { db: within(tx) });
      }
    },
    postpone: async (tx, lane) => {
      await postponeJobs(tx, lane);
      await postponeTurns(tx, lane);
    },
    enqueueMissing: async (tx, after) => {
      const images = await unfinishedAfter(tx, after, CHECKED_AT_ONCE);
      await enqueue(tx, await withoutJob(tx, images));
      return images.at(-1);
    },
    supervise: () => boss.supervise(),
  };
}

/** Images looked at in one transaction. */
export const CHECKED_AT_ONCE = 1_000;

/** The next image of a queue. One whose worker died is still `rendering`, and is taken over. */
async function claimJob(boss: PgBoss, tx: Tx, claim: Claim): Promise<Claimed | undefined> {
  for (;;) {
    const [job] = await boss.fetch<JobData>(claim.environment, { db: within(tx) });
    if (!job) return undefined;
    const { imageId } = job.data;
    const own = { ...claim, token: `${claim.token}.${claim.environment}.${job.retryCount}` };
    const queued = await claimQueued(tx, imageId, own);
    if (queued) return queued as Claimed;
    const inherited = await inheritImage(tx, imageId, own, MAX_RENDERS);
    if (inherited) {
      if (!inherited.isSpent) {
        await postponeJobs(tx, inherited.image);
        await postponeTurns(tx, inherited.image);
      }
      return { ...inherited.image, leaseToken: own.token, isSpent: inherited.isSpent };
    }
    // Nobody wants it any more.
    await boss.complete(claim.environment, { id: job.id, retryCount: job.retryCount }, null, {
      db: within(tx),
    });
  }
}

/** Tells pg-boss again and again that this process lives and works on what it holds. */
function heartbeats(boss: PgBoss, log: Pick<Log, "warn">): Jobs["heartbeat"] {
  const held = new Set<Attempt>();
  let timer: Timer | undefined;
  const touch = async () => {
    for (const [queue, attempts] of Map.groupBy(held, (attempt) => attempt.queue)) {
      await boss
        .touch(queue, attempts)
        .catch((error) => log.warn("job_heartbeat_failed", { error: String(error) }));
    }
  };
  return (lease) => {
    const attempt = attemptOf(lease);
    if (!attempt) return () => {};
    held.add(attempt);
    timer ??= setInterval(touch, JOB_TOUCH_MS).unref();
    return () => {
      held.delete(attempt);
      if (held.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    };
  };
}

/** How many jobs a command found as they should be: its answer says so, its declared type does not. */
function affected(response: object): number {
  return Number((response as { affected?: number }).affected);
}

/** The id of an image's job; md5(id)::uuid in the database. */
function jobId(imageId: string): string {
  const hex = createHash("md5").update(imageId).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** A lease's token ends with queue and attempt; undefined for leases from before this queue. */
function attemptOf({ imageId, token }: Lease): Attempt | undefined {
  const [, queue, attempt] = /\.(live|test)\.(\d+)$/.exec(token) ?? [];
  if (queue === undefined) return undefined;
  return { id: jobId(imageId), queue: queue as Environment, retryCount: Number(attempt) };
}

const executors = new WeakMap<Tx, Db>();

/** pg-boss's statements in our transaction. */
function within(tx: Tx): Db {
  const known = executors.get(tx);
  if (known) return known;
  const unsafe = async (text: string, values: unknown[] = []) => {
    try {
      return await rawQueryOf(tx)(text, values);
    } catch (cause) {
      // Wrapped, because the adapter changes the code of the driver's errors, by which ours knows them again.
      throw new Error(`the queue's statement failed: ${(cause as Error).message}`, { cause });
    }
  };
  const made = fromBunSql({
    unsafe,
    reserve: () => Promise.reject(new Error("a transaction is under way already")),
  });
  executors.set(tx, made);
  return made;
}
