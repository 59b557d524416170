import type { ErrorDetail } from "./errors.ts";
import { type CreateImageRequest, DEFAULT_HEIGHT_PX, DEFAULT_WIDTH_PX } from "./image-request.ts";

// A card's layers: pictures with transparency that give the card when they are laid over each other, for
// pages that move them against each other.

/** What a template may mark as a layer, the rearmost first. */
export const LAYERS = ["back", "scene", "player", "frame", "text"] as const;
export type LayerName = (typeof LAYERS)[number];

/** What is kept of a card with layers, by the names of their addresses. */
export const LAYER_PICTURES = [...LAYERS, "foil"] as const;
export type LayerPicture = (typeof LAYER_PICTURES)[number];

/** The most that a card's layers and its foil mask take together, beside the picture itself. */
export const MAX_LAYERS_BYTES = 2_000_000;

/** The pixels of the largest card with layers: a story for a phone's screen. */
const MAX_LAYERED_PIXELS = 1080 * 1920;

/**
 * What keeps a card from having layers.
 * @param marked those that the card's template marks
 */
export function checkLayers(
  {
    layers,
    preset,
    format = "png",
    width = DEFAULT_WIDTH_PX,
    height = DEFAULT_HEIGHT_PX,
  }: CreateImageRequest["style"],
  marked: ReadonlySet<LayerName>,
): ErrorDetail[] {
  if (!layers) return [];
  const details: string[] = [];
  if (marked.size === 0)
    details.push(
      `is true, and the preset ${preset} marks no layers. Leave it out, or choose a preset that GET /v1/presets lists with \`layers\`.`,
    );
  if (format !== "webp")
    details.push(
      `is true, and only pictures of the format webp keep layers, not ${format}. Send webp as style.format, or leave layers out.`,
    );
  if (width * height > MAX_LAYERED_PIXELS)
    details.push(
      `is true, and ${width}x${height} is larger than layers may be. Send a size of at most ${MAX_LAYERED_PIXELS} pixels in all, such as 1024x1280 or 1080x1920, or leave layers out.`,
    );
  return details.map((message) => ({ field: "style.layers", message }));
}

/** Where the layers of a card are, the rearmost first, and its foil mask. */
export interface LayerAddresses {
  layers: string[];
  foilMask: string;
}

/** The addresses of a finished card's layers, by that of its picture; null where it was made without. */
export function layerAddresses(
  { layers }: Pick<CreateImageRequest["style"], "layers">,
  pictureAddress: string,
): LayerAddresses | null {
  if (!layers) return null;
  const of = (name: LayerPicture) => `${pictureAddress}?layer=${name}`;
  return { layers: LAYERS.map(of), foilMask: of("foil") };
}
