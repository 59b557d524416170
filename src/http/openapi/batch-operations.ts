import { MAX_BATCH_CARDS } from "../../core/limits.ts";
import { remakeBatchSchema } from "../../core/remake-request.ts";
import {
  AcceptedBatchResponse,
  BatchListResponse,
  BatchResponse,
  createBatchSchema,
} from "../batch-schemas.ts";
import { ALWAYS, answer, pageParameters } from "./answers.ts";
import { headerRefs, refusals, STANDARD_HEADERS } from "./errors.ts";
import { batchExample, EXAMPLES } from "./examples.ts";
import { IDEMPOTENCY_KEY_PARAMETER } from "./headers.ts";

export const BATCH_ID_PARAMETER = {
  name: "batch_id",
  in: "path",
  required: true,
  description: "The id returned on creation.",
  schema: { type: "string" },
  example: "bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9",
} as const;

export function createBatch(presets: readonly string[]): object {
  return {
    tags: ["Batches"],
    summary: "Create a batch",
    description: `Up to ${MAX_BATCH_CARDS} cards at once: all of them are accepted, with a credit reserved for each, or none. \`details\` names the place of each fault, such as \`cards[17].player.number\`. Photos are fetched afterwards, and one that cannot be used fails its own card only. A batch takes turns with your single images and with everybody else's, so neither waits for the other. A card that was sent in the same words within 72 hours, and has not failed, is not made again: it stands in the new batch as it is, and costs nothing.`,
    parameters: [
      {
        ...IDEMPOTENCY_KEY_PARAMETER,
        required: false,
        description:
          "The same key with the same body gives the first batch again, with another body it is refused. Without a key each card is made once all the same. Kept for 72 hours.",
      },
    ],
    requestBody: {
      required: true,
      description: "At most 4 MB of JSON in UTF-8.",
      content: {
        "application/json": {
          schema: createBatchSchema(presets),
          examples: { full: { summary: "Two cards", value: batchExample(presets) } },
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

export function remakeBatch(presets: readonly string[]): object {
  return {
    tags: ["Batches"],
    summary: "Make cards of a batch again",
    description:
      "Makes cards of the batch again in their places: all that failed, all that were canceled, or those of some players with other words, colours or photos, changed as in a remake of one image. A finished card keeps its place, in the ZIP too, until the new one is ready, and for good when that fails: `change` of the card says so, and `failed` makes the change again. The batch counts each new card instead of the old one, and when all have ended again `batch.completed` says so again. The old images stay as they are, outside of the batch. Each card that is made costs its own credit; one that would be as it is costs nothing and is not made, so that a call may be sent again. Cards that have not ended cannot be changed.",
    parameters: [BATCH_ID_PARAMETER],
    requestBody: {
      required: true,
      description: "At most 4 MB of JSON in UTF-8.",
      content: {
        "application/json": {
          schema: remakeBatchSchema(presets),
          examples: {
            failed: { summary: "Whatever failed", value: { failed: true } },
            player: {
              summary: "One player's number and photo",
              value: {
                cards: [
                  {
                    external_id: "player-10442",
                    player: {
                      number: 19,
                      source_image_url: "https://images.example.com/players/10442-new.jpg",
                    },
                  },
                ],
              },
            },
          },
        },
      },
    },
    responses: {
      "202": answer(
        "The batch as it is now.",
        AcceptedBatchResponse,
        { accepted: { summary: "Its cards are made again", value: EXAMPLES.acceptedBatch } },
        "Location",
      ),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "INSUFFICIENT_CREDITS",
        "NOT_FOUND",
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

export function listBatches(): object {
  return {
    tags: ["Batches"],
    summary: "List batches",
    description: "The batches of the key's account and environment, newest first.",
    parameters: pageParameters("batches", "kind of key"),
    responses: {
      "200": answer("A page of batches.", BatchListResponse, {
        page: { summary: "The only page", value: EXAMPLES.batchList },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

export function getBatch(): object {
  return {
    tags: ["Batches"],
    summary: "Get a batch",
    description: "Its progress, and every card in the order they were sent.",
    parameters: [BATCH_ID_PARAMETER],
    responses: {
      "200": answer("The batch as it is now.", BatchResponse, {
        batch: { summary: "One card ready, one failed", value: EXAMPLES.batch },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND"),
    },
  };
}

export function deleteBatch(): object {
  return {
    tags: ["Batches"],
    summary: "Cancel a batch",
    description:
      "Cards that nobody has begun to render fail, and their credits come back at once; those being rendered end as they do. Pictures that are finished stay. Canceling twice is canceling once, and a batch that is complete stays as it is.",
    parameters: [BATCH_ID_PARAMETER],
    responses: {
      "200": answer("The batch as it is now.", BatchResponse, {
        batch: { summary: "Canceled", value: EXAMPLES.canceledBatch },
      }),
      ...refusals(...ALWAYS, "NOT_FOUND", "SERVICE_OVERLOADED"),
    },
  };
}

export function getBatchPictures(): object {
  return {
    tags: ["Batches"],
    summary: "Get a batch's pictures",
    description:
      "The pictures that are finished and still served, as one ZIP archive named by external id, with a table of all cards in `cards.csv`. It is written while you read it.",
    parameters: [BATCH_ID_PARAMETER],
    responses: {
      "200": {
        description: "The archive.",
        headers: { ...STANDARD_HEADERS, ...headerRefs("Content-Disposition") },
        content: {
          "application/zip": { schema: { type: "string", contentMediaType: "application/zip" } },
        },
      },
      ...refusals(...ALWAYS, "NOT_FOUND"),
    },
  };
}
