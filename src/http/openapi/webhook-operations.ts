import { WEBHOOK_EVENT_TYPES } from "../../core/webhook-event.ts";
import {
  ChangeWebhookEndpointRequest,
  CreateWebhookEndpointRequest,
  DeletedWebhookEndpointResponse,
  RedeliverEventRequest,
  WebhookEndpointListResponse,
  WebhookEndpointResponse,
  WebhookEventListResponse,
  WebhookEventResponse,
  WebhookSecretResponse,
} from "../webhook-api-schemas.ts";
import { ALWAYS, answer, pageParameters, spanParameters } from "./answers.ts";
import { refusals } from "./errors.ts";
import { EXAMPLES } from "./examples.ts";

// Operations of webhook endpoints and events, by API what the console does by hand.

const ENDPOINT_ID_PARAMETER = {
  name: "endpoint_id",
  in: "path",
  required: true,
  description: "The id returned on creation.",
  schema: { type: "string" },
  example: "ep_3TqZ8rXm5dYE7Wc2Lk9VbTnX",
} as const;

const EVENT_ID_PARAMETER = {
  name: "event_id",
  in: "path",
  required: true,
  description: "The event's id: the `webhook-id` of its calls.",
  schema: { type: "string" },
  example: "evt_7Wc2Lk9VbTnX0Hq3ZrXm5dYE",
} as const;

export function createWebhookEndpoint(): object {
  return {
    tags: ["Webhooks"],
    summary: "Create a webhook endpoint",
    description:
      "From now on it is sent the events of the key's environment. Its secret is shown in this answer only. Sent twice, it makes two endpoints.",
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: CreateWebhookEndpointRequest,
          examples: { some: { summary: "For two events", value: EXAMPLES.webhookEndpointRequest } },
        },
      },
    },
    responses: {
      "201": answer("It is there.", WebhookSecretResponse, {
        created: { summary: "With its secret", value: EXAMPLES.webhookSecret },
      }),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

export function listWebhookEndpoints(): object {
  return {
    tags: ["Webhooks"],
    summary: "List webhook endpoints",
    description: "Those of the key's environment, without their secrets.",
    responses: {
      "200": answer("All of them.", WebhookEndpointListResponse, {
        all: { summary: "One endpoint", value: EXAMPLES.webhookEndpoints },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

export function getWebhookEndpoint(): object {
  return {
    tags: ["Webhooks"],
    summary: "Get a webhook endpoint",
    description: "Whether it works, and if not, why.",
    parameters: [ENDPOINT_ID_PARAMETER],
    responses: {
      "200": answer("The endpoint.", WebhookEndpointResponse, {
        endpoint: { summary: "Enabled", value: EXAMPLES.webhookEndpoint },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND"),
    },
  };
}

export function changeWebhookEndpoint(): object {
  return {
    tags: ["Webhooks"],
    summary: "Change a webhook endpoint",
    description:
      "Its address, the events it receives, or whether anything is sent to it. Events that are waiting go to a new address.",
    parameters: [ENDPOINT_ID_PARAMETER],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: ChangeWebhookEndpointRequest,
          examples: { pause: { summary: "Send nothing for now", value: { disabled: true } } },
        },
      },
    },
    responses: {
      "200": answer("The endpoint as it is now.", WebhookEndpointResponse, {
        endpoint: { summary: "Enabled", value: EXAMPLES.webhookEndpoint },
      }),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "NOT_FOUND",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

export function deleteWebhookEndpoint(): object {
  return {
    tags: ["Webhooks"],
    summary: "Delete a webhook endpoint",
    description: "Nothing more is sent to it, also nothing that is waiting for another attempt.",
    parameters: [ENDPOINT_ID_PARAMETER],
    responses: {
      "200": answer("It is deleted.", DeletedWebhookEndpointResponse, {
        deleted: { summary: "Deleted", value: EXAMPLES.deletedWebhookEndpoint },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND", "SERVICE_OVERLOADED"),
    },
  };
}

export function rotateWebhookSecret(): object {
  return {
    tags: ["Webhooks"],
    summary: "Rotate a webhook endpoint's secret",
    description:
      "Gives it a new secret, shown in this answer only. The old one signs beside it for 24 hours; one before that stops at once.",
    parameters: [ENDPOINT_ID_PARAMETER],
    responses: {
      "200": answer("The new secret.", WebhookSecretResponse, {
        rotated: { summary: "With the new secret", value: EXAMPLES.webhookSecret },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND", "SERVICE_OVERLOADED"),
    },
  };
}

export function testWebhookEndpoint(): object {
  return {
    tags: ["Webhooks"],
    summary: "Test a webhook endpoint",
    description:
      "Sends it a `webhook.test`, whichever events it receives. `GET /v1/events/{event_id}` says how it went.",
    parameters: [ENDPOINT_ID_PARAMETER],
    responses: {
      "202": answer("It is on its way.", WebhookEventResponse, {
        test: { summary: "About to be sent", value: EXAMPLES.testEvent },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST", "NOT_FOUND", "SERVICE_OVERLOADED"),
    },
  };
}

export function listEvents(): object {
  return {
    tags: ["Webhooks"],
    summary: "List events",
    description:
      "What happened in the key's environment in the last 30 days, newest first, whether it reached an endpoint or not: to catch up on what was missed.",
    parameters: [
      {
        name: "type",
        in: "query",
        description: "Only events of this type.",
        schema: { type: "string", enum: WEBHOOK_EVENT_TYPES },
        example: "image.failed",
      },
      ...spanParameters("that happened"),
      ...pageParameters("events", "type, span and kind of key"),
    ],
    responses: {
      "200": answer("A page of events.", WebhookEventListResponse, {
        page: { summary: "The only page", value: EXAMPLES.events },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

export function getEvent(): object {
  return {
    tags: ["Webhooks"],
    summary: "Get an event",
    description: "With its delivery to each endpoint, and every attempt.",
    parameters: [EVENT_ID_PARAMETER],
    responses: {
      "200": answer("The event.", WebhookEventResponse, {
        event: { summary: "Delivered", value: EXAMPLES.event },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND"),
    },
  };
}

export function redeliverEvent(): object {
  return {
    tags: ["Webhooks"],
    summary: "Send an event again",
    description:
      "Now, and with a fresh schedule of attempts, also where it arrived: to one endpoint, or without a body to each that is enabled and subscribed to it.",
    parameters: [EVENT_ID_PARAMETER],
    requestBody: {
      required: false,
      content: {
        "application/json": {
          schema: RedeliverEventRequest,
          examples: {
            one: { summary: "To one endpoint", value: { endpoint_id: ENDPOINT_ID_PARAMETER.example } },
          },
        },
      },
    },
    responses: {
      "202": answer("It is on its way.", WebhookEventResponse, {
        event: { summary: "The event", value: EXAMPLES.event },
      }),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "NOT_FOUND",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}
