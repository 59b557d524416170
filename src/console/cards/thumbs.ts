import PQueue from "p-queue";
import { decodable } from "../../app/images/smaller-pictures.ts";
import { MAX_SOURCE_PIXELS } from "../../core/limits.ts";
import type { Image } from "../../store/images/images.ts";
import { notFound } from "../page-error.ts";
import { privateFile } from "../respond.ts";
import type { UserVisit } from "../visit.ts";

/** Shrinking a full card takes about 30 ms of a core: two at a time leave the rest to the renderers. */
const shrinking = new PQueue({ concurrency: 2 });
const THUMB_WIDTH_PX = 360;
/** Of a photo in a table's line, for sharp screens. */
const PHOTO_WIDTH_PX = 168;

/** A thumbnail of a fetched photo. Throws 404 when it is gone or unreadable. */
export async function photoThumb(
  visit: UserVisit,
  sha256: string,
  widthPx = PHOTO_WIDTH_PX,
): Promise<Response> {
  const path = await visit.deps.blobs.local("source", sha256);
  const bytes = await shrinking
    .add(() =>
      new Bun.Image(path, { maxPixels: MAX_SOURCE_PIXELS }).resize(widthPx).webp({ quality: 75 }).bytes(),
    )
    .catch(() => undefined);
  if (!bytes) throw notFound();
  return privateFile(visit.exchange, bytes, {
    "Content-Type": "image/webp",
    "Cache-Control": "private, max-age=3600",
  });
}

/** A thumbnail of a finished picture. Throws 404 when there is none. */
export async function thumbOf(visit: UserVisit, image: Image): Promise<Response> {
  if (image.outputName === null || image.purgedAt !== null) throw notFound();
  const path = await visit.deps.blobs.local("picture", image.outputName);
  const picture = await decodable(path, image.outputContentType);
  const bytes = await shrinking.add(() =>
    new Bun.Image(picture).resize(THUMB_WIDTH_PX).webp({ quality: 82 }).bytes(),
  );
  return privateFile(visit.exchange, bytes, {
    "Content-Type": "image/webp",
    // A finished picture never changes.
    "Cache-Control": "private, max-age=86400, immutable",
  });
}
