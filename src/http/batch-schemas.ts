import { Type } from "@sinclair/typebox";
import { BATCH_STATUSES } from "../app/batches/batch-view.ts";
import { API_PATHS } from "../core/api-paths.ts";
import { batchCardSchema } from "../core/image-request.ts";
import { MAX_ACCOUNT_NAME_CHARS, MAX_BATCH_CARDS } from "../core/limits.ts";
import { StringEnum } from "../core/string-enum.ts";
import { nextPage } from "./page-schema.ts";
import { ImageFailure, successEnvelope, time, timeOrNull } from "./schemas.ts";
import { SetPlace } from "./set-place-schema.ts";

const closed = { additionalProperties: false } as const;
const BATCH_ID = "bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9";

const batchId = Type.String({
  pattern: "^bat_[0-9A-Za-z]+$",
  description: "The batch's identifier.",
  examples: [BATCH_ID],
});
const count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: MAX_BATCH_CARDS, description, examples: [example] });

/** What POST /v1/batches takes. */
export function createBatchSchema(presets: readonly string[]) {
  return Type.Object(
    {
      name: Type.Optional(
        Type.String({
          maxLength: MAX_ACCOUNT_NAME_CHARS,
          description: "What you call it; shown in the console.",
          examples: ["First team 2026"],
        }),
      ),
      cards: Type.Array(batchCardSchema(presets), {
        minItems: 1,
        maxItems: MAX_BATCH_CARDS,
        description:
          "Each as `POST /v1/images` takes it. Cards of one player must differ in their set, its parallel or the number asked for.",
      }),
    },
    { ...closed, $id: "CreateBatchRequest" },
  );
}

const facts = {
  batch_id: batchId,
  name: Type.String({ description: "As it was sent; empty without one.", examples: ["First team 2026"] }),
  status: StringEnum(BATCH_STATUSES, {
    description: "`completed` once every card is completed or failed; `canceled` from the cancellation on.",
  }),
  total: Type.Integer({ minimum: 1, maximum: MAX_BATCH_CARDS, description: "Its cards.", examples: [500] }),
  completed: count("Cards that are ready.", 312),
  failed: count("Cards that could not be made, or were canceled. Nothing was charged for them.", 4),
  canceled: count("How many of the failed ones were canceled before they were begun.", 0),
  processing: count("Cards that are being made or wait.", 184),
  progress: Type.Number({
    minimum: 0,
    maximum: 1,
    description: "Share of the cards that have ended.",
    examples: [0.632],
  }),
  created_at: time("When it was accepted.", "2026-11-21T10:00:00.000Z"),
  updated_at: time("When a card last ended.", "2026-11-21T10:02:11.512Z"),
  canceled_at: timeOrNull("When it was canceled; null if it was not."),
  completed_at: timeOrNull("When the last card ended; null before."),
};

/** A batch without its images, as lists and events show it. */
export const Batch = Type.Object(facts, { ...closed, $id: "Batch", description: "A batch of cards." });

const imageId = (description: string) =>
  Type.String({ pattern: "^img_[0-9A-Za-z]+$", description, examples: ["img_5mJd0nV7rQe2TzXyB8kWc3Hs"] });

const CardChange = Type.Object(
  {
    image_id: imageId("The image that is to take the card's place."),
    status: StringEnum(["processing", "failed"], {
      description: "Once it is ready it is the card itself; when it failed, the previous card stays.",
    }),
    failure: Type.Union([ImageFailure, Type.Null()], { description: "Why the change failed." }),
  },
  { ...closed, $id: "CardChange", description: "A change of a finished card that is not in its place." },
);

const BatchImage = Type.Object(
  {
    image_id: imageId("The image, as `GET /v1/images/{image_id}` returns it."),
    external_id: Type.Union([Type.String(), Type.Null()], {
      description: "Your identifier of the player; null once the image is deleted.",
      examples: ["player-10442"],
    }),
    status: StringEnum(["processing", "completed", "failed", "deleted"], {
      description: "The card's state.",
    }),
    image_url: Type.Union([Type.String({ format: "uri" }), Type.Null()], {
      description: "Address of the picture while it is served.",
    }),
    back_url: Type.Union([Type.String({ format: "uri" }), Type.Null()], {
      description: "Address of the card's other side while it is served; null unless one was asked for.",
    }),
    failure: Type.Union([ImageFailure, Type.Null()], { description: "Why the card failed." }),
    set: Type.Optional(SetPlace),
    change: Type.Union([CardChange, Type.Null()], {
      description: "What was made of the card by a remake, while it is being made or after it failed.",
    }),
  },
  { ...closed, $id: "BatchImage", description: "One card of a batch." },
);

const detail = {
  ...facts,
  poll_url: Type.String({
    pattern: `^${API_PATHS.batches}/bat_`,
    description: "Path to ask for its state, to be put behind the service's address.",
  }),
  pictures_url: Type.String({
    pattern: `^${API_PATHS.batches}/bat_`,
    description: "Path of the finished pictures as one ZIP archive.",
  }),
  images: Type.Array(BatchImage, {
    maxItems: MAX_BATCH_CARDS,
    description: "Its cards, in the order they were sent.",
  }),
};

const BatchDetail = Type.Object(detail, {
  ...closed,
  $id: "BatchDetail",
  description: "A batch with its cards.",
});

const AcceptedBatch = Type.Object(
  {
    ...detail,
    eta_seconds: Type.Integer({
      minimum: 1,
      description: "Estimated seconds until it is finished, once its photos are there.",
      examples: [480],
    }),
  },
  { ...closed, $id: "AcceptedBatch", description: "An accepted batch." },
);

const BatchList = Type.Object(
  {
    batches: Type.Array(Batch, { maxItems: 100, description: "Newest first." }),
    ...nextPage,
  },
  { ...closed, $id: "BatchList", description: "A page of batches." },
);

export const AcceptedBatchResponse = successEnvelope(AcceptedBatch, "AcceptedBatchResponse");
export const BatchResponse = successEnvelope(BatchDetail, "BatchResponse");
export const BatchListResponse = successEnvelope(BatchList, "BatchListResponse");
