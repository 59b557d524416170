import { MOVING_FORMATS } from "./card.ts";
import type { ErrorDetail } from "./errors.ts";
import type { CreateImageRequest } from "./image-request.ts";
import { isMoving } from "./moving-pictures.ts";
import { formatsOf } from "./picture-formats.ts";
import { printSizeLabel, printSizeOf } from "./print-sizes.ts";

const NAMES = [MOVING_FORMATS.slice(0, -1).join(", "), MOVING_FORMATS.at(-1)].join(" or ");

/** What of a style goes with moving formats alone, and what does not go with them. */
export function checkMotion(
  style: CreateImageRequest["style"],
  service: { mp4Encoder: string | undefined },
): ErrorDetail[] {
  const { format = "png", motion, back, width = 0, height = 0 } = style;
  if (!isMoving(format)) {
    const message = `is for cards that move. Leave it out, or send ${NAMES} as style.format.`;
    return motion === undefined ? [] : [{ field: "style.motion", message }];
  }
  const details: ErrorDetail[] = [];
  if (!formatsOf(service).includes(format))
    details.push({
      field: "style.format",
      message: `is ${format}, which this service has no encoder for. Send webm, or ask the operator of the service to set CARDPRESS_MP4_ENCODER; GET /v1/presets lists as \`formats\` what it makes.`,
    });
  if (back)
    details.push({
      field: "style.back",
      message: `is true, and a card of the format ${format} shows its front alone. Leave it out, or make the card as png, webp or jpeg too.`,
    });
  const print = printSizeOf({ width, height });
  if (print)
    details.push({
      field: "style.format",
      message: `is ${format}, and ${width}x${height} is the size of a print with bleed (${printSizeLabel(print)}), which cannot move. Send png for print, or another size, such as 1024x1280.`,
    });
  return details;
}
