import { type TSchema, Type } from "@sinclair/typebox";
import { StringEnum } from "../../core/string-enum.ts";
import { Batch } from "../batch-schemas.ts";
import { CompletedImage, FailedImage, time } from "../schemas.ts";

// The bodies of webhooks, as the OpenAPI document publishes them.

const closed = { additionalProperties: false } as const;

function event<T extends TSchema>(type: string, data: T, $id: string) {
  return Type.Object(
    {
      type: StringEnum([type], { description: "The kind of event." }),
      timestamp: Type.String({
        format: "date-time",
        description: "When it happened.",
        examples: ["2026-11-21T10:00:03.412Z"],
      }),
      environment: StringEnum(["live", "test"], { description: "The environment it happened in." }),
      data,
    },
    { ...closed, $id },
  );
}

const CreditsLow = Type.Object(
  {
    credits_remaining: Type.Integer({ minimum: 0, description: "Credits available.", examples: [200] }),
    credit_limit: Type.Integer({
      minimum: 0,
      description: "The plan's credits of this month, spent or not.",
      examples: [1000],
    }),
  },
  { ...closed, $id: "CreditsLow" },
);

const UsageAlert = Type.Object(
  {
    period: Type.String({ description: "The month, in UTC.", examples: ["2026-11"] }),
    credits_used: Type.Integer({
      minimum: 1,
      description: "Credits used in that month so far.",
      examples: [800],
    }),
    budget: Type.Integer({ minimum: 1, description: "The account's monthly budget.", examples: [1000] }),
    percent: Type.Integer({
      minimum: 1,
      description: "The part of the budget that was reached.",
      examples: [80],
    }),
  },
  { ...closed, $id: "UsageAlert" },
);

const PlayerRecalled = Type.Object(
  {
    external_id: Type.String({ description: "Your identifier of the player.", examples: ["player-10442"] }),
    reason: StringEnum(["withdrawn", "ended"], {
      description: "Whether the consent was withdrawn, or its time was over.",
    }),
    images_deleted: Type.Integer({
      minimum: 0,
      description: "How many images of this environment were deleted.",
      examples: [3],
    }),
    recalled_at: time("When everything of the player was deleted.", "2026-11-28T09:15:01.000Z"),
  },
  { ...closed, $id: "PlayerRecalled" },
);

const WebhookTest = Type.Object(
  {
    endpoint_id: Type.String({ description: "The endpoint under test." }),
    message: Type.String({
      description: "A greeting.",
      examples: ["This is a test. Webhooks arrive at this endpoint."],
    }),
  },
  { ...closed, $id: "WebhookTest" },
);

export const ImageCompletedEvent = event("image.completed", CompletedImage, "ImageCompletedEvent");
export const ImageFailedEvent = event("image.failed", FailedImage, "ImageFailedEvent");
export const ImagePublishedEvent = event("image.published", CompletedImage, "ImagePublishedEvent");
export const BatchCompletedEvent = event("batch.completed", Batch, "BatchCompletedEvent");
export const CreditsLowEvent = event("credits.low", CreditsLow, "CreditsLowEvent");
export const UsageAlertEvent = event("usage.alert", UsageAlert, "UsageAlertEvent");
export const PlayerRecalledEvent = event("player.recalled", PlayerRecalled, "PlayerRecalledEvent");
export const WebhookTestEvent = event("webhook.test", WebhookTest, "WebhookTestEvent");
