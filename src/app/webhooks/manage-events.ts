import type { Environment } from "../../core/account.ts";
import { Refusal } from "../../core/errors.ts";
import type { ListPosition } from "../../core/list-position.ts";
import { WEBHOOK_RETENTION_MS } from "../../core/outbound-limits.ts";
import { DAY_MS } from "../../core/time.ts";
import {
  attemptsOf,
  type DeliveryAttempt,
  deliveriesOfEvent,
  insertDeliveries,
  restartDeliveries,
  type WebhookDelivery,
} from "../../store/webhooks/deliveries.ts";
import {
  changeEndpoint,
  findEvents,
  listEndpointRows,
  newestEvents,
  type WebhookEndpoint,
  type WebhookEvent,
} from "../../store/webhooks/webhooks.ts";
import type { AppContext } from "../context.ts";
import { endpointOrThrow, invalid, type WebhookContext } from "./manage-webhooks.ts";
import { newDelivery, wants } from "./webhook-events.ts";

// Events as their account sees them: what happened, and how it was delivered to each endpoint.

interface Scope {
  accountId: string;
  environment: Environment;
}

export interface EventDelivery {
  delivery: WebhookDelivery;
  /** First to last. */
  attempts: DeliveryAttempt[];
}

/** Newest first, of one type or all, after `after`, created at or after `from` and before `before`. */
export function listEvents(
  { store }: Pick<AppContext, "store">,
  query: Scope & {
    type?: string | undefined;
    from?: number | undefined;
    before?: number | undefined;
    after?: ListPosition | undefined;
    limit: number;
  },
): Promise<WebhookEvent[]> {
  return newestEvents(store.read, query);
}

/** An event with its deliveries. Throws Refusal NOT_FOUND. */
export async function getEvent(
  { store }: Pick<AppContext, "store">,
  scope: Scope & { id: string },
): Promise<{ event: WebhookEvent; deliveries: EventDelivery[] }> {
  const event = ownEvent(scope, (await findEvents(store.read, [scope.id]))[0]);
  const rows = await deliveriesOfEvent(store.read, event.id);
  const ids = rows.map(({ id }) => id);
  const attempts = Map.groupBy(await attemptsOf(store.read, ids), ({ deliveryId }) => deliveryId);
  return {
    event,
    deliveries: rows.map((delivery) => ({ delivery, attempts: attempts.get(delivery.id) ?? [] })),
  };
}

/**
 * Sends an event again now, also where it arrived: to one endpoint, or to every enabled one that it was for
 * or that is subscribed to its type. Throws a Refusal where there is none.
 */
export async function redeliverEvent(
  context: WebhookContext,
  scope: Scope & { id: string; endpointId?: string | undefined },
): Promise<void> {
  const { store, clock, random } = context;
  await store.write(
    "redeliver event",
    async (tx) => {
      const event = ownEvent(scope, (await findEvents(tx, [scope.id]))[0]);
      const known = await deliveriesOfEvent(tx, event.id);
      const now = clock.now();
      const endpoints = receiversOf(scope, event, known, await listEndpointRows(tx, scope));
      const ids = new Set(endpoints.map(({ id }) => id));
      const again = known.filter(({ endpointId }) => ids.has(endpointId));
      for (const { endpointId } of again) ids.delete(endpointId);
      // Somebody wants to see it arrive now, so any pause a receiver asked for is over.
      for (const { id, pausedUntil } of endpoints)
        if (pausedUntil !== null) await changeEndpoint(tx, id, { pausedUntil: null, updatedAt: now });
      await restartDeliveries(tx, { ids: again.map(({ id }) => id), delivered: true, now });
      await insertDeliveries(
        tx,
        [...ids].map((endpointId) => newDelivery(event, endpointId, { now, random })),
      );
    },
    { concurrent: true },
  );
  context.wakeDeliveries?.();
}

function receiversOf(
  { endpointId, accountId }: { endpointId?: string | undefined; accountId: string },
  event: WebhookEvent,
  known: WebhookDelivery[],
  endpoints: WebhookEndpoint[],
): WebhookEndpoint[] {
  if (endpointId !== undefined) {
    const one = endpointOrThrow(
      { endpointId, accountId },
      endpoints.find(({ id }) => id === endpointId),
    );
    if (one.state === "enabled") return [one];
    throw invalid("endpoint_id", `It is disabled: ${one.disabledReason} Enable it in the console first.`);
  }
  const reached = new Set(known.map((delivery) => delivery.endpointId));
  const found = endpoints.filter(
    (endpoint) => endpoint.state === "enabled" && (reached.has(endpoint.id) || wants(endpoint, event.type)),
  );
  if (found.length > 0) return found;
  throw new Refusal(
    "INVALID_REQUEST",
    `No enabled webhook endpoint is subscribed to ${event.type}. Create one, or enable one in the console first.`,
  );
}

function ownEvent(scope: Scope & { id: string }, event: WebhookEvent | undefined): WebhookEvent {
  if (event?.accountId === scope.accountId && event.environment === scope.environment) return event;
  throw new Refusal(
    "NOT_FOUND",
    `There is no event ${scope.id.slice(0, 100)} for this key. Events are kept for ${WEBHOOK_RETENTION_MS / DAY_MS} days, and go with the image they are about.`,
  );
}
