import type { TSchema } from "@sinclair/typebox";
import { EXAMPLES } from "./examples.ts";
import {
  BatchCompletedEvent,
  CreditsLowEvent,
  ImageCompletedEvent,
  ImageFailedEvent,
  ImagePublishedEvent,
  PlayerRecalledEvent,
  UsageAlertEvent,
  WebhookTestEvent,
} from "./webhook-schemas.ts";

const SIGNED_HEADERS = [
  {
    name: "webhook-id",
    in: "header",
    required: true,
    description: "Identifies the event. The same at every attempt: use it to ignore what you have seen.",
    schema: { type: "string" },
    example: "evt_7Wc2Lk9VbTnX0Hq3ZrXm5dYE",
  },
  {
    name: "webhook-timestamp",
    in: "header",
    required: true,
    description: "Unix time in seconds of this attempt. Refuse what is older than five minutes.",
    schema: { type: "integer" },
    example: 1795255203,
  },
] as const;

interface WebhookText {
  operationId: string;
  summary: string;
  description: string;
  schema: TSchema;
}

const WEBHOOKS: Record<keyof (typeof EXAMPLES)["webhooks"], WebhookText> = {
  "image.completed": {
    operationId: "onImageCompleted",
    summary: "An image is ready",
    description: "Sent once an image is completed. `data` is what `GET /v1/images/{image_id}` answers.",
    schema: ImageCompletedEvent,
  },
  "image.failed": {
    operationId: "onImageFailed",
    summary: "An image could not be made",
    description:
      "Sent once an image has failed, or was canceled with its batch: `data.failure.reason` says which. Its credit has been given back.",
    schema: ImageFailedEvent,
  },
  "image.published": {
    operationId: "onImagePublished",
    summary: "An image is published",
    description:
      "Sent when the `publish_at` of a completed image has come, or when an image is completed after it; not for images without one. `data` is what `GET /v1/images/{image_id}` answers.",
    schema: ImagePublishedEvent,
  },
  "batch.completed": {
    operationId: "onBatchCompleted",
    summary: "A batch has ended",
    description: "Sent once the last card of a batch is completed or failed, also of a canceled one.",
    schema: BatchCompletedEvent,
  },
  "credits.low": {
    operationId: "onCreditsLow",
    summary: "A fifth of the credits is left",
    description: "Sent when the credits available fall to 20 % of the plan.",
    schema: CreditsLowEvent,
  },
  "player.recalled": {
    operationId: "onPlayerRecalled",
    summary: "A player is recalled",
    description:
      "A player's consent was withdrawn or has ended: every image of theirs was deleted. Take their cards down wherever you show them. Sent in both environments.",
    schema: PlayerRecalledEvent,
  },
  "usage.alert": {
    operationId: "onUsageAlert",
    summary: "A part of the month's budget is used",
    description:
      "Sent when the credits used in a month reach an alert of the account's budget, once each month.",
    schema: UsageAlertEvent,
  },
  "webhook.test": {
    operationId: "onWebhookTest",
    summary: "A test that you asked for",
    description: "Sent when a test is asked for in the console, to see that an endpoint works.",
    schema: WebhookTestEvent,
  },
};

/** The requests the service sends to partners. https://www.standardwebhooks.com */
export function webhookOperations(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(WEBHOOKS).map(([type, { schema, ...text }]) => [
      type,
      {
        post: {
          ...text,
          tags: ["Webhooks"],
          security: [{ WebhookSignature: [] }],
          parameters: SIGNED_HEADERS,
          requestBody: {
            required: true,
            content: {
              "application/json": { schema, example: EXAMPLES.webhooks[type as keyof typeof WEBHOOKS] },
            },
          },
          responses: {
            "2XX": { description: "Taken. Answer within 15 seconds, and do slow work afterwards." },
            "410": { description: "Gone: the endpoint is switched off and receives nothing more." },
            default: {
              description:
                "Anything else, a redirect or no answer in time is a failure. It is tried again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h, 20 h and 24 h.",
            },
          },
        },
      },
    ]),
  );
}
