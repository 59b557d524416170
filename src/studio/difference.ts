import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

/** How two pictures of one size differ. */
export interface Difference {
  /** Part of the pixels that a person would see as changed, 0..1. */
  changed: number;
  /** A PNG: changed pixels red on a pale copy; null where nothing changed or the sizes are not the same. */
  picture: Uint8Array | null;
}

/** pixelmatch's measure of difference, of YIQ: smoothing of edges, which differs between machines, stays below it. */
const THRESHOLD = 0.1;
/** A golden picture counts as changed from this part of its pixels on: 20 of a picture of 512 x 640. */
export const CHANGED_FROM = 0.00006;

/** Compares two PNG, JPEG or WebP pictures by their pixels. */
export async function differenceOf(before: Uint8Array, after: Uint8Array): Promise<Difference> {
  if (Buffer.compare(before, after) === 0) return { changed: 0, picture: null };
  const [a, b] = await Promise.all([pixelsOf(before), pixelsOf(after)]);
  if (a.width !== b.width || a.height !== b.height) return { changed: 1, picture: null };
  const out = new PNG({ width: a.width, height: a.height });
  const count = pixelmatch(a.data, b.data, out.data, a.width, a.height, {
    threshold: THRESHOLD,
    alpha: 0.25,
    diffColor: [255, 64, 64],
    aaColor: [255, 190, 60],
  });
  const changed = count / (a.width * a.height);
  return { changed, picture: changed === 0 ? null : PNG.sync.write(out) };
}

async function pixelsOf(picture: Uint8Array): Promise<PNG> {
  const png = await new Bun.Image(picture).png({ compressionLevel: 0 }).bytes();
  return PNG.sync.read(Buffer.from(png));
}
