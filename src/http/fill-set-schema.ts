import { Type } from "@sinclair/typebox";
import { MAX_ACCOUNT_NAME_CHARS, MAX_BATCH_CARDS, MAX_PARALLEL_NAME_CHARS } from "../core/limits.ts";

/** What POST /v1/sets/{set_id}/cards takes. */
export const FillSetRequest = Type.Object(
  {
    parallel: Type.String({
      minLength: 1,
      maxLength: MAX_PARALLEL_NAME_CHARS,
      description: "The parallel that the cards are of.",
      examples: ["gold"],
    }),
    batch_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          "A batch whose finished cards are taken, the first of each player. Leave out for `image_ids`.",
        examples: ["bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9"],
      }),
    ),
    image_ids: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        minItems: 1,
        maxItems: MAX_BATCH_CARDS,
        description: "Finished images, one of each player. Leave out for `batch_id`.",
        examples: [["img_5mJd0nV7rQe2TzXyB8kWc3Hs"]],
      }),
    ),
    count: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MAX_BATCH_CARDS,
        default: 1,
        description: `How many cards of each player, in a parallel with numbers. All together are at most ${MAX_BATCH_CARDS}.`,
        examples: [50],
      }),
    ),
    name: Type.Optional(
      Type.String({
        maxLength: MAX_ACCOUNT_NAME_CHARS,
        description: "What the batch of the new cards is called.",
        examples: ["Gold 2026/27"],
      }),
    ),
  },
  {
    additionalProperties: false,
    $id: "FillSetRequest",
    description: "Cards that are made already, of which a set is to have some.",
  },
);
