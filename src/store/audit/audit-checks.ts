import {
  type AnyColumn,
  and,
  eq,
  gt,
  isNull,
  lt,
  ne,
  notInArray,
  notLike,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { TIERS } from "../../core/account.ts";
import { MAX_RENDERS } from "../../core/limits.ts";
import { DAY_MS, monthOf } from "../../core/time.ts";
import { unmatchedJobs } from "../engine/postgres-jobs.ts";
import type { Tx } from "../store.ts";
import { LEDGER_CHECKS } from "./audit-ledger-checks.ts";
import type { AuditCheck, Breach } from "./audit-rule.ts";
import { soundState } from "./audit-states.ts";
import { EVENTS_WHOLE_MS, WEBHOOK_CHECKS } from "./audit-webhook-checks.ts";

const accounts: AuditCheck = {
  name: "accounts",
  rule: "every account has a known tier and status, and its plan is of a month that has come",
  find: ({ db, t }, { limit, now }) => {
    const { id, tier, status, planPeriod, creditLimit } = t.accounts;
    // The clock may have been slightly ahead when it renewed the plan.
    const newest = monthOf(now + DAY_MS);
    return db
      .select({ id, detail: sql<string>`${tier} || ', ' || ${status} || ', plan of ' || ${planPeriod}` })
      .from(t.accounts)
      .where(
        or(
          notInArray(tier, [...TIERS]),
          notInArray(status, ["active", "suspended"]),
          notLike(planPeriod, "____-__"),
          gt(planPeriod, newest),
          lt(creditLimit, 0),
        ),
      )
      .limit(limit);
  },
};

const payments: AuditCheck = {
  name: "payments",
  rule: "a live image has one reservation of its account, settled when it completed, released when it failed, open until then; a test image has none",
  find: ({ db, t }, { limit }) => {
    const i = t.images;
    // Two views of the ledger, each joined through its own partial unique index, whose condition the query
    // must repeat.
    const reserve = entriesAs(t, "reserve");
    const resolution = entriesAs(t, "resolution");
    const wanted = sql`case when ${i.environment} = 'test' then 'none' else
      case ${i.state} when 'completed' then 'reserve+settle' when 'failed' then 'reserve+release' else 'reserve' end end`;
    const found = sql<string>`coalesce(reserve.kind || coalesce('+' || resolution.kind, ''), coalesce(resolution.kind, 'none'))`;
    const foreign = sql`reserve.account_id <> ${i.accountId} or resolution.account_id <> ${i.accountId}
      or resolution.bucket <> reserve.bucket or resolution.period <> reserve.period`;
    return db
      .select({
        id: i.id,
        detail: sql<string>`${i.environment} || ' ' || ${i.state} || ': entries ' || ${found} || case when ${foreign} then ' of another account, bucket or month' else '' end`,
      })
      .from(i)
      .leftJoin(reserve, sql`reserve.image_id = ${i.id} and reserve.kind = 'reserve'`)
      .leftJoin(resolution, sql`resolution.image_id = ${i.id} and resolution.kind in ('settle', 'release')`)
      .where(or(sql`${wanted} <> ${found}`, sql`(${foreign})`))
      .limit(limit);
  },
};

/**
 * The ledger under an alias, as `sql`, because Drizzle's typed aliases differ between SQLite and Postgres.
 */
function entriesAs(t: Tx["t"], name: string): SQL {
  return sql`${t.ledgerEntries} as ${sql.identifier(name)}`;
}

const states: AuditCheck = {
  name: "states",
  rule: `an image is queued for a render that comes, rendering under a lease that ends, completed with a picture, or failed with a reason, after at most ${MAX_RENDERS} renders`,
  find: ({ db, t }, { limit }) => {
    const i = t.images;
    return db
      .select({
        id: i.id,
        detail: sql<string>`${i.environment} || ' ' || ${i.state} || ' after ' || ${i.renders} || ' renders'`,
      })
      .from(i)
      .where(sql`not (${soundState(t)})`)
      .limit(limit);
  },
};

/** Records are kept for 72 hours; partners are promised 48, and no sweep is ever a day early. */
const RECORDS_WHOLE_MS = 2 * DAY_MS;

const replays: AuditCheck = {
  name: "replays",
  rule: "every idempotency record answers with one image of its own account and environment, and no image of the last 48 hours is without",
  find: async (tx, { limit, now, since }) => {
    const whole = now - RECORDS_WHOLE_MS;
    const ofImages = await misansweredImages(tx, { since: since ?? whole, whole, limit });
    if (since !== undefined) return ofImages;
    const ofRecords = await wrongRecords(tx, limit);
    // The record of a recent image is looked at by both.
    return [...new Map([...ofImages, ...ofRecords].map((breach) => [breach.id, breach])).values()];
  },
};

/**
 * The images that ended after `since`, or not at all, with a wrong record, or created after `whole` without
 * one. As a subquery and not as a join: each record is looked up by its image, whatever an engine may think
 * of reading all of them.
 */
async function misansweredImages(
  { db, t }: Tx,
  { since, whole, limit }: { since: number; whole: number; limit: number },
): Promise<Breach[]> {
  const { idempotencyRecords: r, images: i } = t;
  const ofOther = sql`min(${r.accountId}) <> ${i.accountId} or min(${r.environment}) <> ${i.environment}`;
  // A failed card of a batch may have been requested again: its record then belongs to the new image.
  const detail = sql`(select case when count(*) = 0
      then case when ${i.createdAt} > ${whole} and ${i.lane} = 0 then 'no record: a repeated request would make a second image' end
    when count(*) > 1 or ${ofOther} or ${isGarbled(t, i.id)} then ${recordDetail(t)} end
    from ${r} where ${r.imageId} = ${i.id})`;
  // Along the indexes of both.
  const looked = (condition: SQL) =>
    sql`select ${i.id} as id, ${detail} as detail from ${i} where ${condition}`;
  const found = sql`(${looked(sql`${i.completedAt} > ${since}`)} union all ${looked(sql`${i.completedAt} is null`)}) as found`;
  return db
    .select({ id: sql<string>`found.id`, detail: sql<string>`found.detail` })
    .from(found)
    .where(sql`found.detail is not null`)
    .limit(limit);
}

/** The records that do not answer as they should, by the ids of their images. */
async function wrongRecords({ db, t }: Tx, limit: number): Promise<Breach[]> {
  const { idempotencyRecords: r, images: i } = t;
  return db
    .select({ id: r.imageId, detail: recordDetail(t) })
    .from(r)
    .leftJoin(i, and(eq(i.id, r.imageId), eq(i.accountId, r.accountId), eq(i.environment, r.environment)))
    .groupBy(r.imageId)
    .having(or(isNull(sql`min(${i.id})`), ne(sql`count(*)`, sql`1`), isGarbled(t, r.imageId)))
    .limit(limit);
}

function recordDetail({ idempotencyRecords: r }: Tx["t"]): SQL<string> {
  return sql<string>`'record ' || min(${r.key}) || ' of ' || min(${r.accountId})`;
}

/** Of a group of records of one image, whether the stored answer or the fingerprint cannot be right. */
function isGarbled({ idempotencyRecords: r }: Tx["t"], imageId: AnyColumn): SQL {
  return sql`(min(${r.responseBody}) not like '{%"image_id":"' || ${imageId} || '"%}' or length(min(${r.fingerprint})) <> 64)`;
}

const usage: AuditCheck = {
  name: "usage",
  rule: "the usage counters are the numbers of images requested, completed, failed, canceled and paid for",
  find: ({ db, t }, { limit }) => {
    const { usageDays: u, images: i, accounts: a } = t;
    const counted = sql`(select ${u.accountId} as account_id, ${u.environment} as environment, sum(${u.requested}) as requested,
      sum(${u.completed}) as completed, sum(${u.failed}) as failed, sum(${u.canceled}) as canceled, sum(${u.creditsUsed}) as credits_used from ${u} group by 1, 2) as counted`;
    const real = sql`(select ${i.accountId} as account_id, ${i.environment} as environment, count(*) as requested,
      sum(case when ${i.state} = 'completed' then 1 else 0 end) as completed, sum(case when ${i.state} = 'failed' then 1 else 0 end) as failed,
      sum(case when ${i.failureReason} = 'canceled' then 1 else 0 end) as canceled from ${i} group by 1, 2) as real`;
    const keys = sql`(select ${a.id} as account_id, 'live' as environment from ${a} union all select ${a.id}, 'test' from ${a}) as keys`;
    const same = (name: string) => sql.raw(`coalesce(counted.${name}, 0) = coalesce(real.${name}, 0)`);
    return db
      .select({
        id: sql<string>`keys.account_id`,
        detail: sql<string>`keys.environment || ' counters requested/completed/failed/canceled/used ' || coalesce(counted.requested, 0) || '/' || coalesce(counted.completed, 0)
          || '/' || coalesce(counted.failed, 0) || '/' || coalesce(counted.canceled, 0) || '/' || coalesce(counted.credits_used, 0) || ', images ' || coalesce(real.requested, 0)
          || '/' || coalesce(real.completed, 0) || '/' || coalesce(real.failed, 0) || '/' || coalesce(real.canceled, 0)`,
      })
      .from(keys)
      .leftJoin(counted, sql`counted.account_id = keys.account_id and counted.environment = keys.environment`)
      .leftJoin(real, sql`real.account_id = keys.account_id and real.environment = keys.environment`)
      .where(
        sql`not (${same("requested")} and ${same("completed")} and ${same("failed")} and ${same("canceled")} and coalesce(counted.credits_used, 0) =
          case keys.environment when 'live' then coalesce(real.completed, 0) else 0 end)`,
      )
      .limit(limit);
  },
};

const batches: AuditCheck = {
  name: "batches",
  rule: "a batch has as many cards as it counts, of its own account and environment, counts how each ended, is over with its last one, and was announced once when it was",
  find: ({ db, t }, { limit, now, since }) => {
    const { batches: b, batchCards: c, images: i, webhookEvents: e } = t;
    const isRecent =
      since === undefined ? sql`true` : sql`(${b.completedAt} is null or ${b.completedAt} > ${since})`;
    // A completed card that is being changed counts as one in the making, a change that failed not at all.
    const cardsThat = (is: SQL) => sql`sum(case when ${c.position} >= 0 and ${is} then 1 else 0 end)`;
    const real = sql`(select ${c.batchId} as batch_id, sum(case when ${c.position} >= 0 then 1 else 0 end) as total,
      ${cardsThat(sql`${i.state} = 'completed'`)} - sum(case when ${c.position} < 0 and ${i.completedAt} is null then 1 else 0 end) as completed,
      ${cardsThat(sql`${i.state} = 'failed'`)} as failed, ${cardsThat(sql`${i.failureReason} = 'canceled'`)} as canceled,
      min(${i.accountId} || ${i.environment}) as first_owner, max(${i.accountId} || ${i.environment}) as last_owner
      from ${b} cross join ${c} join ${i} on ${i.id} = ${c.imageId} where ${isRecent} and ${c.batchId} = ${b.id} group by 1) as real`;
    // As tellEnd names it: each end is an event of its own.
    const subject = sql`case when ${b.reopened} = 0 then ${b.id} else ${b.id} || '#' || ${b.reopened} end`;
    const announced = sql`(select count(*) from ${e} where ${e.subject} = ${subject} and ${e.type} = 'batch.completed')`;
    const owner = sql`${b.accountId} || ${b.environment}`;
    const sound = sql`real.total = ${b.total} and real.completed = ${b.completed} and real.failed = ${b.failed} and real.canceled = ${b.canceled}
      and real.first_owner = ${owner} and real.last_owner = ${owner}
      and (${b.completedAt} is not null) = (real.completed + real.failed = real.total)
      and case when ${b.completedAt} is null then ${announced} = 0 when ${b.completedAt} > ${now - EVENTS_WHOLE_MS} then ${announced} = 1 else true end`;
    return db
      .select({
        id: b.id,
        detail: sql<string>`'counts completed/failed/canceled/total ' || ${b.completed} || '/' || ${b.failed} || '/' || ${b.canceled} || '/' || ${b.total}
          || ', cards ' || coalesce(real.completed, 0) || '/' || coalesce(real.failed, 0) || '/' || coalesce(real.canceled, 0) || '/' || coalesce(real.total, 0) || ', announced ' || ${announced}`,
      })
      .from(b)
      .leftJoin(real, sql`real.batch_id = ${b.id}`)
      .where(sql`${isRecent} and coalesce(not (${sound}), true)`)
      .limit(limit);
  },
};

const serials: AuditCheck = {
  name: "serials",
  rule: "a card's number in its set is held while it is made, final once it is, given back when it failed, and of a set of the same account and environment",
  find: ({ db, t }, { limit }) => {
    const { setCards: c, cardSets: s, images: i } = t;
    const isSound = sql`${s.accountId} = ${i.accountId} and ${s.environment} = ${i.environment}
      and case ${c.state} when 'held' then ${i.completedAt} is null when 'released' then ${i.state} = 'failed' and ${c.serial} is null
        else ${i.state} = 'completed' end
      and (${c.size} is null or (${c.state} = 'released') = (${c.serial} is null))`;
    return db
      .select({
        id: c.imageId,
        detail: sql<string>`${c.state} || ' ' || coalesce(${c.serial}, 0) || ' of ' || ${c.setId} || ', image ' || coalesce(${i.state}, 'missing')`,
      })
      .from(c)
      .leftJoin(s, eq(s.id, c.setId))
      .leftJoin(i, eq(i.id, c.imageId))
      .where(sql`coalesce(not (${isSound}), true)`)
      .limit(limit);
  },
};

const jobs: AuditCheck = {
  name: "jobs",
  rule: "every image that is queued or being rendered has one live job, and every live job such an image",
  // Where the queue is the images themselves, there is nothing to compare.
  find: async (tx, { limit }) => (tx.rawQuery ? unmatchedJobs(tx, limit) : []),
};

/** The rules that sums over all images prove together; asked one by one where they do not. */
export const BOOK_CHECKS: readonly AuditCheck[] = [...LEDGER_CHECKS, payments, states, usage];

/** The others. */
export const AUDIT_CHECKS: readonly AuditCheck[] = [
  accounts,
  replays,
  batches,
  serials,
  ...WEBHOOK_CHECKS,
  jobs,
];
