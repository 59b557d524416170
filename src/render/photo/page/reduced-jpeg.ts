import type { Size } from "./rects.ts";

/**
 * A JPEG at half or a quarter of its size, as its blocks of 8 x 8 pixels give it at once and upright; null
 * where that fails: decoding all of it then tells whether the file is broken.
 * @param size of the whole; the sides may be swapped
 */
export async function reducedJpeg(
  blob: Blob,
  { width, height }: Size,
  times: 2 | 4,
): Promise<ImageBitmap | null> {
  if (!("ImageDecoder" in globalThis)) return null;
  const [desiredWidth, desiredHeight] = [Math.ceil(width / times), Math.ceil(height / times)];
  const decoder = new ImageDecoder({ data: blob.stream(), type: "image/jpeg", desiredWidth, desiredHeight });
  try {
    const { image } = await decoder.decode();
    const reduced = await createImageBitmap(image, { imageOrientation: "from-image" });
    image.close();
    if (Math.max(reduced.width, reduced.height) === Math.max(desiredWidth, desiredHeight)) return reduced;
    reduced.close();
    return null;
  } catch {
    return null;
  } finally {
    decoder.close();
  }
}
