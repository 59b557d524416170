import { AcceptedBatchResponse } from "../batch-schemas.ts";
import { FillSetRequest } from "../fill-set-schema.ts";
import { ALWAYS, answer } from "./answers.ts";
import { refusals } from "./errors.ts";
import { EXAMPLES } from "./examples.ts";
import { IDEMPOTENCY_KEY_PARAMETER } from "./headers.ts";
import { SET_ID_PARAMETER } from "./set-operations.ts";

export function fillSet(): object {
  return {
    tags: ["Sets"],
    summary: "Make cards of a set from images",
    description:
      "Makes cards of a set's parallel from images or a batch that are there: each player's card as it was asked for, with the lowest numbers that are free. They are new images in a batch of their own, with a credit reserved for each, all or none; the earlier ones stay outside of the set. Their photos are fetched again. `details` names each fault by its image.",
    parameters: [
      SET_ID_PARAMETER,
      {
        ...IDEMPOTENCY_KEY_PARAMETER,
        required: false,
        description:
          "The same key with the same body gives the first batch again, with another body it is refused. Without a key each card is made once all the same. Kept for 72 hours.",
      },
    ],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: FillSetRequest,
          examples: {
            batch: {
              summary: "50 gold cards of each player of a batch",
              value: { parallel: "gold", batch_id: "bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9", count: 50 },
            },
            images: {
              summary: "Single images",
              value: { parallel: "base", image_ids: ["img_5mJd0nV7rQe2TzXyB8kWc3Hs"] },
            },
          },
        },
      },
    },
    responses: {
      "202": answer(
        "Accepted; or the batch of an earlier request with the same key and body.",
        AcceptedBatchResponse,
        { accepted: { summary: "Accepted", value: EXAMPLES.acceptedBatch } },
        "Location",
        "Idempotent-Replayed",
      ),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "INSUFFICIENT_CREDITS",
        "NOT_FOUND",
        "IDEMPOTENCY_KEY_REUSED_WITH_DIFFERENT_PAYLOAD",
        "SERIAL_TAKEN",
        "PARALLEL_FULL",
        "EDITION_CLOSED",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}
