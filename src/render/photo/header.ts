import { MAX_SOURCE_PIXELS } from "../../core/limits.ts";
import type { Header } from "./page/decode.ts";

const PHOTO_FORMATS = new Set(["jpeg", "png", "webp"]);

/**
 * What the header says of the photo, null if it is none; damage further on shows when the photo is decoded.
 */
export async function readHeader(path: string): Promise<Header | null> {
  try {
    const { format, width, height } = await new Bun.Image(path, { maxPixels: MAX_SOURCE_PIXELS }).metadata();
    const isPhoto = PHOTO_FORMATS.has(format) && width * height <= MAX_SOURCE_PIXELS;
    return isPhoto ? { format, width, height } : null;
  } catch {
    return null;
  }
}
