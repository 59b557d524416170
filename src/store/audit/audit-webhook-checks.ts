import { and, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import { DELIVERY_JITTER, MAX_RETRY_AFTER_MS } from "../../core/delivery-schedule.ts";
import { WEBHOOK_LEASE_MS } from "../../core/outbound-limits.ts";
import { DAY_MS } from "../../core/time.ts";
import type { Tx } from "../store.ts";
import type { AuditCheck, Breach } from "./audit-rule.ts";

/**
 * Events are deleted after 30 days; this far back they must be complete, even if a clock was wrong for a
 * while.
 */
export const EVENTS_WHOLE_MS = 20 * DAY_MS;
/** The longest wait, in the schedule or at a receiver's request, is a day. */
const LONGEST_WAIT_MS = Math.ceil(MAX_RETRY_AFTER_MS * (1 + DELIVERY_JITTER));

/** The event of an image's end; its publication, which has one too, is no end. */
const isOfEnd = ({ webhookEvents: e }: Tables) => sql`${e.type} in ('image.completed', 'image.failed')`;

const events: AuditCheck = {
  name: "events",
  rule: "every image that ended in the last 20 days, and was not deleted, has the webhook event of its end and no other, with a body that reports it",
  find: async (tx, { limit, now, since: sealed }) => {
    const { db, t } = tx;
    const { images: i, webhookEvents: e } = t;
    const since = Math.max(now - EVENTS_WHOLE_MS, sealed ?? 0);
    const ofImage = sql`${e.type} like 'image.%'`;
    const detail = sql<string>`${e.type} || ' about ' || ${e.subject}`;
    const garbled = await db
      .select({ id: e.id, detail })
      .from(e)
      .where(
        and(
          gt(e.createdAt, since),
          // One pattern for both checks: the body starts with the event's type and contains the image's id.
          sql`${e.body} not like '{"type":"' || ${e.type} || case when ${ofImage} then '",%"' || ${e.subject} || '"%}' else '",%}' end`,
        ),
      )
      .limit(limit);
    if (garbled.length === 0 && (await areEndsTold(tx, since))) return [];
    const untold = await db
      .select({ id: i.id, detail: sql<string>`'no event image.' || ${i.state}` })
      .from(i)
      .leftJoin(e, and(eq(e.subject, i.id), eq(e.type, sql`'image.' || ${i.state}`)))
      .where(
        and(
          inArray(i.state, ["completed", "failed"]),
          gt(i.completedAt, since),
          isNull(i.forgottenAt),
          isNull(e.id),
        ),
      )
      .limit(limit);
    const untrue = sql`${i.id} is null or ${i.forgottenAt} is not null or ${e.type} <> 'image.' || ${i.state} or (${e.accountId}, ${e.environment}) <> (${i.accountId}, ${i.environment})`;
    const wrong = await db
      .select({ id: e.id, detail })
      .from(e)
      .leftJoin(i, eq(i.id, e.subject))
      .where(and(gt(e.createdAt, since), isOfEnd(t), sql`(${untrue})`))
      .limit(limit);
    return [...untold, ...wrong, ...garbled].slice(0, limit);
  },
};

/**
 * Whether every account has as many events of each kind as images that ended that way. An event has the exact
 * time of its image's end, there is one per image, and its body names it, so equal counts mean that every end
 * was announced; counting is five times faster than looking up the image of each event.
 */
async function areEndsTold({ db, t }: Tx, since: number): Promise<boolean> {
  const { images: i, webhookEvents: e } = t;
  // The expression keeps an index out that has the accounts in order, and all their images.
  const difference = sql`(select account_id, environment, type, sum(n) as n from (
    select coalesce(${i.accountId}, '') as account_id, ${i.environment} as environment, 'image.' || ${i.state} as type, count(*) as n
      from ${i} where ${i.completedAt} > ${since} and ${i.forgottenAt} is null group by 1, 2, 3
    union all select ${e.accountId}, ${e.environment}, ${e.type}, -count(*)
      from ${e} where ${e.createdAt} > ${since} and ${isOfEnd(t)} group by 1, 2, 3
  ) as counted group by 1, 2, 3) as difference`;
  const odd = await db.select({ odd: sql`1` }).from(difference).where(sql`difference.n <> 0`).limit(1);
  return odd.length === 0;
}

const deliveries: AuditCheck = {
  name: "deliveries",
  rule: "every delivery belongs to the account and environment of its endpoint, and until it has arrived to those of its event; its attempts are on record; it has arrived, failed, or is going to be sent to an endpoint that is enabled",
  find: async (tx, { limit, since }) => {
    const { db, t } = tx;
    const { webhookEvents: e, webhookDeliveries: d, webhookEndpoints: p } = t;
    const recent = since === undefined ? undefined : inArray(d.id, deliveriesSince(t, since));
    const sound = sql`case ${d.state}
      when 'pending' then ${p.state} = 'enabled' and ${d.leaseToken} is null and ${d.nextAttemptAt} <= ${d.updatedAt} + ${sql.raw(String(LONGEST_WAIT_MS))}
      when 'sending' then ${d.leaseToken} is not null and ${d.leaseExpiresAt} <= ${d.updatedAt} + ${sql.raw(String(WEBHOOK_LEASE_MS))}
      when 'delivered' then ${d.leaseToken} is null and ${d.deliveredAt} is not null and ${d.attempts} >= 1
      when 'failed' then ${d.leaseToken} is null and ${d.nextAttemptAt} is null
      else false end`;
    const ofEndpoint = sql`${p.id} is null or (${d.accountId}, ${d.environment}) <> (${p.accountId}, ${p.environment})`;
    const broken = await db
      .select({
        id: d.id,
        detail: sql<string>`${d.state} || ', endpoint of ' || coalesce(${p.accountId}, 'nobody')`,
      })
      .from(d)
      .leftJoin(p, eq(p.id, d.endpointId))
      .where(and(recent, or(sql`coalesce(not (${sound}), true)`, sql`(${ofEndpoint})`)))
      .limit(limit);
    const ofEvent = sql`${e.id} is null or (${d.accountId}, ${d.environment}, ${d.eventType}) <> (${e.accountId}, ${e.environment}, ${e.type})`;
    const astray = await db
      .select({
        id: d.id,
        detail: sql<string>`${d.state} || ', event of ' || coalesce(${e.accountId}, 'nobody')`,
      })
      .from(d)
      .leftJoin(e, eq(e.id, d.eventId))
      // Only undelivered ones matter: these few may still be sent, and have an index.
      .where(sql`${d.state} <> 'delivered' and (${ofEvent})`)
      .limit(limit);
    return [...broken, ...astray, ...(await uncountedAttempts(tx, recent, limit))].slice(0, limit);
  },
};

/** The deliveries of events since then, and those that have not arrived. */
function deliveriesSince({ webhookEvents: e, webhookDeliveries: d }: Tx["t"], since: number): SQL {
  return sql`(select ${d.id} from ${e} join ${d} on ${d.eventId} = ${e.id} where ${e.createdAt} > ${since}
    union all select ${d.id} from ${d} where ${d.state} <> 'delivered')`;
}

/**
 * Deliveries that count another number of attempts than are on record; all of them, unless only some are
 * `wanted`.
 */
async function uncountedAttempts({ db, t }: Tx, wanted: SQL | undefined, limit: number): Promise<Breach[]> {
  const { webhookDeliveries: d, deliveryAttempts: a } = t;
  if (!wanted) {
    // Two sums are many times quicker than looking up the attempts of each.
    const sums = sql`(select (select sum(${d.attempts}) from ${d}) as counted, (select count(*) from ${a}) as made) as sums`;
    const odd = await db
      .select({ odd: sql`1` })
      .from(sums)
      .where(sql`coalesce(sums.counted, 0) <> sums.made`);
    if (odd.length === 0) return [];
  }
  const made = sql`(select count(*) from ${a} where ${a.deliveryId} = ${d.id})`;
  return db
    .select({ id: d.id, detail: sql<string>`${d.attempts} || ' attempts, on record ' || ${made}` })
    .from(d)
    .where(and(wanted, sql`${d.attempts} <> ${made}`))
    .limit(limit);
}

const endpoints: AuditCheck = {
  name: "endpoints",
  rule: "every webhook endpoint is enabled with a secret, disabled with a reason, or removed without a secret",
  find: ({ db, t }, { limit }) => {
    const p = t.webhookEndpoints;
    const sound = sql`case ${p.state}
      when 'enabled' then ${p.secret} like 'v1.%' and ${p.disabledAt} is null
      when 'disabled' then ${p.secret} like 'v1.%' and ${p.disabledAt} is not null and ${p.disabledReason} is not null
      when 'removed' then ${p.secret} = '' and ${p.previousSecret} is null
      else false end and ${p.url} like 'http%'`;
    return db
      .select({ id: p.id, detail: p.state })
      .from(p)
      .where(sql`coalesce(not (${sound}), true)`)
      .limit(limit);
  },
};

export const WEBHOOK_CHECKS: readonly AuditCheck[] = [events, deliveries, endpoints];
