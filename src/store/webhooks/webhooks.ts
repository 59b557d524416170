import { and, asc, count, desc, eq, gte, inArray, lte, ne, notExists, notInArray, sql } from "drizzle-orm";
import type { Tables } from "../../../db/schema.ts";
import type { Environment } from "../../core/account.ts";

import type { ListPosition } from "../../core/list-position.ts";
import { pageBounds } from "../page-bounds.ts";
import type { Tx } from "../store.ts";

export type WebhookEndpoint = Tables["webhookEndpoints"]["$inferSelect"];
export type WebhookEvent = Tables["webhookEvents"]["$inferSelect"];

/** An account's own view of the world: one environment never sees the other. */
export interface WebhookScope {
  accountId: string;
  environment: Environment;
}

export async function insertEndpoint({ db, t }: Tx, endpoint: WebhookEndpoint): Promise<void> {
  await db.insert(t.webhookEndpoints).values(endpoint);
}

/** Also finds disabled endpoints, never removed ones. */
export async function findEndpoint({ db, t }: Tx, id: string): Promise<WebhookEndpoint | undefined> {
  const e = t.webhookEndpoints;
  const [endpoint] = await db
    .select()
    .from(e)
    .where(and(eq(e.id, id), ne(e.state, "removed")))
    .limit(1);
  return endpoint;
}

/** False where another process is claiming deliveries for it, or it is not enabled any more. */
export async function claimEndpoint({ db, t, claimable }: Tx, id: string): Promise<boolean> {
  const e = t.webhookEndpoints;
  const enabled = and(eq(e.id, id), eq(e.state, "enabled"));
  return (await claimable(db.select({ id: e.id }).from(e).where(enabled).limit(1))).length > 0;
}

/** An enabled endpoint as it is now, and stays until this transaction ends. */
export async function lockEnabled({ db, t, locked }: Tx, id: string): Promise<WebhookEndpoint | undefined> {
  const e = t.webhookEndpoints;
  const enabled = and(eq(e.id, id), eq(e.state, "enabled"));
  const [endpoint] = await locked(db.select().from(e).where(enabled).limit(1));
  return endpoint;
}

export async function findEndpoints({ db, t }: Tx, ids: string[]): Promise<WebhookEndpoint[]> {
  const e = t.webhookEndpoints;
  return db
    .select()
    .from(e)
    .where(and(inArray(e.id, ids), ne(e.state, "removed")));
}

export async function listEndpointRows(
  { db, t }: Tx,
  scope: { accountId: string; environment?: Environment | undefined },
): Promise<WebhookEndpoint[]> {
  const e = t.webhookEndpoints;
  return db
    .select()
    .from(e)
    .where(
      and(
        eq(e.accountId, scope.accountId),
        scope.environment ? eq(e.environment, scope.environment) : undefined,
        ne(e.state, "removed"),
      ),
    )
    .orderBy(asc(e.createdAt), asc(e.id));
}

/** The secrets of all endpoints, disabled ones too, as they are sealed. A removed one has none any more. */
export async function sealedSecrets({ db, t }: Tx): Promise<string[]> {
  const e = t.webhookEndpoints;
  const rows = await db.select({ secret: e.secret }).from(e).where(ne(e.state, "removed"));
  return rows.map(({ secret }) => secret);
}

export async function enabledEndpoints({ db, t }: Tx): Promise<WebhookEndpoint[]> {
  return db.select().from(t.webhookEndpoints).where(eq(t.webhookEndpoints.state, "enabled"));
}

export async function countEndpoints({ db, t }: Tx, scope: WebhookScope): Promise<number> {
  const e = t.webhookEndpoints;
  const [row] = await db
    .select({ n: count() })
    .from(e)
    .where(
      and(eq(e.accountId, scope.accountId), eq(e.environment, scope.environment), ne(e.state, "removed")),
    );
  return row?.n ?? 0;
}

export type EndpointChange = Partial<Omit<WebhookEndpoint, "id" | "accountId" | "environment" | "createdAt">>;

/** Changes an endpoint that is there; undefined when it is not, or no longer in the state asked for. */
export async function changeEndpoint(
  { db, t }: Tx,
  id: string,
  change: EndpointChange & { updatedAt: number },
  when: { state?: WebhookEndpoint["state"] } = {},
): Promise<WebhookEndpoint | undefined> {
  const e = t.webhookEndpoints;
  const [endpoint] = await db
    .update(e)
    .set(change)
    .where(and(eq(e.id, id), when.state ? eq(e.state, when.state) : ne(e.state, "removed")))
    .returning();
  return endpoint;
}

/** Old secrets whose overlap is over are of use to nobody but a thief. */
export async function forgetExpiredSecrets({ db, t }: Tx, now: number): Promise<void> {
  const e = t.webhookEndpoints;
  await db
    .update(e)
    .set({ previousSecret: null, previousSecretExpiresAt: null })
    .where(lte(e.previousSecretExpiresAt, now));
}

/** Whether it is time for `forgetExpiredSecrets`. */
export async function hasExpiredSecret({ db, t }: Tx, now: number): Promise<boolean> {
  const e = t.webhookEndpoints;
  const rows = await db.select({ id: e.id }).from(e).where(lte(e.previousSecretExpiresAt, now)).limit(1);
  return rows.length > 0;
}

/**
 * Records facts, each once; returns those that were new, because no event of this type about this subject was
 * there.
 */
export async function insertEvents({ db, t }: Tx, events: WebhookEvent[]): Promise<WebhookEvent[]> {
  const inserted = await db
    .insert(t.webhookEvents)
    .values(events)
    .onConflictDoNothing()
    .returning({ id: t.webhookEvents.id });
  const fresh = new Set(inserted.map(({ id }) => id));
  return events.filter(({ id }) => fresh.has(id));
}

export async function findEvents({ db, t }: Tx, ids: string[]): Promise<WebhookEvent[]> {
  return db.select().from(t.webhookEvents).where(inArray(t.webhookEvents.id, ids));
}

/** The events of one type about these subjects. */
export async function eventsAbout(
  { db, t }: Tx,
  type: string,
  subjects: string[],
): Promise<{ subject: string; createdAt: number }[]> {
  const e = t.webhookEvents;
  return db
    .select({ subject: e.subject, createdAt: e.createdAt })
    .from(e)
    .where(and(inArray(e.subject, subjects), eq(e.type, type)));
}

/** Oldest first, after `after`, from `since` on. `types` null is all; `exceptTypes` are left out. */
export async function eventsSince(
  { db, t }: Tx,
  query: WebhookScope & {
    since: number;
    after?: ListPosition | undefined;
    types?: string[] | null;
    exceptTypes?: string[];
    limit: number;
  },
): Promise<WebhookEvent[]> {
  const e = t.webhookEvents;
  const { after } = query;
  return db
    .select()
    .from(e)
    .where(
      and(
        eq(e.accountId, query.accountId),
        eq(e.environment, query.environment),
        gte(e.createdAt, query.since),
        after ? sql`(${e.createdAt}, ${e.id}) > (${after.createdAt}, ${after.id})` : undefined,
        query.types ? inArray(e.type, query.types) : undefined,
        query.exceptTypes ? notInArray(e.type, query.exceptTypes) : undefined,
      ),
    )
    .orderBy(asc(e.createdAt), asc(e.id))
    .limit(query.limit);
}

/** Newest first, of one type or all, after `after`, created at or after `from` and before `before`. */
export async function newestEvents(
  { db, t }: Tx,
  query: WebhookScope & {
    type?: string | undefined;
    from?: number | undefined;
    before?: number | undefined;
    after?: ListPosition | undefined;
    limit: number;
  },
): Promise<WebhookEvent[]> {
  const e = t.webhookEvents;
  const { type, after, from, before } = query;
  return db
    .select()
    .from(e)
    .where(
      and(
        eq(e.accountId, query.accountId),
        eq(e.environment, query.environment),
        type === undefined ? undefined : eq(e.type, type),
        pageBounds(e.createdAt, e.id, { from, before, after }),
      ),
    )
    .orderBy(desc(e.createdAt), desc(e.id))
    .limit(query.limit);
}

/** The events from before `before` that no delivery is still under way of, oldest first. */
function oldEvents({ db, t }: Tx, before: number, limit: number) {
  const { webhookEvents: e, webhookDeliveries: d } = t;
  const unfinished = db
    .select({ id: d.id })
    .from(d)
    .where(and(eq(d.eventId, e.id), inArray(d.state, ["pending", "sending"])));
  return db
    .select({ id: e.id })
    .from(e)
    .where(and(lte(e.createdAt, before), notExists(unfinished)))
    .orderBy(asc(e.createdAt))
    .limit(limit);
}

/** Whether it is time for `deleteOldEvents`. */
export async function hasOldEvent(tx: Tx, before: number): Promise<boolean> {
  return (await oldEvents(tx, before, 1)).length > 0;
}

/** Deletes old events with their deliveries and attempts, at most `limit`. Returns how many went. */
export async function deleteOldEvents(tx: Tx, before: number, limit: number): Promise<number> {
  const { db, t } = tx;
  const { webhookEvents: e, webhookDeliveries: d, deliveryAttempts: a } = t;
  const ids = (await oldEvents(tx, before, limit)).map((row) => row.id);
  if (ids.length === 0) return 0;
  const deliveries = db.select({ id: d.id }).from(d).where(inArray(d.eventId, ids));
  await db.delete(a).where(inArray(a.deliveryId, deliveries));
  await db.delete(d).where(inArray(d.eventId, ids));
  await db.delete(e).where(inArray(e.id, ids));
  return ids.length;
}

/** Deletes removed endpoints once nothing refers to them any more. */
export async function deleteRemovedEndpoints({ db, t }: Tx): Promise<void> {
  const { webhookEndpoints: e, webhookDeliveries: d } = t;
  const deliveries = db.select({ id: d.id }).from(d).where(eq(d.endpointId, e.id));
  await db.delete(e).where(and(eq(e.state, "removed"), notExists(deliveries)));
}
