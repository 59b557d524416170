import type { Framing } from "../../../core/card.ts";
import type { Bytes } from "./pixels.ts";
import type { Rect, Size } from "./rects.ts";
import { reducedJpeg } from "./reduced-jpeg.ts";

/**
 * Photos with more pixels are reduced to this many, 67 MB: enough for a 2,048 px player who fills half of it.
 * Those of most cameras have less, and reducing them would take longer than decoding them.
 */
const MAX_DECODED_PIXELS = 4096 * 4096;

/**
 * JPEGs of at least this longer side, in pixels, are decoded at half their size first, in half the time: a
 * player who fills such a photo is still within 5% of the largest size of a cutout.
 */
const MIN_HALVED_PX = 3900;

/** Longer side of the picture in which people are looked for; the networks see at most 256 px of it. */
const MAX_SEARCH_PX = 1024;

/** A cutout has at least this part of its pixels transparent: a photo may just have rounded corners. */
const MIN_TRANSPARENT_PART = 0.05;

/** Put behind transparent photos for the networks: neither light nor dark outlines disappear against it. */
export const BACKDROP = "#808080";

/** Clockwise quarter turns. */
export type Quarters = 0 | 1 | 2 | 3;

export interface Photo {
  /** The upright photo in sRGB, or half of it. What decoded it closes it. */
  bitmap: ImageBitmap;
  /** Decodes it at full size, if `bitmap` is half of it. */
  whole: (() => Promise<ImageBitmap>) | null;
  /** An opaque, reduced copy in which people are looked for. */
  search: OffscreenCanvas;
  /** Search pixels per pixel of the photo at full size, at most 1. */
  scale: number;
  /** At full size, as `height` is. */
  width: number;
  height: number;
  /** How often it was turned to be upright. */
  quarters: Quarters;
  /** Whether parts of it are transparent because the player was already cut out. */
  transparent: boolean;
}

/** The part of the photo that holds the player, at the cutout's resolution. */
export interface PhotoPart {
  canvas: OffscreenCanvas;
  /** Its place in the photo, in search pixels. */
  rect: Rect;
  /** Canvas pixels per search pixel. */
  zoom: number;
  /** The sides on which the rectangle ends at the photo's edge. */
  atPhotoEdge: Framing["cutSides"];
  /** The pixels with the photo's own transparency, if the player was already cut out. */
  ownPixels: Bytes | null;
  /** The whole photo's, in search pixels. */
  photoSize: Size;
}

/** What the file's header says. Its sides are swapped if the photo lies on its side in the file. */
export interface Header extends Size {
  format: string;
}

/**
 * Decodes a JPEG, PNG or WebP, recognised by its content, applies its EXIF orientation and converts it to
 * sRGB. A large JPEG is decoded at half its size: see `makeSharp`. Throws a DOMException if the bytes are
 * broken or end early.
 */
export async function decodePhoto(blob: Blob, header: Header): Promise<Photo> {
  const whole = async () => bounded(await createImageBitmap(blob, { imageOrientation: "from-image" }));
  const half = await halfOf(blob, header);
  const opaque = header.format === "jpeg";
  if (!half) {
    const bitmap = await whole();
    return photoOf(bitmap, { width: bitmap.width, height: bitmap.height, whole: null, opaque });
  }
  const sides = Math.max(header.width, header.height) / Math.max(half.width, half.height);
  const times = sides * Math.min(1, boundOf(header));
  return photoOf(half, { width: half.width * times, height: half.height * times, whole, opaque });
}

/**
 * Decodes the photo at full size if it is at half, unless the longer side of a rectangle already has this
 * many pixels.
 * @param photo its bitmap is replaced
 * @param rect in search pixels
 */
export async function makeSharp(photo: Photo, rect: Rect, enoughPx: number): Promise<void> {
  if (!photo.whole || Math.max(rect.width, rect.height) * pixelsPerSearchPx(photo) >= enoughPx) return;
  const bitmap = await photo.whole();
  photo.bitmap.close();
  photo.bitmap = bitmap;
  photo.whole = null;
}

/** Pixels of the bitmap per search pixel. */
export function pixelsPerSearchPx({ bitmap, width, scale }: Photo): number {
  return bitmap.width / width / scale;
}

/** Returns the photo with its pixels rotated, and closes the given photo's bitmap. */
export function turnPhoto(photo: Photo, quarters: Quarters): Photo {
  const { bitmap, whole, width, height, transparent, quarters: before } = photo;
  const sides = quarters % 2 === 0 ? { width, height } : { width: height, height: width };
  const turnWhole = whole && (async () => turned(await whole(), quarters));
  const upright = photoOf(turned(bitmap, quarters), { ...sides, whole: turnWhole, opaque: !transparent });
  return { ...upright, quarters: ((before + quarters) % 4) as Quarters };
}

/** @param bitmap closed */
function turned(bitmap: ImageBitmap, quarters: Quarters): ImageBitmap {
  const { width, height } = bitmap;
  const canvas = quarters % 2 === 0 ? canvasOf(width, height) : canvasOf(height, width);
  const context = contextOf(canvas);
  context.translate(canvas.width / 2, canvas.height / 2);
  context.rotate((quarters * Math.PI) / 2);
  context.drawImage(bitmap, -width / 2, -height / 2);
  bitmap.close();
  return canvas.transferToImageBitmap();
}

/** A large JPEG at half its size; null for other photos. */
async function halfOf(blob: Blob, { format, ...size }: Header): Promise<ImageBitmap | null> {
  const isLarge = format === "jpeg" && Math.max(size.width, size.height) >= MIN_HALVED_PX;
  return isLarge ? reducedJpeg(blob, size, 2) : null;
}

/** @param opaque whether the photo is known to have no transparency */
function photoOf(
  bitmap: ImageBitmap,
  { width, height, whole, opaque }: Pick<Photo, "width" | "height" | "whole"> & { opaque: boolean },
): Photo {
  const scale = Math.min(1, MAX_SEARCH_PX / Math.max(width, height));
  const search = canvasOf(Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale)));
  const context = contextOf(search);
  context.imageSmoothingQuality = "high";
  context.drawImage(bitmap, 0, 0, search.width, search.height);
  const transparent = !opaque && hasTransparency(search);
  context.globalCompositeOperation = "destination-over";
  context.fillStyle = BACKDROP;
  context.fillRect(0, 0, search.width, search.height);
  return { bitmap, whole, search, scale, width, height, transparent, quarters: 0 };
}

function hasTransparency(canvas: OffscreenCanvas): boolean {
  const { data } = contextOf(canvas).getImageData(0, 0, canvas.width, canvas.height);
  let clear = 0;
  for (let i = 3; i < data.length; i += 4) if (Number(data[i]) < 16) clear++;
  return clear >= (MIN_TRANSPARENT_PART * data.length) / 4;
}

/** The factor by which a photo's sides are reduced; 1 and more for one that stays as it is. */
function boundOf({ width, height }: Size): number {
  return Math.sqrt(MAX_DECODED_PIXELS / (width * height));
}

async function bounded(bitmap: ImageBitmap): Promise<ImageBitmap> {
  const scale = boundOf(bitmap);
  if (scale >= 1) return bitmap;
  const smaller = await createImageBitmap(bitmap, {
    resizeWidth: Math.max(1, Math.floor(bitmap.width * scale)),
    resizeHeight: Math.max(1, Math.floor(bitmap.height * scale)),
    resizeQuality: "high",
  });
  bitmap.close();
  return smaller;
}

/** A canvas in main memory rather than on a graphics card, because its pixels are read back right away. */
export function canvasOf(width: number, height: number): OffscreenCanvas {
  const canvas = new OffscreenCanvas(width, height);
  contextOf(canvas);
  return canvas;
}

/** The pixels of a picture, or of a part of it, at another size. */
export function pixelsAt(
  picture: OffscreenCanvas,
  width: number,
  height: number,
  part: Rect = { x: 0, y: 0, width: picture.width, height: picture.height },
): Bytes {
  const context = contextOf(canvasOf(width, height));
  context.imageSmoothingQuality = "high";
  context.drawImage(picture, part.x, part.y, part.width, part.height, 0, 0, width, height);
  return context.getImageData(0, 0, width, height).data;
}

export function contextOf(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (!context) throw new Error("This browser gives no 2D canvas.");
  return context;
}
