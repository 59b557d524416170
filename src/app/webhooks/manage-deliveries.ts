import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from "../../core/limits.ts";
import { formatPosition, type ListPosition, parsePosition } from "../../core/list-position.ts";
import { isoTime } from "../../core/time.ts";
import { TEST_EVENT } from "../../core/webhook-event.ts";
import { findAccount } from "../../store/people/accounts.ts";
import type { Tx } from "../../store/store.ts";
import {
  attemptsOf,
  type DeliveryAttempt,
  deliveriesOfEvents,
  findDelivery,
  insertDeliveries,
  listDeliveryRows,
  restartDeliveries,
  type WebhookDelivery,
} from "../../store/webhooks/deliveries.ts";
import {
  changeEndpoint,
  eventsSince,
  findEndpoint,
  findEvents,
  type WebhookEndpoint,
  type WebhookEvent,
} from "../../store/webhooks/webhooks.ts";
import type { AppContext } from "../context.ts";
import { logAction } from "../operations/activity.ts";
import { type EndpointRef, endpointOrThrow, invalid, type WebhookContext } from "./manage-webhooks.ts";
import { newDelivery, recordTestEvent } from "./webhook-events.ts";

// Deliveries: past, current and pending. Endpoints are managed in manage-webhooks.ts.

/** Events recovered per transaction, so that requests never wait long for the writer. */
const RECOVER_BATCH = 200;

/** With `accountId`, another account's delivery is reported as not found. */
export interface DeliveryRef {
  deliveryId: string;
  accountId?: string | undefined;
}

/** A delivery with its attempts so far, first to last. */
export type Delivery = Omit<WebhookDelivery, "leaseToken" | "leaseExpiresAt"> & {
  history: DeliveryAttempt[];
};

/** A delivery with the body it sends. */
export type DeliveryDetail = Delivery & { event: WebhookEvent };

/**
 * Sends a `webhook.test` to one endpoint, whatever its filter; its delivery can be inspected like any other.
 */
export async function sendTest(context: WebhookContext, ref: EndpointRef): Promise<Delivery> {
  const { store, clock, random } = context;
  const delivery = await store.write(
    "send test event",
    async (tx) => {
      const endpoint = sendable(endpointOrThrow(ref, await findEndpoint(tx, ref.endpointId)));
      if ((await findAccount(tx, endpoint.accountId))?.status === "suspended")
        throw new Refusal(
          "INVALID_REQUEST",
          "The account is suspended: no tests are sent. The operator of this service can resume it.",
        );
      const now = clock.now();
      await changeEndpoint(tx, endpoint.id, { pausedUntil: null, updatedAt: now });
      return recordTestEvent(tx, endpoint, { now, random });
    },
    { concurrent: true },
  );
  context.wakeDeliveries?.();
  return deliveryView(delivery, []);
}

/**
 * Newest first, with their attempts. `cursor` is the previous page's `nextCursor`; `imageId` filters by
 * image.
 */
export async function listDeliveries(
  { store }: Pick<AppContext, "store">,
  query: {
    accountId: string;
    environment?: Environment | undefined;
    endpointId?: string | undefined;
    state?: WebhookDelivery["state"] | undefined;
    eventType?: string | undefined;
    imageId?: string | undefined;
    cursor?: string | undefined;
    limit?: number | undefined;
  },
): Promise<{ items: Delivery[]; nextCursor: string | null }> {
  const { cursor, imageId, limit: wanted = DEFAULT_LIST_LIMIT, ...filter } = query;
  const limit = Math.min(wanted, MAX_LIST_LIMIT);
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const rows = await listDeliveryRows(store.read, { ...filter, subject: imageId, after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: await withHistory(store.read, page),
    nextCursor: rows.length > limit && last ? encodeCursor(last) : null,
  };
}

export async function getDelivery(
  { store }: Pick<AppContext, "store">,
  ref: DeliveryRef,
): Promise<DeliveryDetail> {
  const row = ownedDelivery(ref, await findDelivery(store.read, ref.deliveryId));
  const [delivery] = await withHistory(store.read, [row]);
  const [event] = await findEvents(store.read, [row.eventId]);
  if (!delivery || !event) throw new Error(`delivery ${row.id} has no event`);
  return { ...delivery, event };
}

/** Sends one delivery again now, even one that succeeded, with a fresh retry schedule. */
export async function redeliver(context: WebhookContext, ref: DeliveryRef): Promise<Delivery> {
  const { store, clock } = context;
  const restarted = await store.write(
    "redeliver",
    async (tx) => {
      const row = ownedDelivery(ref, await findDelivery(tx, ref.deliveryId));
      const now = clock.now();
      await unpaused(tx, { endpointId: row.endpointId }, now);
      // A delivery in flight is left alone: it is being sent right now.
      const [changed] = await restartDeliveries(tx, { ids: [row.id], delivered: true, now });
      return changed ?? row;
    },
    { concurrent: true },
  );
  context.wakeDeliveries?.();
  const [delivery] = await withHistory(store.read, [restarted]);
  return delivery as Delivery;
}

/**
 * Sends everything an endpoint should have received since a time (epoch milliseconds) and did not: what
 * failed, what is waiting for a retry, and what happened while it was disabled or did not exist yet. Returns
 * the number of deliveries.
 */
export async function recoverSince(
  context: WebhookContext,
  ref: EndpointRef,
  since: number,
): Promise<{ recovered: number }> {
  const { store, clock, random } = context;
  let recovered = 0;
  let after: ListPosition | undefined;
  for (;;) {
    const batch = await store.write(
      "recover deliveries",
      async (tx) => {
        const now = clock.now();
        const endpoint = await unpaused(tx, ref, now);
        if (after === undefined) {
          // Logged with the first batch, so without the total, which only the last would know.
          const { accountId, url } = endpoint;
          const subject = `${url}, events since ${isoTime(since)}`;
          const what = { by: ref.by ?? null, accountId, action: "webhook.recovered", subject } as const;
          await logAction(tx, what, { now, random });
        }
        const events = await eventsSince(tx, {
          ...endpoint,
          since,
          after,
          types: endpoint.events,
          exceptTypes: [TEST_EVENT],
          limit: RECOVER_BATCH,
        });
        return {
          last: events.at(-1),
          full: events.length === RECOVER_BATCH,
          sent: await recoverEvents(tx, context, endpoint, events),
        };
      },
      { concurrent: true },
    );
    recovered += batch.sent;
    after = batch.last;
    if (!batch.full) break;
  }
  context.wakeDeliveries?.();
  return { recovered };
}

async function recoverEvents(
  tx: Tx,
  { clock, random }: WebhookContext,
  endpoint: WebhookEndpoint,
  events: WebhookEvent[],
): Promise<number> {
  const now = clock.now();
  const known = await deliveriesOfEvents(
    tx,
    endpoint.id,
    events.map((event) => event.id),
  );
  const knownEvents = new Set(known.map((delivery) => delivery.eventId));
  const missed = events
    .filter((event) => !knownEvents.has(event.id))
    .map((event) => newDelivery(event, endpoint.id, { now, random }));
  await insertDeliveries(tx, missed);
  const restarted = await restartDeliveries(tx, { ids: known.map(({ id }) => id), delivered: false, now });
  return missed.length + restarted.length;
}

/** Somebody wants to see it arrive now, so any pause the receiver asked for is over. */
async function unpaused(tx: Tx, ref: EndpointRef, now: number): Promise<WebhookEndpoint> {
  const endpoint = sendable(endpointOrThrow(ref, await findEndpoint(tx, ref.endpointId)));
  if (endpoint.pausedUntil !== null)
    await changeEndpoint(tx, endpoint.id, { pausedUntil: null, updatedAt: now });
  return endpoint;
}

function sendable(endpoint: WebhookEndpoint): WebhookEndpoint {
  if (endpoint.state === "enabled") return endpoint;
  throw new Refusal(
    "INVALID_REQUEST",
    `The endpoint ${endpoint.id} is disabled: ${endpoint.disabledReason} Enable it first.`,
  );
}

function ownedDelivery(ref: DeliveryRef, delivery: WebhookDelivery | undefined): WebhookDelivery {
  if (!delivery || (ref.accountId !== undefined && delivery.accountId !== ref.accountId)) {
    throw new Refusal(
      "NOT_FOUND",
      `There is no delivery ${ref.deliveryId}. List the deliveries to see their ids.`,
    );
  }
  return delivery;
}

async function withHistory(tx: Tx, rows: WebhookDelivery[]): Promise<Delivery[]> {
  const attempts = Map.groupBy(
    await attemptsOf(
      tx,
      rows.map(({ id }) => id),
    ),
    (attempt) => attempt.deliveryId,
  );
  return rows.map((row) => deliveryView(row, attempts.get(row.id) ?? []));
}

function deliveryView(
  { leaseToken: _, leaseExpiresAt: __, ...rest }: WebhookDelivery,
  history: DeliveryAttempt[],
): Delivery {
  return { ...rest, history };
}

function encodeCursor(position: ListPosition): string {
  return Buffer.from(formatPosition(position)).toString("base64url");
}

function decodeCursor(text: string): ListPosition {
  const position = parsePosition(Buffer.from(text, "base64url").toString("latin1"));
  if (!position) throw invalid("cursor", "It is not one this list gave. Start again without it.");
  return position;
}
