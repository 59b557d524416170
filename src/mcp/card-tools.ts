import { randomUUID } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { API_PATHS, fillPath } from "../core/api-paths.ts";
import { createImageSchema } from "../core/image-request.ts";
import { MAX_PREFERRED_WAIT_S, PICTURE_WIDTHS } from "../core/picture-limits.ts";
import { USAGE_PERIODS } from "../core/time.ts";
import { type CallApi, type Data, dataOf, text } from "./call.ts";
import { CREATES, defineTool, failed, imageIdArgument, READS, strict, type Tool } from "./tool.ts";

const { player, style, branding, fields, set, metadata } = createImageSchema(["any"]).properties;

/** Which presets there are, only the service knows. */
const anyStyle = Type.Object(
  { ...style.properties, preset: Type.String({ description: "A name that list_presets gives." }) },
  strict,
);

const waitSeconds = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: MAX_PREFERRED_WAIT_S,
    default: MAX_PREFERRED_WAIT_S,
    description: "Seconds to wait for it to be ready.",
  }),
);

export const idempotencyKeyArgument = Type.Optional(
  Type.String({
    description:
      "Text of your own for this one order, such as a UUID. The same key again gives the same card or batch, and charges nothing more.",
  }),
);

const LATER = "It is not ready yet: call wait_for_card with its image_id.";
const BIG_PICTURE = PICTURE_WIDTHS.at(-1) ?? 1024;

/** The tools around one card. */
export const cardTools = (call: CallApi): Tool[] => [
  listPresets(call),
  listSets(call),
  makeCard(call),
  waitForCard(call),
  lookAtCard(call),
  getUsage(call),
];

const imageOf = async (call: CallApi, id: string, headers: Record<string, string> = {}): Promise<Data> =>
  dataOf(await call(fillPath(API_PATHS.image, { image_id: id }), { headers }));

const listPresets = (call: CallApi) =>
  defineTool({
    name: "list_presets",
    title: "List presets",
    description:
      "The card templates there are, with their sizes, compositions and the JSON Schema of their own fields.",
    inputSchema: Type.Object({}, strict),
    annotations: READS,
    run: async () => text(await dataOf(await call(API_PATHS.presets))),
  });

const listSets = (call: CallApi) =>
  defineTool({
    name: "list_sets",
    title: "List sets",
    description:
      "The sets of cards, newest first, with their parallels: what make_card takes as set. With set_id, one of them with its players and how many cards there are of each.",
    inputSchema: Type.Object(
      {
        set_id: Type.Optional(Type.String({ description: "A set's id, for its checklist." })),
        after: Type.Optional(Type.String({ description: "next_cursor of the page before, for older sets." })),
      },
      strict,
    ),
    annotations: READS,
    run: async ({ set_id, after }) => {
      const page = after === undefined ? "" : `?${new URLSearchParams({ after })}`;
      const path =
        set_id === undefined ? API_PATHS.sets + page : fillPath(API_PATHS.setChecklist, { set_id });
      return text(await dataOf(await call(path)));
    },
  });

const makeCard = (call: CallApi) =>
  defineTool({
    name: "make_card",
    title: "Make a card",
    description:
      "Makes a football player's card from a photo's public HTTPS address and a few details, and waits for it. A finished card costs one credit, a failed one nothing; with a test key nothing is charged and the picture is a placeholder.",
    inputSchema: Type.Object(
      {
        player,
        style: anyStyle,
        branding,
        fields,
        set,
        metadata,
        wait_seconds: waitSeconds,
        idempotency_key: idempotencyKeyArgument,
      },
      strict,
    ),
    annotations: CREATES,
    checkedByApi: true,
    run: async ({ wait_seconds = MAX_PREFERRED_WAIT_S, idempotency_key = randomUUID(), ...card }) => {
      const response = await call(API_PATHS.images, {
        method: "POST",
        body: { type: "player_card", ...card },
        headers: { "Idempotency-Key": String(idempotency_key), Prefer: `wait=${wait_seconds}` },
      });
      const image = await dataOf(response);
      return image.status === "processing" ? text(image, LATER) : text(image);
    },
  });

const waitForCard = (call: CallApi) =>
  defineTool({
    name: "wait_for_card",
    title: "Wait for a card",
    description: "Waits until a card is completed or failed, and gives its state.",
    inputSchema: Type.Object({ image_id: imageIdArgument, wait_seconds: waitSeconds }, strict),
    annotations: READS,
    run: async ({ image_id, wait_seconds = MAX_PREFERRED_WAIT_S }) => {
      const image = await imageOf(call, image_id, { Prefer: `wait=${wait_seconds}` });
      return image.status === "processing" ? text(image, LATER) : text(image);
    },
  });

const lookAtCard = (call: CallApi) =>
  defineTool({
    name: "look_at_card",
    title: "Look at a card",
    description: "The picture of a finished card, to look at.",
    inputSchema: Type.Object(
      {
        image_id: imageIdArgument,
        width: Type.Optional(
          Type.Integer({
            minimum: PICTURE_WIDTHS[0],
            maximum: BIG_PICTURE,
            default: 512,
            description: `Width in pixels: ${PICTURE_WIDTHS.join(", ")}.`,
          }),
        ),
      },
      strict,
    ),
    annotations: READS,
    run: async ({ image_id, width = 512 }) => {
      const image = await imageOf(call, image_id);
      if (image.status === "failed") return failed(`There is no picture: ${image.failure.message}`);
      if (image.status === "processing") return failed(LATER);
      return picture(call, image.result, width);
    },
  });

const getUsage = (call: CallApi) =>
  defineTool({
    name: "get_usage",
    title: "Get usage",
    description: "Images made and credits used in a month, and the credits left now.",
    inputSchema: Type.Object(
      {
        period: Type.Optional(
          Type.Unsafe<(typeof USAGE_PERIODS)[number]>(
            Type.String({
              enum: [...USAGE_PERIODS],
              default: USAGE_PERIODS[0],
              description: "Which period, in UTC.",
            }),
          ),
        ),
      },
      strict,
    ),
    annotations: READS,
    run: async ({ period = USAGE_PERIODS[0] }) =>
      text(await dataOf(await call(`${API_PATHS.usage}?period=${period}`))),
  });

/**
 * From the service itself, whatever serves its pictures to others, and no wider than asked for: a model pays
 * for pixels.
 */
async function picture(call: CallApi, result: Data, asked: number) {
  const name = new URL(result.image_url).pathname.split("/").at(-1) ?? "";
  const width = PICTURE_WIDTHS.findLast((known) => known <= Math.min(asked, result.width));
  const response = await call(`/cdn/${name}?w=${width}`);
  if (!response.ok) await dataOf(response);
  return {
    content: [
      {
        type: "image" as const,
        data: (await response.bytes()).toBase64(),
        mimeType: response.headers.get("content-type") ?? result.content_type,
      },
    ],
  };
}
