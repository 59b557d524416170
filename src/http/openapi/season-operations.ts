import { UPLOAD_LIFETIME_MS } from "../../core/limits.ts";
import { DAY_MS } from "../../core/time.ts";
import { ChangeImageRequest } from "../change-image.ts";
import { PhotoResponse } from "../photo-schemas.ts";
import { DeletedImageResponse, DeletedPlayerResponse, ImageResponse } from "../schemas.ts";
import { ALWAYS, answer, EXTERNAL_ID_PARAMETER, IMAGE_ID_PARAMETER } from "./answers.ts";
import { refusals } from "./errors.ts";
import { EXAMPLES } from "./examples.ts";

// Operations around single images: changing and deleting them, and photos that are sent, not hosted.

export function changeImage(): object {
  return {
    tags: ["Images"],
    summary: "Change when an image is published",
    description:
      "Moves `publish_at` of an image that is not published yet, or lifts it. A finished card whose time is lifted is published at once, and `image.published` is sent; one that is being made gets a time also where it had none. The picture is kept from its new time on. Sent twice, it changes nothing the second time. What is published stays so: another time is refused with `already_published` in `details`.",
    parameters: [IMAGE_ID_PARAMETER],
    requestBody: {
      required: true,
      content: {
        "application/json": {
          schema: ChangeImageRequest,
          examples: {
            later: { summary: "Two hours later", value: { publish_at: "2026-12-06T20:00:00Z" } },
            now: { summary: "At once", value: { publish_at: null } },
          },
        },
      },
    },
    responses: {
      "200": answer("The image.", ImageResponse, {
        changed: { summary: "With its new time", value: EXAMPLES.putOff },
      }),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "IMAGE_NOT_FOUND",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}

export function deleteImage(): object {
  return {
    tags: ["Images"],
    summary: "Delete an image",
    description:
      "Deletes the picture, the photo and what was cut out of it, the request and the webhooks about it; the picture's address answers 410 from then on. An image that is still being made ends, and its credit is given back. Credits and counts stay, without personal data. A photo that other images were made of stays until the last of them is deleted. Deleting twice is deleting once.",
    parameters: [IMAGE_ID_PARAMETER],
    responses: {
      "200": answer("It is deleted.", DeletedImageResponse, {
        deleted: { summary: "Deleted", value: EXAMPLES.deletedImage },
      }),
      ...refusals(...ALWAYS, "IMAGE_NOT_FOUND", "SERVICE_OVERLOADED"),
    },
  };
}

export function deletePlayer(): object {
  return {
    tags: ["Images"],
    summary: "Delete a player",
    description:
      "Deletes every image of the key's environment whose `player.external_id` is this one, as `DELETE /v1/images/{image_id}` does, and takes the player out of the request log. Where there are none the answer is the same, with 0 images.",
    parameters: [EXTERNAL_ID_PARAMETER],
    responses: {
      "200": answer("The player is deleted.", DeletedPlayerResponse, {
        deleted: { summary: "Deleted", value: EXAMPLES.deletedPlayer },
      }),
      ...refusals(...ALWAYS, "INVALID_REQUEST", "SERVICE_OVERLOADED"),
    },
  };
}

export function createPhoto(): object {
  return {
    tags: ["Images"],
    summary: "Send a photo",
    description: `Keeps a photo or a club's badge that you do not host, checked as a fetched one is. \`url\` of the answer can be sent as \`player.source_image_url\` or \`branding.club_badge_url\` by keys of the same account and environment, until it expires after ${UPLOAD_LIFETIME_MS / DAY_MS} days. It opens to nobody else.`,
    requestBody: {
      required: true,
      description: "A form with one file: JPEG, PNG or WebP, at most 15 MB and 40 megapixels.",
      content: {
        "multipart/form-data": {
          schema: {
            type: "object",
            required: ["file"],
            properties: {
              file: {
                type: "string",
                contentMediaType: "application/octet-stream",
                description: "The picture.",
              },
              use: {
                type: "string",
                enum: ["photo", "badge"],
                default: "photo",
                description: "What it is for: badges may be as small as 16 pixels, and have at most 5 MB.",
              },
            },
          },
        },
      },
    },
    responses: {
      "201": answer("It is kept.", PhotoResponse, {
        photo: { summary: "A photo", value: EXAMPLES.photo },
      }),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "PAYLOAD_TOO_LARGE",
        "UNSUPPORTED_MEDIA_TYPE",
        "UNSUPPORTED_IMAGE_SOURCE",
        "SERVICE_OVERLOADED",
      ),
    },
  };
}
