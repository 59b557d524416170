import { readFile } from "node:fs/promises";
import PQueue from "p-queue";
import type { Blobs } from "../../blobs/blobs.ts";
import { overloaded } from "../../core/partner-refusals.ts";
import { isVideoType, PDF, PICTURE_FORMATS } from "../../core/picture-formats.ts";
import {
  MAX_SHRINKS_WAITING,
  SHRINKS_AT_ONCE,
  SMALLER_PICTURES_BYTES,
  SMALLER_PICTURES_KEPT_MS,
} from "../../core/picture-limits.ts";
import { readStill } from "../../render/card/formats/film-still.ts";
import { sideOfPdf } from "../print/card-pdf.ts";

/**
 * Finished pictures in smaller sizes, each made once and kept in memory for a while: caches in front keep
 * them for good.
 */
export interface SmallerPictures {
  /**
   * The picture at this width, in its own format, of one that moves its still, or the front of a PDF as JPEG;
   * null when it is not there. Throws SERVICE_OVERLOADED when too many are to be made.
   */
  give(name: string, contentType: string, width: number): Promise<Blob | null>;
  /** Drops what is kept of a picture that is deleted. */
  drop(name: string): void;
}

const RETRY_SECONDS = 2;

export function smallerPictures(blobs: Pick<Blobs, "local" | "stat">): SmallerPictures {
  /** The least recently used come first. */
  const kept = new Map<string, { bytes: Blob; timer: NodeJS.Timeout }>();
  const inFlight = new Map<string, Promise<Blob | null>>();
  const queue = new PQueue({ concurrency: SHRINKS_AT_ONCE });
  let keptBytes = 0;
  /** Changes when a picture is deleted, so that one that is being shrunk then is not kept. */
  let deletions = 0;

  const remove = (key: string) => {
    const one = kept.get(key);
    if (!one) return;
    clearTimeout(one.timer);
    kept.delete(key);
    keptBytes -= one.bytes.size;
  };
  const keep = (key: string, bytes: Blob) => {
    const timer = setTimeout(remove, SMALLER_PICTURES_KEPT_MS, key);
    // A picture that is kept keeps no process alive.
    timer.unref();
    kept.set(key, { bytes, timer });
    keptBytes += bytes.size;
    for (const oldest of kept.keys()) {
      if (keptBytes <= SMALLER_PICTURES_BYTES) break;
      remove(oldest);
    }
  };
  const make = async (key: string, name: string, contentType: string, width: number) => {
    const before = deletions;
    const bytes = await queue.add(async () => {
      if ((await blobs.stat("picture", name)) === null) return null;
      const picture = await decodable(await blobs.local("picture", name), contentType);
      return shrunk(picture, smallerType(contentType), width);
    });
    if (bytes && deletions === before) keep(key, bytes);
    return bytes ?? null;
  };

  return {
    give: (name, contentType, width) => {
      const key = `${name} ${width}`;
      const known = kept.get(key);
      if (known) {
        kept.delete(key);
        kept.set(key, known);
        return Promise.resolve(known.bytes);
      }
      const current = inFlight.get(key);
      if (current) return current;
      if (queue.size >= MAX_SHRINKS_WAITING) return Promise.reject(overloaded(RETRY_SECONDS));
      const making = make(key, name, contentType, width).finally(() => inFlight.delete(key));
      inFlight.set(key, making);
      return making;
    },
    drop: (name) => {
      deletions += 1;
      for (const key of [...kept.keys()]) if (key.startsWith(`${name} `)) remove(key);
    },
  };
}

/** The content type of smaller pictures of a file of this one. */
export const smallerType = (contentType: string): string =>
  contentType === PDF
    ? PICTURE_FORMATS.jpeg.contentType
    : isVideoType(contentType)
      ? PICTURE_FORMATS.webp.contentType
      : contentType;

/**
 * What shows a finished picture in a decoder's terms: its file, of one that moves its still, of a PDF the
 * front.
 */
export async function decodable(path: string, contentType: string | null): Promise<string | Uint8Array> {
  if (isVideoType(contentType) || contentType === PICTURE_FORMATS.webp.contentType) return readStill(path);
  if (contentType !== PDF) return path;
  const front = sideOfPdf(await readFile(path), "front");
  if (!front) throw new Error(`${path} holds no card`);
  return front;
}

/** Off this thread. */
async function shrunk(picture: string | Uint8Array, contentType: string, width: number): Promise<Blob> {
  const image = new Bun.Image(picture).resize(width);
  if (contentType === "image/png") image.png();
  else if (contentType === "image/webp") image.webp({ quality: 85 });
  else image.jpeg({ quality: 85 });
  return image.blob();
}
