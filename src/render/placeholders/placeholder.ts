import { readFile } from "node:fs/promises";
import type { ImageFormat } from "../../core/card.ts";
import { withMetadata } from "../card/metadata.ts";
import { PLACEHOLDERS } from "./all.ts";

export interface PlaceholderPicture {
  bytes: Uint8Array;
  contentType: string;
}

const QUALITY = { jpeg: 85, webp: 78 };
/** Above level 1, PNG takes half as long again for a tenth fewer bytes. */
const PNG_LEVEL = 1;

/**
 * The picture that test keys get: a silhouette's card with "TEST" across it, `width` x `height` pixels (512 to 2048
 * each). Needs no browser: the nearest of the committed shapes is scaled, by at most 5 % more in one direction.
 */
export async function placeholder(
  width: number,
  height: number,
  format: ImageFormat,
): Promise<PlaceholderPicture> {
  const stretch = (aspect: number) => Math.abs(Math.log(aspect / (width / height)));
  const nearest = PLACEHOLDERS.reduce((best, next) =>
    stretch(next.aspect) < stretch(best.aspect) ? next : best,
  );
  const source = await readFile(format === "jpeg" ? nearest.opaquePath : nearest.path);
  const image = new Bun.Image(source).resize(width, height);
  if (format === "png") image.png({ compressionLevel: PNG_LEVEL });
  else if (format === "webp") image.webp({ quality: QUALITY.webp });
  else image.jpeg({ quality: QUALITY.jpeg });
  return { bytes: withMetadata(await image.bytes(), format), contentType: `image/${format}` };
}
