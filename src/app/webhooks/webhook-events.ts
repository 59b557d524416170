import type { Environment } from "../../core/account.ts";
import { TEST_EVENT, type WebhookEventType, webhookBody } from "../../core/webhook-event.ts";
import type { Tx } from "../../store/store.ts";
import { insertDeliveries, type WebhookDelivery } from "../../store/webhooks/deliveries.ts";
import {
  insertEvents,
  listEndpointRows,
  type WebhookEndpoint,
  type WebhookEvent,
} from "../../store/webhooks/webhooks.ts";
import type { Moment } from "../context.ts";

export interface NewEvent {
  accountId: string;
  environment: Environment;
  type: WebhookEventType;
  /** The subject. There is one event per type and subject, however often it is recorded. */
  subject: string;
  data: object;
}

/** See recordEvents. */
export function recordEvent(tx: Tx, fresh: NewEvent, moment: Moment): Promise<void> {
  return recordEvents(tx, [fresh], moment);
}

/**
 * Records events, and a delivery for each subscribed endpoint, in the transaction that makes them true.
 * Recorded even without subscribers, so that an endpoint created later can recover them.
 */
export async function recordEvents(tx: Tx, fresh: NewEvent[], moment: Moment): Promise<void> {
  const events = await insertEvents(
    tx,
    fresh.map((one) => newEvent(one, moment)),
  );
  for (const group of Map.groupBy(
    events,
    ({ accountId, environment }) => `${accountId} ${environment}`,
  ).values()) {
    const endpoints = await listEndpointRows(tx, group[0] as WebhookEvent);
    const enabled = endpoints.filter(({ state }) => state === "enabled");
    await insertDeliveries(
      tx,
      group.flatMap((event) =>
        enabled
          .filter((endpoint) => wants(endpoint, event.type))
          .map((endpoint) => newDelivery(event, endpoint.id, moment)),
      ),
    );
  }
}

/** Records a test event for a single endpoint. */
export async function recordTestEvent(
  tx: Tx,
  endpoint: WebhookEndpoint,
  moment: Moment,
): Promise<WebhookDelivery> {
  const event = newEvent(
    {
      accountId: endpoint.accountId,
      environment: endpoint.environment,
      type: TEST_EVENT,
      subject: moment.random.id("test"),
      data: { endpoint_id: endpoint.id, message: "This is a test. Webhooks arrive at this endpoint." },
    },
    moment,
  );
  await insertEvents(tx, [event]);
  const delivery = newDelivery(event, endpoint.id, moment);
  await insertDeliveries(tx, [delivery]);
  return delivery;
}

/** Whether an endpoint is subscribed to events of this type. */
export function wants(endpoint: Pick<WebhookEndpoint, "events">, type: string): boolean {
  return endpoint.events === null || endpoint.events.includes(type);
}

/** A delivery that is due immediately. */
export function newDelivery(
  event: WebhookEvent,
  endpointId: string,
  { now, random }: Moment,
): WebhookDelivery {
  return {
    id: random.id("dlv"),
    eventId: event.id,
    endpointId,
    accountId: event.accountId,
    environment: event.environment,
    eventType: event.type,
    state: "pending",
    attempts: 0,
    step: 0,
    nextAttemptAt: now,
    leaseToken: null,
    leaseExpiresAt: null,
    createdAt: now,
    updatedAt: now,
    deliveredAt: null,
  };
}

function newEvent(fresh: NewEvent, { now, random }: Moment): WebhookEvent {
  const { accountId, environment, type, subject, data } = fresh;
  const body = webhookBody({ type, createdAt: now, environment, data });
  return { id: random.id("evt"), accountId, environment, type, subject, body, createdAt: now };
}
