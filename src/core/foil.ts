import type { ErrorDetail } from "./errors.ts";
import { type CreateImageRequest, DEFAULT_HEIGHT_PX, DEFAULT_WIDTH_PX } from "./image-request.ts";
import { printSizeOf, printSizesInPixels } from "./print-sizes.ts";

type Style = CreateImageRequest["style"];

/** Whether a picture of this kind has room for a plate of foil, and is for print. */
export const takesFoil = ({
  format = "png",
  width = DEFAULT_WIDTH_PX,
  height = DEFAULT_HEIGHT_PX,
}: Pick<Style, "format" | "width" | "height">): boolean =>
  format === "png" && printSizeOf({ width, height }) !== undefined;

/**
 * What keeps a card from having a plate of foil.
 * @param isMarked whether its template says where foil goes
 */
export function checkFoil(style: Style, isMarked: boolean): ErrorDetail[] {
  if (!style.foil) return [];
  const details: string[] = [];
  if (!isMarked)
    details.push(
      `is true, and the preset ${style.preset} has no foil. Leave it out, or choose a preset that GET /v1/presets lists with \`foil\`.`,
    );
  if (!takesFoil(style))
    details.push(
      `is true, and only a PNG in a size for print keeps a plate of foil. Send png as style.format, and \`style.width\` and \`style.height\` of ${printSizesInPixels()}, or the other way round; or leave foil out.`,
    );
  return details.map((message) => ({ field: "style.foil", message }));
}
