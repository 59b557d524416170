import type { WebhookContext } from "../app/webhooks/manage-webhooks.ts";
import type { Caller, PartnerHandler } from "./auth.ts";
import { getEventPage, listEventsPage, redeliverEventNow } from "./events.ts";
import type { Exchange } from "./exchange.ts";
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  rotateWebhookSecret,
  testWebhookEndpoint,
} from "./webhook-endpoints.ts";

/** The handlers of the routes of webhook endpoints and events. */
export function webhookHandlers<Open>(deps: WebhookContext, partner: (handler: PartnerHandler) => Open) {
  /** Of a route that names one thing. */
  const about = (
    name: "endpoint_id" | "event_id",
    handler: (deps: WebhookContext, exchange: Exchange, caller: Caller, id: string) => Promise<Response>,
  ) => partner((exchange, caller, params) => handler(deps, exchange, caller, params[name] ?? ""));
  return {
    createWebhookEndpoint: partner((exchange, caller) => createWebhookEndpoint(deps, exchange, caller)),
    listWebhookEndpoints: partner((exchange, caller) => listWebhookEndpoints(deps, exchange, caller)),
    getWebhookEndpoint: about("endpoint_id", getWebhookEndpoint),
    changeWebhookEndpoint: about("endpoint_id", changeWebhookEndpoint),
    deleteWebhookEndpoint: about("endpoint_id", deleteWebhookEndpoint),
    rotateWebhookSecret: about("endpoint_id", rotateWebhookSecret),
    testWebhookEndpoint: about("endpoint_id", testWebhookEndpoint),
    listEvents: partner((exchange, caller) => listEventsPage(deps, exchange, caller)),
    getEvent: about("event_id", getEventPage),
    redeliverEvent: about("event_id", redeliverEventNow),
  };
}
