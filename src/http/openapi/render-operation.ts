import { createImageSchema } from "../../core/image-request.ts";
import { PICTURE_CONTENT_TYPES } from "../../core/picture-formats.ts";
import { PICTURE_WIDTHS } from "../../core/picture-limits.ts";
import { CARD_PARAMETERS, SIDES } from "../render-parameters.ts";
import { ROUTES } from "../route-table.ts";
import { headerRefs, refusals, STANDARD_HEADERS } from "./errors.ts";

/** Who signed an address, until when it is good, and the signature. */
const SIGNED_BY = [
  {
    name: "key",
    in: "query",
    required: true,
    description: "Id of the key that signed.",
    schema: { type: "string" },
    example: "key_7Wc2Lk9VbTnX3TqZ8rXm5dYE",
  },
  {
    name: "exp",
    in: "query",
    required: true,
    description: "Unix time in seconds at which the address expires, at most 366 days ahead.",
    schema: { type: "integer", minimum: 0 },
    example: 1798761600,
  },
  {
    name: "sig",
    in: "query",
    required: true,
    description:
      "HMAC-SHA256, in lower-case hex, of the path and all other parameters, percent-encoded and sorted by name.",
    schema: { type: "string", pattern: "^[0-9a-f]{64}$" },
    example: "9f2c".repeat(16),
  },
];

/** Cards by signed addresses: without a key in the header, and with a picture whatever happens. */
export function renderOperation(presets: readonly string[]): Record<string, object> {
  const binary = { schema: { type: "string", contentMediaType: "application/octet-stream" } };
  const content = Object.fromEntries(PICTURE_CONTENT_TYPES.map((type) => [type, binary]));
  const headers = { ...STANDARD_HEADERS, ...headerRefs("ETag", "Cache-Control") };
  const text = { schema: { type: "string" } };
  return {
    [ROUTES.renderCard.path]: {
      get: {
        operationId: "renderCard",
        tags: ["Images"],
        summary: "Get a card by a signed address",
        description:
          "The picture of the card that the address describes: made at the first call, charged once, found by its content afterwards. Anybody may call an address that is signed with a key's signing secret. Refusals come with a placeholder picture, or as JSON for requests with `Accept: application/json`.",
        security: [],
        parameters: [
          {
            name: "preset",
            in: "path",
            required: true,
            description: "The card template.",
            ...text,
            example: presets[0],
          },
          ...SIGNED_BY,
          ...cardParameters(presets),
          {
            name: "side",
            in: "query",
            description:
              "The side that the address gives of a card with both, which are made together for one credit. Without it the card has its front alone.",
            schema: { type: "string", enum: SIDES },
          },
          {
            name: "w",
            in: "query",
            description: "A smaller width in pixels, below the picture's own; the height follows.",
            schema: { type: "integer", enum: PICTURE_WIDTHS },
          },
        ],
        responses: {
          "200": { description: "The picture.", headers, content },
          "206": { description: "The part that `Range` asked for.", headers, content },
          "304": { description: "The picture you have is still right.", headers },
          "416": { description: "`Range` asked for a part beyond the picture's end.", headers },
          ...refusals(
            "INVALID_REQUEST",
            "INSUFFICIENT_CREDITS",
            "PARTNER_SUSPENDED",
            "KEY_NOT_ALLOWED",
            "NOT_FOUND",
            "METHOD_NOT_ALLOWED",
            "PICTURE_GONE",
            "UNSUPPORTED_IMAGE_SOURCE",
            "RATE_LIMIT_EXCEEDED",
            "INTERNAL_ERROR",
            "SERVICE_OVERLOADED",
          ),
        },
      },
    },
  };
}

/** The fields of a create that an address may carry, by their names there. */
function cardParameters(presets: readonly string[]): object[] {
  const groups: Record<string, { properties: Record<string, Record<string, unknown>>; required?: string[] }> =
    createImageSchema(presets).properties as never;
  return [...CARD_PARAMETERS].map(([name, { place }]) => {
    const [group = "", field = ""] = place.split(".");
    const given = groups[group]?.properties[field] ?? {};
    const { description, default: _, examples, ...schema } = given;
    return {
      name,
      in: "query",
      ...(groups[group]?.required?.includes(field) && group === "player" ? { required: true } : {}),
      description,
      schema,
      ...(Array.isArray(examples) ? { example: examples[0] } : {}),
    };
  });
}
