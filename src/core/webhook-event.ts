import type { Environment } from "./account.ts";
import { isoTime } from "./time.ts";

/** The events an endpoint can subscribe to. */
export const SUBSCRIBABLE_EVENTS = [
  "image.completed",
  "image.failed",
  "image.published",
  "batch.completed",
  "player.recalled",
  "credits.low",
  "usage.alert",
] as const;
/** Sent to a single endpoint on request, whatever its filter. */
export const TEST_EVENT = "webhook.test";
export const WEBHOOK_EVENT_TYPES = [...SUBSCRIBABLE_EVENTS, TEST_EVENT] as const;

/** A disabled endpoint can be enabled again; a removed one is kept only for its deliveries. */
export const WEBHOOK_ENDPOINT_STATES = ["enabled", "disabled", "removed"] as const;
/**
 * The states of one event for one endpoint: `pending -> sending -> delivered`, or back to `pending` until the
 * last attempt.
 */
export const WEBHOOK_DELIVERY_STATES = ["pending", "sending", "delivered", "failed"] as const;

export type SubscribableEvent = (typeof SUBSCRIBABLE_EVENTS)[number];
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];

/** The request body of every delivery of an event. Stored once, so that each attempt sends the same bytes. */
export function webhookBody(event: {
  type: WebhookEventType;
  createdAt: number;
  environment: Environment;
  data: object;
}): string {
  const { type, createdAt, environment, data } = event;
  return JSON.stringify({ type, timestamp: isoTime(createdAt), environment, data });
}
