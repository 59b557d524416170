import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { API_PATHS, fillPath } from "../core/api-paths.ts";
import { COMPOSITIONS } from "../core/card.ts";
import { DETAIL_CODES, type ErrorCode } from "../core/errors.ts";
import { FAILURE_REASON_NAMES, FAILURE_REASONS } from "../core/failure-reasons.ts";
import { sentStyleSchema } from "../core/image-request.ts";
import { PUBLIC_STATUSES } from "../core/image-state.ts";
import { LAYERS } from "../core/layers.ts";
import { PHOTO_REFUSALS } from "../core/photo-refusals.ts";
import { PICTURE_CONTENT_TYPES } from "../core/picture-formats.ts";
import { StringEnum } from "../core/string-enum.ts";
import { ERROR_STATUS } from "./http-refusal.ts";
import { nextPage } from "./page-schema.ts";
import { PresetList } from "./preset-schemas.ts";
import { SetPlace } from "./set-place-schema.ts";

// The schemas of every response, of which the OpenAPI document is made, and with which tests validate real
// ones. A schema with an $id is published under that name. Closed here, so that the tests meet no field that
// is not documented; the document publishes answers as open, since they may grow.

const closed = { additionalProperties: false } as const;

export const time = (description: string, example: string) =>
  Type.String({ format: "date-time", description, examples: [example] });
export const timeOrNull = (description: string, more: { examples?: string[] } = {}) =>
  Type.Union([Type.String({ format: "date-time" }), Type.Null()], { description, ...more });
const CREATED_AT = "2026-11-21T10:00:00.000Z";
const COMPLETED_AT = "2026-11-21T10:00:03.412Z";

const imageId = Type.String({
  pattern: "^img_[0-9A-Za-z]+$",
  description: "The image's identifier.",
  examples: ["img_5mJd0nV7rQe2TzXyB8kWc3Hs"],
});
const createdAt = time("When the request was accepted.", CREATED_AT);
const completedAt = time("When the image was completed or failed.", COMPLETED_AT);

const publishAt = Type.Optional(
  time("When the card is published, as it was asked for. Absent once it is.", "2026-12-06T18:00:00.000Z"),
);

/** What the partner sent, in every view of an image. */
const ownWords = {
  external_id: Type.String({
    description: "Your own identifier of the player, as sent.",
    examples: ["player-10442"],
  }),
  name: Type.String({ description: "The name on the card, as sent.", examples: ["Maya Okafor"] }),
  metadata: Type.Union(
    [
      Type.Unsafe<Record<string, string>>(Type.Object({}, { additionalProperties: Type.String() })),
      Type.Null(),
    ],
    {
      description: "Your own key-value pairs, as sent; null when none were.",
      examples: [{ season: "2026" }],
    },
  ),
  batch_id: Type.Union([Type.String({ pattern: "^bat_[0-9A-Za-z]+$" }), Type.Null()], {
    description: "The batch it was first requested in; null for an image requested by itself.",
    examples: ["bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9"],
  }),
  style: sentStyleSchema(),
  set: Type.Optional(SetPlace),
};

const AcceptedImage = Type.Object(
  {
    image_id: imageId,
    status: StringEnum(["processing"], { description: "Always `processing`: the work has only begun." }),
    poll_url: Type.String({
      pattern: `^${API_PATHS.images}/img_`,
      description: "Path to ask for the image's state, to be put behind the service's address.",
      examples: [fillPath(API_PATHS.image, { image_id: "img_5mJd0nV7rQe2TzXyB8kWc3Hs" })],
    }),
    eta_seconds: Type.Integer({
      minimum: 1,
      description: "Estimated seconds until the image is finished, from the queue and recent images.",
      examples: [4],
    }),
    created_at: createdAt,
    set: Type.Optional(SetPlace),
  },
  { ...closed, $id: "AcceptedImage", description: "An accepted image request." },
);

const ProcessingImage = Type.Object(
  {
    image_id: imageId,
    status: StringEnum(["processing"], { description: "The image is being made." }),
    progress: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description:
        "Share of the work that is done, 0.0 to 1.0; null while it waits. Best effort; may step back.",
      examples: [0.35],
    }),
    created_at: createdAt,
    updated_at: time("When the state last changed.", "2026-11-21T10:00:01.120Z"),
    publish_at: publishAt,
    ...ownWords,
  },
  { ...closed, $id: "ProcessingImage", title: "Processing" },
);

const ImageResult = Type.Object(
  {
    image_url: Type.String({
      format: "uri",
      description:
        "Address of the finished picture. Open to anyone who knows it, until `expires_at`. With `?w=256`, 512 or 1024 it is smaller; of a moving picture 256 and 512 give a still.",
      examples: ["https://cdn.example.org/img_5mJd0nV7rQe2TzXyB8kWc3Hs-Zq81LmB0xYtR4vNc.png"],
    }),
    back_url: Type.Union([Type.String({ format: "uri" }), Type.Null()], {
      description:
        "Address of the card's other side, like `image_url` and as long; null unless `style.back` asked for it, and for a PDF, whose second page it is.",
      examples: [null],
    }),
    share_url: Type.Union([Type.String({ format: "uri" }), Type.Null()], {
      description:
        "Address of a page that shows the card, to be sent and posted: it tilts, shines and turns over, or plays as a video, and answers oEmbed. Open to anyone who knows it, as long as the picture; null for a PDF.",
      examples: ["https://cards.example.org/share/img_5mJd0nV7rQe2TzXyB8kWc3Hs-Zq81LmB0xYtR4vNc"],
    }),
    layers: Type.Optional(
      Type.Array(Type.String({ format: "uri" }), {
        minItems: LAYERS.length,
        maxItems: LAYERS.length,
        description: `Addresses of the card's layers, WebP with transparency, the rearmost first: ${LAYERS.join(", ")}. Laid over each other they give the card. As open and as long as \`image_url\`; absent unless \`style.layers\` asked for them.`,
      }),
    ),
    foil_mask: Type.Optional(
      Type.String({
        format: "uri",
        description: "Address of a picture that is opaque where the card is foil; comes with `layers`.",
      }),
    ),
    // A moving picture's frames may be smaller than any card that can be asked for.
    width: Type.Integer({ minimum: 250, maximum: 2048, description: "Pixels.", examples: [1024] }),
    height: Type.Integer({ minimum: 250, maximum: 2048, description: "Pixels.", examples: [1280] }),
    content_type: StringEnum(PICTURE_CONTENT_TYPES, { description: "MIME type." }),
    composition: Type.Optional(
      StringEnum(COMPOSITIONS, {
        description:
          "How the player is shown, as asked for or as chosen for `auto`. Absent for pictures made before there was a choice.",
      }),
    ),
    expires_at: time("When the address stops working. Store the picture before.", "2026-12-21T10:00:03.412Z"),
  },
  { ...closed, $id: "ImageResult", description: "The finished picture." },
);

const ImageExport = Type.Object(
  {
    status: StringEnum(["pending", "exported", "failed"], {
      description:
        "`exported`: the files are in the bucket. `failed`: it was given up, until somebody sends it again in the console.",
    }),
    key: Type.String({
      description: "The picture's key.",
      examples: ["cards/img_5mJd0nV7rQe2TzXyB8kWc3Hs.png"],
    }),
    back_key: Type.Union([Type.String(), Type.Null()], {
      description: "The key of the card's other side; null where it has none.",
      examples: [null],
    }),
    error: Type.Union([Type.String(), Type.Null()], {
      description: "Why the last attempt failed, for people; null when none did.",
      examples: [null],
    }),
  },
  {
    ...closed,
    $id: "ImageExport",
    description:
      "What became of a live card in the account's own bucket. Absent where none was named when it was finished.",
  },
);

export const CompletedImage = Type.Object(
  {
    image_id: imageId,
    status: StringEnum(["completed"], { description: "The image is ready." }),
    result: ImageResult,
    usage: Type.Object(
      {
        credits_used: Type.Integer({
          const: 1,
          description:
            "One credit for each completed image. With a test key it is 1 too, so that both are read alike: what the image would have cost. Nothing is deducted then, and `GET /v1/usage` counts none.",
        }),
      },
      closed,
    ),
    created_at: createdAt,
    completed_at: completedAt,
    publish_at: publishAt,
    export: Type.Optional(ImageExport),
    ...ownWords,
  },
  { ...closed, $id: "CompletedImage", title: "Completed" },
);

export const FAILURE_CODES = ["IMAGE_PROCESSING_FAILED"] as const;

export const ImageFailure = Type.Object(
  {
    code: StringEnum(FAILURE_CODES, { description: "Why the image failed." }),
    message: Type.String({
      description:
        "What happened and what to do, for people. Each reason to refuse a photo has a message of its own, which says what to send instead.",
      examples: [PHOTO_REFUSALS.no_player, PHOTO_REFUSALS.several_people],
    }),
    reason: Type.Optional(
      Type.String({
        pattern: "^[a-z_]+$",
        description: `Why, for programs: ${FAILURE_REASON_NAMES.map((name) => `\`${name}\``).join(", ")}. Names may be added, and never change. Absent for images that failed before there were reasons.`,
        examples: ["no_player", "photo_unreachable"],
      }),
    ),
    hint: Type.Optional(
      Type.String({
        description: "What helps, in one sentence, the same for each reason. Absent with the reason.",
        examples: [FAILURE_REASONS.no_player.hint],
      }),
    ),
  },
  { ...closed, $id: "ImageFailure", description: "Why an image failed. Its credit has been given back." },
);

export const FailedImage = Type.Object(
  {
    image_id: imageId,
    status: StringEnum(["failed"], { description: "The image could not be made. Nothing was charged." }),
    failure: ImageFailure,
    created_at: createdAt,
    completed_at: completedAt,
    ...ownWords,
  },
  { ...closed, $id: "FailedImage", title: "Failed" },
);

/** The fields of an image depend on its `status`. */
const Image = Type.Union([ProcessingImage, CompletedImage, FailedImage], {
  $id: "Image",
  description: "An image in its current state. `status` decides which fields are there.",
});

const ImageListItem = Type.Object(
  {
    image_id: imageId,
    status: StringEnum(PUBLIC_STATUSES, { description: "The image's state." }),
    type: StringEnum(["player_card"], { description: "The kind of image." }),
    created_at: createdAt,
    completed_at: timeOrNull("When the image was completed or failed; null while it is processing.", {
      examples: [COMPLETED_AT],
    }),
    ...ownWords,
  },
  { ...closed, $id: "ImageListItem" },
);

const ImageList = Type.Object(
  {
    images: Type.Array(ImageListItem, { maxItems: 100, description: "Newest first." }),
    ...nextPage,
  },
  { ...closed, $id: "ImageList", description: "A page of images." },
);

const deletedAt = time("When it was deleted.", "2026-11-28T09:15:00.000Z");

const DeletedImage = Type.Object(
  { image_id: imageId, deleted_at: deletedAt },
  { ...closed, $id: "DeletedImage", description: "An image that was deleted." },
);

const DeletedPlayer = Type.Object(
  {
    images_deleted: Type.Integer({
      minimum: 0,
      description: "How many images there were to delete.",
      examples: [3],
    }),
    deleted_at: deletedAt,
  },
  { ...closed, $id: "DeletedPlayer", description: "What was deleted of a player." },
);

const count = (description: string, example: number) =>
  Type.Integer({ minimum: 0, description, examples: [example] });

const Usage = Type.Object(
  {
    period: Type.String({
      pattern: "^\\d{4}-\\d{2}$",
      description: "The billing period's label, year and month in UTC.",
      examples: ["2026-11"],
    }),
    images_requested: count("Requests accepted in the period.", 412),
    images_completed: count("Images completed in the period.", 398),
    images_failed: count("Images failed in the period, canceled ones among them.", 9),
    credits_used: count(
      "Credits consumed in the period. With a test key 0, though each completed image says what it would have cost.",
      398,
    ),
    credits_remaining: count("Credits available now.", 602),
    credit_limit: count(
      "The plan's credits of this month, spent or not. A plan that is changed within the month counts from the next one on.",
      1000,
    ),
    environment: StringEnum(["live", "test"], { description: "From the key used." }),
  },
  { ...closed, $id: "Usage", description: "Images and credits of one period and environment." },
);

const ErrorDetail = Type.Object(
  {
    field: Type.String({
      description:
        "Its path in the body, such as `cards[17].player.number`, or `body` for the whole of it; `query limit`, `path external_id` and `header Idempotency-Key` for what stands there.",
      examples: ["player.number"],
    }),
    message: Type.String({
      description: "The broken rule and what to send instead.",
      examples: ["must be a whole number from 1 to 99; got 120."],
    }),
    code: Type.Optional(
      StringEnum([...DETAIL_CODES], {
        description:
          "Stable: switch on it. There when the request is well formed and refused for a state: what is recorded of the player's consent, a card that is still being made or is published already, or a signed address that does not hold. More may come.",
      }),
    ),
  },
  { ...closed, $id: "ErrorDetail", description: "One broken field." },
);

const CreditLack = Type.Object(
  {
    needed: Type.Integer({ minimum: 1, description: "Credits that the request needs.", examples: [25] }),
    remaining: Type.Integer({ minimum: 0, description: "Credits that the account has.", examples: [12] }),
    renews_at: timeOrNull("When the plan's next credits come; null for a plan without any.", {
      examples: ["2026-12-01T00:00:00.000Z"],
    }),
  },
  { ...closed, $id: "CreditLack", description: "How many credits there are too few." },
);

const ERROR_CODES = Object.keys(ERROR_STATUS) as ErrorCode[];

const ApiError = Type.Object(
  {
    code: StringEnum(ERROR_CODES, { description: "Stable: switch on it." }),
    message: Type.String({ description: "What is wrong and what to do, for people. May change." }),
    request_id: Type.String({
      description: "Also in the X-Request-Id header. Include it when you ask for help.",
      examples: ["req_0Hq3ZrX9mLk2VbTnWc7YdE5s"],
    }),
    docs_url: Type.String({ format: "uri", description: "The page about this code." }),
    details: Type.Optional(
      Type.Array(ErrorDetail, {
        minItems: 1,
        maxItems: 100,
        description: "Every broken field, where fields are at fault.",
      }),
    ),
    credits: Type.Optional(CreditLack),
  },
  { ...closed, $id: "ApiError" },
);

/** `{success: true, data, error: null}` */
export function successEnvelope<T extends TSchema>(data: T, $id: string) {
  return Type.Object(
    {
      success: Type.Boolean({ const: true }),
      data,
      error: Type.Null({ description: "Always null when `success` is true." }),
    },
    { ...closed, $id },
  );
}

export const AcceptedImageResponse = successEnvelope(AcceptedImage, "AcceptedImageResponse");
export const ImageResponse = successEnvelope(Image, "ImageResponse");
export const DeletedImageResponse = successEnvelope(DeletedImage, "DeletedImageResponse");
export const DeletedPlayerResponse = successEnvelope(DeletedPlayer, "DeletedPlayerResponse");
export const ImageListResponse = successEnvelope(ImageList, "ImageListResponse");
export const PresetListResponse = successEnvelope(PresetList, "PresetListResponse");
export const UsageResponse = successEnvelope(Usage, "UsageResponse");

export const ErrorResponse = Type.Object(
  {
    success: Type.Boolean({ const: false }),
    data: Type.Null({ description: "Always null when `success` is false." }),
    error: ApiError,
  },
  { ...closed, $id: "ErrorResponse", description: "The envelope of every refusal and failure." },
);
export type ErrorResponse = Static<typeof ErrorResponse>;
