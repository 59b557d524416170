import { and, count, eq, gt, inArray, isNull, ne, or, sql } from "drizzle-orm";
import { DELIVERY_JITTER, MAX_RETRY_AFTER_MS } from "../core/delivery-schedule.ts";
import { WEBHOOK_LEASE_MS } from "../core/limits.ts";
import type { AuditCheck } from "./audit-checks.ts";

const DAY_MS = 86_400_000;
/** Events are deleted after 30 days; this far back they must be whole, also when a clock was set wrong for a while. */
const EVENTS_WHOLE_MS = 20 * DAY_MS;
/** The longest wait of the schedule, and of a receiver's own wish, is a day. */
const LONGEST_WAIT_MS = Math.ceil(MAX_RETRY_AFTER_MS * (1 + DELIVERY_JITTER));

const events: AuditCheck = {
  name: "events",
  rule: "every image that has ended has the webhook event of its end and no other, with a body that tells it",
  find: async ({ db, t }, limit, now) => {
    const { images: i, webhookEvents: e } = t;
    const untold = await db
      .select({ id: i.id, detail: sql<string>`'no event image.' || ${i.state}` })
      .from(i)
      .leftJoin(e, and(eq(e.subject, i.id), eq(e.type, sql`'image.' || ${i.state}`)))
      .where(
        and(
          inArray(i.state, ["completed", "failed"]),
          gt(i.completedAt, now - EVENTS_WHOLE_MS),
          isNull(e.id),
        ),
      )
      .limit(limit);
    const ofImage = sql`${e.type} like 'image.%'`;
    const untrue = sql`${i.id} is null or ${e.type} <> 'image.' || ${i.state} or (${e.accountId}, ${e.environment}) <> (${i.accountId}, ${i.environment})`;
    const wrong = await db
      .select({ id: e.id, detail: sql<string>`${e.type} || ' about ' || ${e.subject}` })
      .from(e)
      .leftJoin(i, eq(i.id, e.subject))
      .where(
        or(
          sql`${e.body} not like '{"type":"' || ${e.type} || '",%}'`,
          sql`${ofImage} and (${untrue} or ${e.body} not like '%"' || ${e.subject} || '"%')`,
        ),
      )
      .limit(limit);
    return [...untold, ...wrong].slice(0, limit);
  },
};

const deliveries: AuditCheck = {
  name: "deliveries",
  rule: "every delivery belongs to the account and environment of its event and endpoint, has its attempts on record, and has arrived, failed, or is going to be sent",
  find: async ({ db, t }, limit) => {
    const { webhookEvents: e, webhookDeliveries: d, webhookEndpoints: p, deliveryAttempts: a } = t;
    const sound = sql`case ${d.state}
      when 'pending' then ${d.leaseToken} is null and ${d.nextAttemptAt} <= ${d.updatedAt} + ${sql.raw(String(LONGEST_WAIT_MS))}
      when 'sending' then ${d.leaseToken} is not null and ${d.leaseExpiresAt} <= ${d.updatedAt} + ${sql.raw(String(WEBHOOK_LEASE_MS))}
      when 'delivered' then ${d.leaseToken} is null and ${d.deliveredAt} is not null and ${d.attempts} >= 1
      when 'failed' then ${d.leaseToken} is null and ${d.nextAttemptAt} is null
      else false end`;
    const astray = sql`${e.id} is null or ${p.id} is null or (${d.accountId}, ${d.environment}) <> (${e.accountId}, ${e.environment})
      or (${d.accountId}, ${d.environment}) <> (${p.accountId}, ${p.environment}) or ${d.eventType} <> ${e.type}`;
    const broken = await db
      .select({
        id: d.id,
        detail: sql<string>`${d.state} || ', event ' || coalesce(${e.accountId}, 'gone') || ', endpoint ' || coalesce(${p.accountId}, 'gone')`,
      })
      .from(d)
      .leftJoin(e, eq(e.id, d.eventId))
      .leftJoin(p, eq(p.id, d.endpointId))
      .where(or(sql`coalesce(not (${sound}), true)`, sql`(${astray})`))
      .limit(limit);
    const made = db
      .select({ deliveryId: a.deliveryId, made: count().as("made") })
      .from(a)
      .groupBy(a.deliveryId)
      .as("made_attempts");
    const uncounted = await db
      .select({
        id: d.id,
        detail: sql<string>`${d.attempts} || ' attempts, on record ' || coalesce(${made.made}, 0)`,
      })
      .from(d)
      .leftJoin(made, eq(made.deliveryId, d.id))
      .where(ne(d.attempts, sql`coalesce(${made.made}, 0)`))
      .limit(limit);
    return [...broken, ...uncounted].slice(0, limit);
  },
};

const endpoints: AuditCheck = {
  name: "endpoints",
  rule: "every webhook endpoint is enabled with a secret, disabled with a reason, or removed without a secret",
  find: ({ db, t }, limit) => {
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
