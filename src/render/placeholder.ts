import { readFile } from "node:fs/promises";
import type { ImageFormat } from "../core/card.ts";
import { withMetadata } from "./metadata.ts";
import { PLACEHOLDERS } from "./placeholders/all.ts";

export interface PlaceholderPicture {
  bytes: Uint8Array;
  contentType: string;
}

/** Test suites ask for the same few sizes again and again; this many of the latest stay in memory. */
const MAX_KEPT = 24;
const QUALITY = { jpeg: 85, webp: 78 };
/** Above level 1, PNG takes half as long again for a tenth fewer bytes. */
const PNG_LEVEL = 1;

const kept = new Map<string, Promise<PlaceholderPicture>>();

/**
 * The picture that test keys get: a silhouette's card with "TEST" across it, `width` x `height` pixels (512 to 2048
 * each). Needs no browser: the nearest of the committed shapes is scaled, by at most 5 % more in one direction.
 */
export function placeholder(width: number, height: number, format: ImageFormat): Promise<PlaceholderPicture> {
  const key = `${width}x${height}.${format}`;
  const known = kept.get(key);
  if (known) return known;
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest) kept.delete(oldest);
  const made = draw(width, height, format);
  kept.set(key, made);
  made.catch(() => kept.delete(key));
  return made;
}

async function draw(width: number, height: number, format: ImageFormat): Promise<PlaceholderPicture> {
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
