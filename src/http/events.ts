import { type EventDelivery, getEvent, listEvents, redeliverEvent } from "../app/webhooks/manage-events.ts";
import type { WebhookContext } from "../app/webhooks/manage-webhooks.ts";
import { invalidRequest } from "../core/partner-refusals.ts";
import { isoTime, isoTimeOrNull } from "../core/time.ts";
import { compileValidator } from "../core/validate.ts";
import { WEBHOOK_EVENT_TYPES } from "../core/webhook-event.ts";
import type { WebhookEvent } from "../store/webhooks/webhooks.ts";
import type { Caller } from "./auth.ts";
import { readJsonIfSent } from "./body.ts";
import { encodeCursor, pageOf, readCursor } from "./cursor.ts";
import { success } from "./envelope.ts";
import type { Exchange } from "./exchange.ts";
import { readLimit, readQuery, readSpan } from "./query.ts";
import { RedeliverEventRequest } from "./webhook-api-schemas.ts";

const redeliverValidator = compileValidator(RedeliverEventRequest, "body");

/** GET /v1/events */
export async function listEventsPage(
  deps: WebhookContext,
  exchange: Exchange,
  { account, environment }: Caller,
): Promise<Response> {
  const { values, details } = readQuery(exchange.url, [
    "type",
    "created_after",
    "created_before",
    "limit",
    "after",
  ]);
  const type = WEBHOOK_EVENT_TYPES.find((known) => known === values.type);
  if (type !== values.type)
    details.push({ field: "query type", message: `must be one of ${WEBHOOK_EVENT_TYPES.join(", ")}.` });
  const limit = readLimit(values.limit, details);
  const filter = { accountId: account.id, environment, type, ...readSpan(values, details) };
  const after = readCursor(values.after, filter, details);
  if (details.length > 0) throw invalidRequest(details);
  // One extra row tells whether there is a next page.
  const found = await listEvents(deps, { ...filter, after, limit: limit + 1 });
  const { items, ...page } = pageOf(found, limit, (last) => encodeCursor(last, filter));
  return success(exchange, {
    events: items.map(itemView),
    ...page,
  });
}

/** GET /v1/events/{event_id} */
export async function getEventPage(
  deps: WebhookContext,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  return success(exchange, eventView(await getEvent(deps, { accountId: account.id, environment, id })));
}

/** POST /v1/events/{event_id}/redeliver */
export async function redeliverEventNow(
  deps: WebhookContext,
  exchange: Exchange,
  { account, environment }: Caller,
  id: string,
): Promise<Response> {
  const scope = { accountId: account.id, environment, id };
  const body = await readJsonIfSent(exchange.request);
  const checked = redeliverValidator.check(body);
  if (!checked.ok) throw invalidRequest(checked.details);
  await redeliverEvent(deps, { ...scope, endpointId: checked.value.endpoint_id });
  return success(exchange, eventView(await getEvent(deps, scope)), { status: 202 });
}

/** An event as partners see it; `data` is what its calls carry. */
function itemView({ id, type, environment, body, createdAt }: WebhookEvent): Record<string, unknown> {
  const { data } = JSON.parse(body) as { data: object };
  return { event_id: id, type, environment, data, created_at: isoTime(createdAt) };
}

/** An event with its deliveries. */
export function eventView(found: { event: WebhookEvent; deliveries: EventDelivery[] }): object {
  return {
    ...itemView(found.event),
    deliveries: found.deliveries.map(({ delivery, attempts }) => ({
      delivery_id: delivery.id,
      endpoint_id: delivery.endpointId,
      state: delivery.state,
      next_attempt_at: isoTimeOrNull(delivery.nextAttemptAt),
      delivered_at: isoTimeOrNull(delivery.deliveredAt),
      attempts: attempts.map(({ startedAt, durationMs, status, error }) => ({
        started_at: isoTime(startedAt),
        duration_ms: durationMs,
        status,
        error,
      })),
    })),
  };
}
