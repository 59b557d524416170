import { Type } from "@sinclair/typebox";
import { StringEnum } from "../core/string-enum.ts";
import { successEnvelope } from "./schemas.ts";

const closed = { additionalProperties: false } as const;

const Photo = Type.Object(
  {
    photo_id: Type.String({
      pattern: "^pho_[0-9A-Za-z]+$",
      description: "The upload's identifier.",
      examples: ["pho_6TzXyB8kWc3Hs5mJd0nV7rQe"],
    }),
    url: Type.String({
      format: "uri",
      description: "Send it as `player.source_image_url` or `branding.club_badge_url`.",
      examples: ["https://cards.example.org/v1/photos/pho_6TzXyB8kWc3Hs5mJd0nV7rQe"],
    }),
    content_type: StringEnum(["image/jpeg", "image/png", "image/webp"], { description: "By its content." }),
    width: Type.Integer({ minimum: 1, description: "Pixels, as it is shown.", examples: [1600] }),
    height: Type.Integer({ minimum: 1, description: "Pixels, as it is shown.", examples: [2000] }),
    bytes: Type.Integer({ minimum: 1, description: "Size of the file.", examples: [1482330] }),
    created_at: Type.String({
      format: "date-time",
      description: "When it was sent.",
      examples: ["2026-11-21T10:00:00.000Z"],
    }),
    expires_at: Type.String({
      format: "date-time",
      description: "When it can no longer be named.",
      examples: ["2026-11-28T10:00:00.000Z"],
    }),
  },
  { ...closed, $id: "Photo", description: "A photo or badge that was sent." },
);

export const PhotoResponse = successEnvelope(Photo, "PhotoResponse");
