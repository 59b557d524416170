import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";
import type { SampleBody } from "./cases.ts";

/** How two pictures of one size differ. */
export interface Difference {
  /** Fraction of the pixels that a person would see as changed, 0..1. */
  changed: number;
  /** A PNG: changed pixels in red on a pale copy; null when nothing changed or the sizes differ. */
  picture: Uint8Array | null;
}

/**
 * pixelmatch's threshold, a YIQ difference: anti-aliasing, which differs between machines, stays below it.
 */
const THRESHOLD = 0.1;
/** From this fraction of changed pixels a picture is another one: 20 pixels at 512 x 640. */
export const CHANGED_FROM = 0.00006;
/**
 * The same between machines for a picture with a cutout: processors add up a network's values in different
 * orders, and their last digits decide on patches at the player's edge. A strip of a helmet was 0.0005.
 */
const CHANGED_FROM_WITH_CUTOUT = 0.001;

/**
 * From which fraction of changed pixels a sample's picture differs from its accepted one by more than two
 * machines' pictures do.
 * @param compositions what the template declares
 */
export function changedFrom(
  { body: { style }, side }: { body: SampleBody; side?: "back" | undefined },
  compositions: readonly string[],
): number {
  const asked = compositions.length === 1 ? compositions[0] : style?.composition;
  return asked === "cutout" && side !== "back" ? CHANGED_FROM_WITH_CUTOUT : CHANGED_FROM;
}

/** Compares two PNG, JPEG or WebP pictures by their pixels. */
export async function differenceOf(before: Uint8Array, after: Uint8Array): Promise<Difference> {
  if (Buffer.compare(before, after) === 0) return { changed: 0, picture: null };
  const [a, b] = await Promise.all([pixelsOf(before), pixelsOf(after)]);
  if (a.width !== b.width || a.height !== b.height) return { changed: 1, picture: null };
  const out = new PNG({ width: a.width, height: a.height });
  const count = pixelmatch(a.data, b.data, out.data, a.width, a.height, {
    threshold: THRESHOLD,
    alpha: 0.25,
    // On white: there transparent corners are as those of a picture that was captured on white.
    checkerboard: false,
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
