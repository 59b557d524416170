import { readFile } from "node:fs/promises";
import PQueue from "p-queue";
import type { StillFormat } from "../../core/card.ts";
import { withMetadata } from "../card/formats/metadata.ts";
import { PLACEHOLDERS } from "./all.ts";
import type { Placeholder } from "./placeholder-files.ts";

export interface PlaceholderPicture {
  bytes: Uint8Array;
  contentType: string;
}

const QUALITY = { jpeg: 85, webp: 78 };
/** Scaling takes some 100 ms of a core and threads of the pool, so it runs one picture at a time. */
const scaling = new PQueue({ concurrency: 1 });
/** Above level 1, PNG takes half as long again and saves only a tenth of the bytes. */
const PNG_LEVEL = 1;

/**
 * The picture that test keys get for the built-in card: a silhouette with "TEST" across it, `width` x
 * `height` pixels (512 to 2048 each). Needs no browser: the nearest of the committed shapes is scaled,
 * distorted by at most 5 %.
 */
export async function placeholder(
  width: number,
  height: number,
  format: StillFormat,
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

/** The same as a file that all images of this size and format share. */
export function scaledPlaceholder(width: number, height: number, format: StillFormat): Placeholder {
  return {
    name: `${width}x${height}.${format}`,
    contentType: `image/${format}`,
    draw: async () => (await scaling.add(() => placeholder(width, height, format))).bytes,
  };
}
