import { createImageSchema } from "../../core/image-request.ts";
import { PUBLIC_STATUSES } from "../../core/image-state.ts";
import { MAX_METADATA_FILTER_KEY_CHARS } from "../../core/limits.ts";
import { PICTURE_CONTENT_TYPES } from "../../core/picture-formats.ts";
import { PICTURE_WIDTHS } from "../../core/picture-limits.ts";
import { StringEnum } from "../../core/string-enum.ts";
import { USAGE_PERIODS } from "../../core/time.ts";
import { type PartnerRouteName, ROUTES } from "../route-table.ts";
import {
  AcceptedImageResponse,
  ImageListResponse,
  ImageResponse,
  PresetListResponse,
  UsageResponse,
} from "../schemas.ts";
import { ALWAYS, answer, IMAGE_ID_PARAMETER, pageParameters, spanParameters } from "./answers.ts";
import {
  createBatch,
  deleteBatch,
  getBatch,
  getBatchPictures,
  listBatches,
  remakeBatch,
} from "./batch-operations.ts";
import { getConsent, listConsents, recordConsent, withdrawConsent } from "./consent-operations.ts";
import { headerRefs, refusals, STANDARD_HEADERS } from "./errors.ts";
import { createExamples, EXAMPLES } from "./examples.ts";
import { fillSet } from "./fill-set-operation.ts";
import { IDEMPOTENCY_KEY_PARAMETER, PREFER_ON_GET_PARAMETER, PREFER_PARAMETER } from "./headers.ts";
import { printBatch, printImage } from "./print-operations.ts";
import { remakeImage } from "./remake-operation.ts";
import { changeImage, createPhoto, deleteImage, deletePlayer } from "./season-operations.ts";
import {
  changeSet,
  createSet,
  deleteSet,
  getChecklist,
  getManifest,
  getPacks,
  getSet,
  listSets,
  printAlbum,
  printChecklist,
} from "./set-operations.ts";
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getEvent,
  getWebhookEndpoint,
  listEvents,
  listWebhookEndpoints,
  redeliverEvent,
  rotateWebhookSecret,
  testWebhookEndpoint,
} from "./webhook-operations.ts";

const OPERATIONS: Record<PartnerRouteName, (presets: readonly string[]) => object> = {
  createImage,
  listImages,
  getImage,
  changeImage,
  deleteImage,
  remakeImage,
  printImage,
  deletePlayer,
  listConsents,
  getConsent,
  recordConsent,
  withdrawConsent,
  createBatch,
  listBatches,
  getBatch,
  deleteBatch,
  printBatch,
  remakeBatch,
  getBatchPictures,
  createSet,
  listSets,
  getSet,
  changeSet,
  deleteSet,
  getChecklist,
  printAlbum,
  printChecklist,
  fillSet,
  getManifest,
  getPacks,
  createPhoto,
  listPresets,
  getUsage,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
  listEvents,
  getEvent,
  redeliverEvent,
};

/** The paths under /v1. */
export function partnerOperations(presets: readonly string[]): Record<string, object> {
  const paths: Record<string, Record<string, object>> = {};
  for (const [name, describe] of Object.entries(OPERATIONS)) {
    const { path, method } = ROUTES[name as PartnerRouteName];
    paths[path] = { ...paths[path], [method.toLowerCase()]: { operationId: name, ...describe(presets) } };
  }
  return paths;
}

function createImage(presets: readonly string[]): object {
  const examples = createExamples(presets);
  return {
    tags: ["Images"],
    summary: "Create an image",
    description:
      "Fetches and checks the photo (and badge), reserves one credit with a live key, and answers at once with the image's id. The picture is made afterwards: poll `poll_url`, or listen for webhooks. Only a completed image costs its credit; a failed one gives it back.",
    parameters: [IDEMPOTENCY_KEY_PARAMETER, PREFER_PARAMETER],
    requestBody: {
      required: true,
      description: "At most 64 KB of JSON in UTF-8. Fields that are not listed are refused.",
      content: {
        "application/json": {
          schema: createImageSchema(presets),
          examples: {
            full: { summary: "With every option", value: examples.full },
            least: { summary: "Only what is required", value: examples.least },
          },
        },
      },
    },
    responses: {
      "200": answer(
        "With `Prefer: wait=N`: the image, which has ended in time.",
        ImageResponse,
        {
          completed: { summary: "Ready", value: EXAMPLES.completed },
          failed: { summary: "Failed", value: EXAMPLES.failed },
        },
        "Location",
        "Idempotent-Replayed",
        "Preference-Applied",
      ),
      "202": answer(
        "Accepted; or the stored answer of an earlier request with the same key and body, byte for byte.",
        AcceptedImageResponse,
        { accepted: { summary: "Accepted", value: EXAMPLES.accepted } },
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
        "UNSUPPORTED_IMAGE_SOURCE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

function listImages(): object {
  return {
    tags: ["Images"],
    summary: "List images",
    description:
      "The images of the key's account and environment, newest first; with several filters those that fit all of them. Pages stay right while new images arrive. Where few of many images fit several filters, a page may have fewer than `limit`, or none: go on as long as `has_more` is true.",
    parameters: [
      {
        name: "status",
        in: "query",
        description: "Only images in this state.",
        schema: { type: "string", enum: PUBLIC_STATUSES },
      },
      ...OWN_FILTERS,
      ...pageParameters("images", "filters and kind of key"),
    ],
    responses: {
      "200": answer("A page of images.", ImageListResponse, {
        page: { summary: "A page, with another to come", value: EXAMPLES.list },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

const OWN_FILTERS = [
  {
    name: "external_id",
    in: "query",
    description: "Only images of this player.",
    schema: { type: "string", minLength: 1, maxLength: 255 },
    example: "player-10442",
  },
  {
    name: "batch_id",
    in: "query",
    description: "Only cards of this batch.",
    schema: { type: "string", pattern: "^bat_[0-9A-Za-z]+$" },
    example: "bat_2Lk9VbTnWc7YdE5s0Hq3ZrX9",
  },
  {
    name: "current",
    in: "query",
    description:
      "`true`: only the current card of each player, the newest finished one that is still served, whatever made it.",
    schema: { type: "boolean" },
  },
  {
    name: "metadata.KEY",
    in: "query",
    description: `Only images whose metadata has this value; write your own key instead of \`KEY\`, such as \`metadata.season=2026\`. Up to 10 keys, of at most ${MAX_METADATA_FILTER_KEY_CHARS} characters each.`,
    schema: { type: "string", maxLength: 256 },
  },
  ...spanParameters("accepted"),
] as const;

function getImage(): object {
  return {
    tags: ["Images"],
    summary: "Get an image",
    description:
      "The image's current state. A failed image is answered with 200 as well: the request succeeded, and `failure` says why the image did not.",
    parameters: [IMAGE_ID_PARAMETER, PREFER_ON_GET_PARAMETER],
    responses: {
      "200": answer(
        "The image in its current state.",
        ImageResponse,
        {
          processing: { summary: "Being made", value: EXAMPLES.processing },
          completed: { summary: "Ready", value: EXAMPLES.completed },
          failed: { summary: "Failed", value: EXAMPLES.failed },
        },
        "Preference-Applied",
      ),
      ...refusals(...ALWAYS, "IMAGE_NOT_FOUND"),
    },
  };
}

function listPresets(): object {
  return {
    tags: ["Presets"],
    summary: "List presets",
    description:
      "The card templates that `style.preset` of a create can name, in the operator's order, with the version new images are made with. They are the same for live and test keys. And the formats that cards may have here.",
    responses: {
      "200": answer("Every template.", PresetListResponse, {
        presets: { summary: "One template", value: EXAMPLES.presets },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

function getUsage(): object {
  return {
    tags: ["Usage"],
    summary: "Get usage",
    description:
      "Images and credits of a period, for the key's environment. Periods are in UTC. The label of `last_30_days` is the current month.",
    parameters: [
      {
        name: "period",
        in: "query",
        required: true,
        description: "Which period.",
        schema: StringEnum(USAGE_PERIODS),
        example: "current_month",
      },
    ],
    responses: {
      "200": answer("The period's counts.", UsageResponse, {
        usage: { summary: "A month", value: EXAMPLES.usage },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST"),
    },
  };
}

/** Finished pictures: served without a key, at an address of their own. */
export function cdnOperation(cdnBaseUrl: string): Record<string, object> {
  const { path } = ROUTES.getPicture;
  const headers = { ...STANDARD_HEADERS, ...headerRefs("ETag", "Cache-Control") };
  const binary = { schema: { type: "string", contentMediaType: "application/octet-stream" } };
  const content = Object.fromEntries(PICTURE_CONTENT_TYPES.map((type) => [type, binary]));
  return {
    // Relative to the address of pictures, which may be on another host.
    [path.slice(path.lastIndexOf("/"))]: {
      servers: [{ url: cdnBaseUrl, description: "Finished pictures" }],
      get: {
        operationId: "getPicture",
        tags: ["Images"],
        summary: "Get a finished picture",
        description:
          "Take the whole address from `result.image_url`. It needs no key: its name cannot be guessed, and anyone who knows it may open it until `expires_at`.",
        security: [],
        parameters: [
          {
            name: "picture",
            in: "path",
            required: true,
            description: "The last part of `result.image_url`.",
            schema: { type: "string" },
            example: "img_5mJd0nV7rQe2TzXyB8kWc3Hs-Zq81LmB0xYtR4vNc.png",
          },
          {
            name: "w",
            in: "query",
            description:
              "A smaller width in pixels, below the picture's own; the height follows. In the picture's format, of a PDF its front as JPEG; costs no credit, and may be cached as long.",
            schema: { type: "integer", enum: PICTURE_WIDTHS },
          },
          {
            name: "If-None-Match",
            in: "header",
            description: "An ETag you have; answered with 304 while it is right.",
            schema: { type: "string" },
          },
          {
            name: "Range",
            in: "header",
            description: "A part of the picture, such as `bytes=0-1023`; answered with 206.",
            schema: { type: "string" },
          },
        ],
        responses: {
          "200": { description: "The picture.", headers, content },
          "206": { description: "The part that `Range` asked for.", headers, content },
          "304": { description: "The picture you have is still right.", headers },
          "416": { description: "`Range` asked for a part beyond the picture's end.", headers },
          ...refusals(
            "INVALID_REQUEST",
            "NOT_FOUND",
            "PICTURE_GONE",
            "METHOD_NOT_ALLOWED",
            "INTERNAL_ERROR",
            "SERVICE_OVERLOADED",
          ),
        },
      },
    },
  };
}
