import { remakeSchema } from "../../core/remake-request.ts";
import { AcceptedImageResponse, ImageResponse } from "../schemas.ts";
import { ALWAYS, answer, IMAGE_ID_PARAMETER } from "./answers.ts";
import { refusals } from "./errors.ts";
import { EXAMPLES } from "./examples.ts";
import { IDEMPOTENCY_KEY_PARAMETER, PREFER_PARAMETER } from "./headers.ts";

export function remakeImage(presets: readonly string[]): object {
  return {
    tags: ["Images"],
    summary: "Make an image again",
    description:
      "Makes a new image of what an earlier one was made of, finished or failed, with what is sent otherwise: another photo, theme, size or preset. `player` and `style` are changed field by field; `branding`, `fields`, `metadata` and `publish_at` take the place of the earlier ones as a whole. The photo is fetched again, and the new image costs its own credit; the earlier one stays as it is. It is otherwise answered as a create is.",
    parameters: [IMAGE_ID_PARAMETER, IDEMPOTENCY_KEY_PARAMETER, PREFER_PARAMETER],
    requestBody: {
      required: true,
      description: "The fields to change; `{}` makes the same again.",
      content: {
        "application/json": {
          schema: remakeSchema(presets),
          examples: {
            style: {
              summary: "With another background",
              value: { style: { background_theme: "ice" } },
            },
            photo: {
              summary: "With another photo",
              value: { player: { source_image_url: "https://images.example.com/players/10442-new.jpg" } },
            },
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
        "Accepted; or the stored answer of an earlier request with the same key and outcome, byte for byte.",
        AcceptedImageResponse,
        { accepted: { summary: "Accepted", value: EXAMPLES.accepted } },
        "Location",
        "Idempotent-Replayed",
      ),
      ...refusals(
        ...ALWAYS,
        "INVALID_REQUEST",
        "INSUFFICIENT_CREDITS",
        "IMAGE_NOT_FOUND",
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
