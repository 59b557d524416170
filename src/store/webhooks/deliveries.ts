import {
  and,
  asc,
  type Column,
  desc,
  eq,
  exists,
  gt,
  inArray,
  isNull,
  lte,
  ne,
  notExists,
  or,
  sql,
} from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";

import { CLOCK_TOLERANCE_MS } from "../../core/limits.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { WEBHOOK_LEASE_MS } from "../../core/outbound-limits.ts";
import type { Tx } from "../store.ts";
import type { WebhookEndpoint } from "./webhooks.ts";

export type WebhookDelivery = Tables["webhookDeliveries"]["$inferSelect"];
export type DeliveryAttempt = Tables["deliveryAttempts"]["$inferSelect"];

/** Proof of a claim: only its holder may record the attempt. */
export interface DeliveryLease {
  deliveryId: string;
  token: string;
}

const NO_LEASE = { leaseToken: null, leaseExpiresAt: null } as const;

/** Rows per statement: SQLite accepts 32,766 bound values in all. */
const INSERTED_AT_ONCE = 500;

export async function insertDeliveries({ db, t }: Tx, deliveries: WebhookDelivery[]): Promise<void> {
  for (let at = 0; at < deliveries.length; at += INSERTED_AT_ONCE)
    await db.insert(t.webhookDeliveries).values(deliveries.slice(at, at + INSERTED_AT_ONCE));
}

export async function findDelivery({ db, t }: Tx, id: string): Promise<WebhookDelivery | undefined> {
  const [delivery] = await db
    .select()
    .from(t.webhookDeliveries)
    .where(eq(t.webhookDeliveries.id, id))
    .limit(1);
  return delivery;
}

export interface DeliveryFilter {
  accountId: string;
  environment?: Environment | undefined;
  endpointId?: string | undefined;
  state?: WebhookDelivery["state"] | undefined;
  eventType?: string | undefined;
  /** What the event is about: an image's id. */
  subject?: string | undefined;
}

/** Newest first, after `after`. */
export async function listDeliveryRows(
  { db, t }: Tx,
  query: DeliveryFilter & { after?: ListPosition | undefined; limit: number },
): Promise<WebhookDelivery[]> {
  const { webhookDeliveries: d, webhookEvents: e } = t;
  const { after, subject, endpointId, state } = query;
  const about =
    subject === undefined ? undefined : db.select({ id: e.id }).from(e).where(eq(e.subject, subject));
  // An image is more selective than its account. Without this SQLite walks all of the account's deliveries,
  // because their index has the order of the list.
  const scoped = (column: Column) => (about ? sql`coalesce(${column}, '')` : sql`${column}`);
  const p = t.webhookEndpoints;
  // The endpoint is asked whose it is, and not each delivery: its index alone then has what is wanted, in
  // order.
  const ofEndpoint = (id: string, environment: Environment | undefined) =>
    eq(
      d.endpointId,
      db
        .select({ id: p.id })
        .from(p)
        .where(
          and(
            eq(p.id, id),
            eq(p.accountId, query.accountId),
            environment ? eq(p.environment, environment) : undefined,
          ),
        ),
    );
  const order = [desc(d.createdAt), desc(d.id)] as const;
  const rowsOf = (environment: Environment | undefined) =>
    db
      .select()
      .from(d)
      .where(
        and(
          ...(endpointId
            ? [ofEndpoint(endpointId, environment)]
            : [
                eq(scoped(d.accountId), query.accountId),
                environment ? eq(scoped(d.environment), environment) : undefined,
              ]),
          state ? eq(d.state, state) : undefined,
          // The condition of the partial index of undelivered ones.
          state && state !== "delivered" ? sql`${d.state} <> 'delivered'` : undefined,
          query.eventType ? eq(d.eventType, query.eventType) : undefined,
          about ? inArray(d.eventId, about) : undefined,
          after ? sql`(${d.createdAt}, ${d.id}) < (${after.createdAt}, ${after.id})` : undefined,
        ),
      )
      .orderBy(...order)
      .limit(query.limit);
  if (about || endpointId || query.environment !== undefined) return rowsOf(query.environment);
  // The account's indexes are per environment: each is walked in list order, as far as the list goes.
  const own = (environment: Environment) => db.select().from(rowsOf(environment).as(environment));
  return own("live")
    .unionAll(own("test"))
    .orderBy(...order)
    .limit(query.limit);
}

/** All attempts of some deliveries, in the order they were made. */
export async function attemptsOf({ db, t }: Tx, deliveryIds: string[]): Promise<DeliveryAttempt[]> {
  const a = t.deliveryAttempts;
  return db
    .select()
    .from(a)
    .where(inArray(a.deliveryId, deliveryIds))
    .orderBy(asc(a.deliveryId), asc(a.number));
}

/** Enabled endpoints with a due delivery, by how long it has been due. One index probe per endpoint. */
export async function dueEndpoints({ db, t }: Tx, now: number): Promise<WebhookEndpoint[]> {
  const { webhookEndpoints: e, webhookDeliveries: d } = t;
  const due = db
    .select({ id: d.id })
    .from(d)
    .where(and(eq(d.endpointId, e.id), eq(d.state, "pending"), lte(d.nextAttemptAt, now)));
  return db
    .select()
    .from(e)
    .where(and(eq(e.state, "enabled"), or(isNull(e.pausedUntil), lte(e.pausedUntil, now)), exists(due)));
}

/** Claims up to `limit` due deliveries of an endpoint for one attempt each, the longest overdue first. */
export async function claimDeliveries(
  { db, t }: Tx,
  claim: { endpointId: string; limit: number; token: string; now: number; leaseExpiresAt: number },
): Promise<WebhookDelivery[]> {
  const d = t.webhookDeliveries;
  const isDue = and(eq(d.state, "pending"), lte(d.nextAttemptAt, claim.now));
  const next = db
    .select({ id: d.id })
    .from(d)
    .where(and(eq(d.endpointId, claim.endpointId), isDue))
    .orderBy(asc(d.nextAttemptAt))
    .limit(claim.limit);
  return db
    .update(d)
    .set({
      state: "sending",
      nextAttemptAt: null,
      leaseToken: claim.token,
      leaseExpiresAt: claim.leaseExpiresAt,
      updatedAt: claim.now,
    })
    .where(and(inArray(d.id, next), isDue))
    .returning();
}

/** How many deliveries of an endpoint are being sent, by all processes together. */
export async function countSending({ db, t }: Tx, endpointId: string): Promise<number> {
  const d = t.webhookDeliveries;
  const [row] = await db
    .select({ n: sql<number>`count(*)`.mapWith(Number) })
    .from(d)
    // Written out: SQLite does not look into parameters when it chooses a partial index.
    .where(and(sql`${d.state} = 'sending'`, eq(d.endpointId, endpointId)));
  return row?.n ?? 0;
}

/** What happens to a claimed delivery that failed: nothing more, or a retry at `nextAttemptAt`. */
export type NextDeliveryState = { state: "failed" } | { state: "pending"; nextAttemptAt: number };

/** Ends a claim; undefined when the lease was lost and nothing changed. `attempted`: counts as an attempt. */
export async function endClaim(
  { db, t }: Tx,
  lease: DeliveryLease,
  end: NextDeliveryState,
  { now, attempted }: { now: number; attempted: boolean },
): Promise<WebhookDelivery | undefined> {
  const d = t.webhookDeliveries;
  const [delivery] = await db
    .update(d)
    .set({
      ...NO_LEASE,
      state: end.state,
      nextAttemptAt: end.state === "pending" ? end.nextAttemptAt : null,
      updatedAt: now,
      ...(attempted ? { attempts: sql`${d.attempts} + 1`, step: sql`${d.step} + 1` } : {}),
    })
    .where(and(eq(d.id, lease.deliveryId), eq(d.state, "sending"), eq(d.leaseToken, lease.token)))
    .returning();
  return delivery;
}

/**
 * Ends the claims of one lease whose deliveries succeeded; returns those it still held, with their attempts
 * counted.
 */
export async function endDelivered(
  { db, t }: Tx,
  { deliveryIds, token }: { deliveryIds: string[]; token: string },
  now: number,
): Promise<Pick<WebhookDelivery, "id" | "attempts">[]> {
  const d = t.webhookDeliveries;
  return db
    .update(d)
    .set({
      ...NO_LEASE,
      state: "delivered",
      deliveredAt: now,
      updatedAt: now,
      attempts: sql`${d.attempts} + 1`,
      step: sql`${d.step} + 1`,
    })
    .where(and(inArray(d.id, deliveryIds), eq(d.state, "sending"), eq(d.leaseToken, token)))
    .returning({ id: d.id, attempts: d.attempts });
}

export async function insertAttempts({ db, t }: Tx, attempts: DeliveryAttempt[]): Promise<void> {
  if (attempts.length > 0) await db.insert(t.deliveryAttempts).values(attempts);
}

/**
 * Ends claims whose lease expired before `now`; with `tokens`, instead those of these leases. What was being
 * sent may have arrived; at-least-once delivery makes it due again under the same id, unless its endpoint was
 * disabled or removed meanwhile. Returns how many are due again.
 */
export async function releaseClaims(
  { db, t }: Tx,
  query: { now: number; tokens?: readonly string[] },
): Promise<number> {
  const { webhookDeliveries: d, webhookEndpoints: e } = t;
  const lost = and(
    eq(d.state, "sending"),
    query.tokens ? inArray(d.leaseToken, [...query.tokens]) : or(...overAt(t, query.now)),
  );
  const enabled = db
    .select({ id: e.id })
    .from(e)
    .where(and(eq(e.id, d.endpointId), eq(e.state, "enabled")));
  await db
    .update(d)
    .set({ ...NO_LEASE, state: "failed", updatedAt: query.now })
    .where(and(lost, notExists(enabled)));
  const released = await db
    .update(d)
    .set({ ...NO_LEASE, state: "pending", nextAttemptAt: query.now, updatedAt: query.now })
    .where(lost)
    .returning({ id: d.id });
  return released.length;
}

/** Whether a claim has outlived its lease. */
export async function hasExpiredClaim({ db, t }: Tx, now: number): Promise<boolean> {
  const { id, state } = t.webhookDeliveries;
  // Separate statements: as one condition every claim would be scanned.
  for (const isOver of overAt(t, now)) {
    const rows = await db
      .select({ id })
      .from(t.webhookDeliveries)
      .where(and(eq(state, "sending"), isOver))
      .limit(1);
    if (rows.length > 0) return true;
  }
  return false;
}

/**
 * A lease is over when its time has come, or when it lasts longer than any: then it dates from before the
 * clock was set back.
 */
function overAt({ webhookDeliveries: d }: Tables, now: number) {
  return [lte(d.leaseExpiresAt, now), gt(d.leaseExpiresAt, now + 2 * WEBHOOK_LEASE_MS)];
}

/**
 * Makes deliveries planned before the clock was set back due now, because their intended wait is no longer
 * known.
 */
export async function pullForward({ db, t }: Tx, now: number): Promise<void> {
  const d = t.webhookDeliveries;
  await db
    .update(d)
    .set({ nextAttemptAt: now, updatedAt: now })
    .where(and(eq(d.state, "pending"), gt(d.nextAttemptAt, now), gt(d.updatedAt, now + CLOCK_TOLERANCE_MS)));
}

/**
 * Endpoints that receive nothing more and have pending deliveries all the same: of an event that was
 * recorded, or an attempt that ended, at the very moment when they were disabled or removed.
 */
export async function endpointsWithStranded({ db, t }: Tx): Promise<string[]> {
  const { webhookEndpoints: e, webhookDeliveries: d } = t;
  const pending = db
    .select({ id: d.id })
    .from(d)
    .where(and(eq(d.endpointId, e.id), eq(d.state, "pending")));
  const rows = await db
    .select({ id: e.id })
    .from(e)
    .where(and(ne(e.state, "enabled"), exists(pending)));
  return rows.map(({ id }) => id);
}

/**
 * Cancels pending deliveries of an endpoint that will receive nothing more. Those in flight end by
 * themselves.
 */
export async function failPending({ db, t }: Tx, endpointId: string, now: number): Promise<void> {
  const d = t.webhookDeliveries;
  await db
    .update(d)
    .set({ state: "failed", nextAttemptAt: null, updatedAt: now })
    .where(and(eq(d.endpointId, endpointId), eq(d.state, "pending")));
}

/**
 * Redelivers from `now` on with a fresh schedule, excluding those in flight and, unless `delivered`, those
 * that succeeded. Returns the deliveries changed.
 */
export async function restartDeliveries(
  { db, t }: Tx,
  query: { ids: string[]; delivered: boolean; now: number },
): Promise<WebhookDelivery[]> {
  const d = t.webhookDeliveries;
  if (query.ids.length === 0) return [];
  return db
    .update(d)
    .set({ state: "pending", step: 0, nextAttemptAt: query.now, deliveredAt: null, updatedAt: query.now })
    .where(
      and(
        inArray(d.id, query.ids),
        inArray(d.state, query.delivered ? ["pending", "failed", "delivered"] : ["pending", "failed"]),
      ),
    )
    .returning();
}

/** The deliveries of an event, in the order they were made. */
export async function deliveriesOfEvent({ db, t }: Tx, eventId: string): Promise<WebhookDelivery[]> {
  const d = t.webhookDeliveries;
  const rows = await db.select().from(d).where(eq(d.eventId, eventId));
  return rows.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1));
}

/** The deliveries of some events to one endpoint. */
export async function deliveriesOfEvents(
  { db, t }: Tx,
  endpointId: string,
  eventIds: string[],
): Promise<WebhookDelivery[]> {
  const d = t.webhookDeliveries;
  return db
    .select()
    .from(d)
    .where(and(inArray(d.eventId, eventIds), eq(d.endpointId, endpointId)));
}
