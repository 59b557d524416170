import type { components, operations } from "./schema.d.ts";
import type { CallOptions, Transport } from "./transport.ts";
import { walk } from "./walk.ts";

type Schemas = components["schemas"];
type EventQuery = NonNullable<operations["listEvents"]["parameters"]["query"]>;

export type EndpointRequest = Schemas["CreateWebhookEndpointRequest"];
export type WebhookEndpoint = Schemas["WebhookEndpoint"];
export type WebhookEndpointWithSecret = Schemas["WebhookEndpointWithSecret"];
export type EventItem = Schemas["WebhookEvent"];
export type EventDetail = Schemas["WebhookEventDetail"];

/**
 * The calls of webhook endpoints. What would do something twice if it were sent twice is sent once: when no
 * answer comes, look with `list`.
 */
export function webhookEndpoints(calls: Transport) {
  const one = (endpointId: string) => ({ params: { endpoint_id: endpointId } });
  return {
    /** Changes its address, the events it receives (null for all), or whether anything is sent to it. */
    change: (
      endpointId: string,
      change: Schemas["ChangeWebhookEndpointRequest"],
      call: CallOptions = {},
    ): Promise<WebhookEndpoint> =>
      calls.call({
        method: "PATCH",
        path: "/v1/webhook_endpoints/{endpoint_id}",
        body: change,
        ...one(endpointId),
        ...call,
      }),
    /** Makes an endpoint; its `secret` is shown in this answer only. */
    create: (request: EndpointRequest, call: CallOptions = {}): Promise<WebhookEndpointWithSecret> =>
      calls.call({ method: "POST", path: "/v1/webhook_endpoints", body: request, once: true, ...call }),
    list: async (call: CallOptions = {}): Promise<WebhookEndpoint[]> => {
      const found = await calls.call<Schemas["WebhookEndpointList"]>({
        method: "GET",
        path: "/v1/webhook_endpoints",
        ...call,
      });
      return found.webhook_endpoints;
    },
    get: (endpointId: string, call: CallOptions = {}): Promise<WebhookEndpoint> =>
      calls.call({
        method: "GET",
        path: "/v1/webhook_endpoints/{endpoint_id}",
        ...one(endpointId),
        ...call,
      }),
    delete: (endpointId: string, call: CallOptions = {}): Promise<Schemas["DeletedWebhookEndpoint"]> =>
      calls.call({
        method: "DELETE",
        path: "/v1/webhook_endpoints/{endpoint_id}",
        ...one(endpointId),
        ...call,
      }),
    /** Gives it a new secret; the old one signs beside it for 24 hours. */
    rotateSecret: (endpointId: string, call: CallOptions = {}): Promise<WebhookEndpointWithSecret> =>
      calls.call({
        method: "POST",
        path: "/v1/webhook_endpoints/{endpoint_id}/rotate_secret",
        once: true,
        ...one(endpointId),
        ...call,
      }),
    /** Sends it a `webhook.test`; how it went, `events.get` tells. */
    test: (endpointId: string, call: CallOptions = {}): Promise<EventDetail> =>
      calls.call({
        method: "POST",
        path: "/v1/webhook_endpoints/{endpoint_id}/test",
        once: true,
        ...one(endpointId),
        ...call,
      }),
  };
}

/** The calls of events, which are kept for 30 days. */
export function events(calls: Transport) {
  return {
    /** Every event, newest first, page by page as you walk. */
    list: (query: Omit<EventQuery, "after"> = {}, call: CallOptions = {}) =>
      walk(
        calls,
        { path: "/v1/events", query, ...call },
        (page: Schemas["WebhookEventList"]): EventItem[] => page.events,
      ),
    /** An event with each attempt to deliver it. */
    get: (eventId: string, call: CallOptions = {}): Promise<EventDetail> =>
      calls.call({ method: "GET", path: "/v1/events/{event_id}", params: { event_id: eventId }, ...call }),
    /** Sends it again, to one endpoint or to each that receives such events. */
    redeliver: (
      eventId: string,
      { endpointId, ...call }: CallOptions & { endpointId?: string } = {},
    ): Promise<EventDetail> =>
      calls.call({
        method: "POST",
        path: "/v1/events/{event_id}/redeliver",
        params: { event_id: eventId },
        body: endpointId === undefined ? {} : { endpoint_id: endpointId },
        once: true,
        ...call,
      }),
  };
}
