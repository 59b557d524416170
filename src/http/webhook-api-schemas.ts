import { Type } from "@sinclair/typebox";
import { MAX_LIST_LIMIT } from "../core/limits.ts";
import { MAX_WEBHOOK_ENDPOINTS } from "../core/outbound-limits.ts";
import { StringEnum } from "../core/string-enum.ts";
import { SUBSCRIBABLE_EVENTS, WEBHOOK_DELIVERY_STATES, WEBHOOK_EVENT_TYPES } from "../core/webhook-event.ts";
import { nextPage } from "./page-schema.ts";
import { successEnvelope, time, timeOrNull } from "./schemas.ts";

const closed = { additionalProperties: false } as const;
const ENDPOINT_ID = "ep_3TqZ8rXm5dYE7Wc2Lk9VbTnX";
const EVENT_ID = "evt_7Wc2Lk9VbTnX0Hq3ZrXm5dYE";

const endpointId = Type.String({
  pattern: "^ep_[0-9A-Za-z]+$",
  description: "The endpoint's identifier.",
  examples: [ENDPOINT_ID],
});

/** What POST /v1/webhook_endpoints takes. */
export const CreateWebhookEndpointRequest = Type.Object(
  {
    url: Type.String({
      minLength: 1,
      maxLength: 2048,
      description: "Public address that begins with https://, to which events are sent.",
      examples: ["https://club.example.com/hooks/cards"],
    }),
    events: Type.Optional(
      Type.Array(StringEnum(SUBSCRIBABLE_EVENTS), {
        minItems: 1,
        maxItems: SUBSCRIBABLE_EVENTS.length,
        uniqueItems: true,
        description: "The events it receives; all when left out, also those that are added later.",
        examples: [["image.completed", "image.failed"]],
      }),
    ),
  },
  { ...closed, $id: "CreateWebhookEndpointRequest" },
);

const { url, events } = CreateWebhookEndpointRequest.properties;

/** What PATCH /v1/webhook_endpoints/{endpoint_id} takes. */
export const ChangeWebhookEndpointRequest = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(
      Type.Union([{ ...events, description: "The events it receives." }, Type.Null()], {
        description: "The events it receives from now on; null for all.",
        examples: [["image.completed"]],
      }),
    ),
    disabled: Type.Optional(
      Type.Boolean({
        description:
          "True: nothing more is sent to it, also nothing that is waiting. False: it receives events again from the next one on.",
      }),
    ),
  },
  {
    ...closed,
    $id: "ChangeWebhookEndpointRequest",
    description: "The fields to change; what is left out stays as it is.",
  },
);

/** What POST /v1/events/{event_id}/redeliver takes, if anything. */
export const RedeliverEventRequest = Type.Object(
  { endpoint_id: Type.Optional(endpointId) },
  {
    ...closed,
    $id: "RedeliverEventRequest",
    description: "One endpoint; without, each that is subscribed to the event.",
  },
);

const facts = {
  endpoint_id: endpointId,
  url: Type.String({
    description: "Where events are sent.",
    examples: ["https://club.example.com/hooks/cards"],
  }),
  events: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: "The events it receives; null for all.",
    examples: [["image.completed", "image.failed"]],
  }),
  environment: StringEnum(["live", "test"], { description: "Of the key that made it." }),
  state: StringEnum(["enabled", "disabled"], { description: "Nothing is sent to a disabled one." }),
  disabled_reason: Type.Union([Type.String(), Type.Null()], {
    description: "Why it is disabled, for people; null while it is enabled. The console enables it again.",
  }),
  disabled_at: timeOrNull("When it was disabled."),
  failing_since: timeOrNull("Since when nothing but failures came; null while it works."),
  last_success_at: timeOrNull("When it last took an event."),
  old_secret_expires_at: timeOrNull("Until when the secret before the last rotation signs too."),
  created_at: time("When it was made.", "2026-11-21T10:00:00.000Z"),
  updated_at: time("When it last changed.", "2026-11-21T10:00:00.000Z"),
};

const WebhookEndpoint = Type.Object(facts, { ...closed, $id: "WebhookEndpoint" });

const WebhookEndpointWithSecret = Type.Object(
  {
    ...facts,
    secret: Type.String({
      pattern: "^whsec_",
      description: "Checks signatures. Shown this once: store it now.",
      examples: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
    }),
  },
  { ...closed, $id: "WebhookEndpointWithSecret" },
);

const WebhookEndpointList = Type.Object(
  {
    webhook_endpoints: Type.Array(WebhookEndpoint, {
      maxItems: MAX_WEBHOOK_ENDPOINTS,
      description: "Oldest first; disabled ones too.",
    }),
  },
  { ...closed, $id: "WebhookEndpointList" },
);

const DeletedWebhookEndpoint = Type.Object(
  { endpoint_id: endpointId, deleted_at: time("When it was deleted.", "2026-11-28T09:15:00.000Z") },
  { ...closed, $id: "DeletedWebhookEndpoint" },
);

const eventFacts = {
  event_id: Type.String({
    pattern: "^evt_[0-9A-Za-z]+$",
    description: "The `webhook-id` of its calls.",
    examples: [EVENT_ID],
  }),
  type: StringEnum(WEBHOOK_EVENT_TYPES, { description: "The kind of event. Kinds may be added." }),
  environment: StringEnum(["live", "test"], { description: "The environment it happened in." }),
  data: Type.Object({}, { additionalProperties: true, description: "As it is sent, by its kind." }),
  created_at: time("When it happened.", "2026-11-21T10:00:03.412Z"),
};

const WebhookEventItem = Type.Object(eventFacts, { ...closed, $id: "WebhookEvent" });

const DeliveryAttempt = Type.Object(
  {
    started_at: time("When it was sent.", "2026-11-21T10:00:03.498Z"),
    duration_ms: Type.Integer({ minimum: 0, description: "How long it took.", examples: [82] }),
    status: Type.Union([Type.Integer(), Type.Null()], {
      description: "The receiver's; null without an answer.",
    }),
    error: Type.Union([Type.String(), Type.Null()], { description: "Why it failed; null for a success." }),
  },
  { ...closed, $id: "DeliveryAttempt" },
);

const EventDelivery = Type.Object(
  {
    delivery_id: Type.String({
      description: "The delivery's identifier.",
      examples: ["dlv_0Hq3ZrX9mLk2VbTnWc7YdE5s"],
    }),
    endpoint_id: endpointId,
    state: StringEnum(WEBHOOK_DELIVERY_STATES, { description: "`pending` also between attempts." }),
    next_attempt_at: timeOrNull("When it is sent next."),
    delivered_at: timeOrNull("When it arrived."),
    attempts: Type.Array(DeliveryAttempt, { maxItems: 1_000, description: "First to last." }),
  },
  { ...closed, $id: "EventDelivery" },
);

const WebhookEventDetail = Type.Object(
  {
    ...eventFacts,
    deliveries: Type.Array(EventDelivery, {
      maxItems: 1_000,
      description: "One for each endpoint it is for.",
    }),
  },
  { ...closed, $id: "WebhookEventDetail" },
);

const WebhookEventList = Type.Object(
  {
    events: Type.Array(WebhookEventItem, { maxItems: MAX_LIST_LIMIT, description: "Newest first." }),
    ...nextPage,
  },
  { ...closed, $id: "WebhookEventList" },
);

export const WebhookEndpointResponse = successEnvelope(WebhookEndpoint, "WebhookEndpointResponse");
export const WebhookSecretResponse = successEnvelope(WebhookEndpointWithSecret, "WebhookSecretResponse");
export const WebhookEndpointListResponse = successEnvelope(
  WebhookEndpointList,
  "WebhookEndpointListResponse",
);
export const DeletedWebhookEndpointResponse = successEnvelope(
  DeletedWebhookEndpoint,
  "DeletedWebhookEndpointResponse",
);
export const WebhookEventResponse = successEnvelope(WebhookEventDetail, "WebhookEventResponse");
export const WebhookEventListResponse = successEnvelope(WebhookEventList, "WebhookEventListResponse");
