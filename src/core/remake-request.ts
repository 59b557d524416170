import { type Static, Type } from "@sinclair/typebox";
import { takesFoil } from "./foil.ts";
import { type CreateImageRequest, createImageSchema } from "./image-request.ts";
import { MAX_BATCH_CARDS } from "./limits.ts";
import { isMoving } from "./moving-pictures.ts";
import { changedPublication } from "./publication.ts";

/**
 * The fields to change when an image is made again. Nothing has a default: what is left out stays as it
 * was. The player stays the same one.
 */
export function remakeSchema(presets: readonly string[]) {
  return Type.Object(remakeFields(presets), {
    additionalProperties: false,
    $id: "RemakeImageRequest",
    description: "The fields to change; anything left out stays as it was.",
  });
}

/** The same for cards of a batch, which are named by their players, or by how they ended. */
export function remakeBatchSchema(presets: readonly string[]) {
  const strict = { additionalProperties: false };
  const { external_id } = createImageSchema(presets).properties.player.properties;
  const card = Type.Object({ external_id, ...remakeFields(presets) }, strict);
  return Type.Object(
    {
      cards: Type.Optional(
        Type.Array(card, {
          maxItems: MAX_BATCH_CARDS,
          description:
            "Players of the batch, each with the fields to change, as in a remake of one image: all of the player's cards in the batch are changed.",
        }),
      ),
      failed: Type.Optional(
        Type.Boolean({
          description: "Also all cards that failed, as they were asked for.",
          examples: [true],
        }),
      ),
      canceled: Type.Optional(
        Type.Boolean({ description: "Also all cards that were canceled.", examples: [false] }),
      ),
    },
    { ...strict, $id: "RemakeBatchRequest", description: "Which cards of a batch are to be made again." },
  );
}

function remakeFields(presets: readonly string[]) {
  const strict = { additionalProperties: false };
  const { player, style, branding, fields, metadata } = createImageSchema(presets).properties;
  const { external_id, ...own } = player.properties;
  const { width, height, format, motion, composition, layers, foil, back, ...look } = style.properties;
  const free = {
    width: Type.Optional({ ...width, default: undefined }),
    height: Type.Optional({ ...height, default: undefined }),
    format: Type.Optional({ ...format, default: undefined }),
    motion: Type.Optional({ ...motion, default: undefined }),
    composition: Type.Optional({ ...composition, default: undefined }),
    layers: Type.Optional({ ...layers, default: undefined }),
    foil: Type.Optional({ ...foil, default: undefined }),
    back: Type.Optional({ ...back, default: undefined }),
  };
  return {
    player: Type.Optional(Type.Partial(Type.Object(own, strict), strict)),
    style: Type.Optional(Type.Partial(Type.Object({ ...look, ...free }, strict), strict)),
    branding,
    fields,
    metadata,
    publish_at: Type.Optional(
      changedPublication(
        "publishes the new image when it is made. Left out, a time that is still to come holds for it, too.",
      ),
    ),
  };
}

export type RemakeImageRequest = Static<ReturnType<typeof remakeSchema>>;

/**
 * A request with some of it otherwise: player and style field by field, the rest as a whole. A photo that is
 * sent ends the focus, which was a place in the one before; a format that stands still ends the
 * motion, one without layers ends those, and one that is not for print ends its foil.
 */
export function changedRequest(before: CreateImageRequest, change: RemakeImageRequest): CreateImageRequest {
  const { focus, ...player } = before.player;
  const keepsPhoto = change.player?.source_image_url === undefined;
  const { motion, layers, foil, ...style } = before.style;
  const format = change.style?.format ?? style.format ?? "png";
  const keepsMotion = isMoving(format);
  const keepsLayers = format === "webp";
  const keepsFoil = takesFoil({ ...style, ...change.style });
  const { publish_at: publishAt = before.publish_at ?? null, ...changed } = change;
  const { publish_at: _, ...rest } = before;
  return {
    ...rest,
    ...changed,
    ...(publishAt !== null && { publish_at: publishAt }),
    player: { ...player, ...(focus && keepsPhoto && { focus }), ...change.player },
    style: {
      ...style,
      ...(motion && keepsMotion && { motion }),
      ...(layers !== undefined && keepsLayers && { layers }),
      ...(foil !== undefined && keepsFoil && { foil }),
      ...change.style,
    },
  };
}
