import PQueue from "p-queue";
import type { BlobName, Blobs } from "../../blobs/blobs.ts";
import type { ImageFormat } from "../../core/card.ts";
import { MAX_SHARED_PLACEHOLDERS } from "../../core/limits.ts";
import { placeholder } from "./placeholder.ts";

export interface PlaceholderSize {
  width: number;
  height: number;
  format: ImageFormat;
}

export interface GivenPlaceholder {
  contentType: string;
  bytes: number;
  /** Of them, what takes room of its own because it was drawn anew or copied; 0 for a link. */
  drawnBytes: number;
}

/** One file for each size of test picture, however many images have it. */
export interface SharedPlaceholders {
  /** Gives the picture a name of its own: it opens to whom that is told, and goes when that is removed. */
  give(size: PlaceholderSize, name: string): Promise<GivenPlaceholder>;
}

/**
 * Keeps the pictures drawn last and links the images' names to them; whichever name goes last takes the file
 * with it, so neither an expired image nor the eviction here touches another's picture. Begins anew in each process,
 * since another release may draw them differently.
 */
export function sharedPlaceholders(blobs: Blobs): SharedPlaceholders {
  // Drawing takes a core for some 100 ms and the pool's threads: one picture at a time.
  const drawing = new PQueue({ concurrency: 1 });
  const drawn = new Map<string, Promise<number>>();
  let emptied: Promise<void> | undefined;

  const draw = async ({ width, height, format }: PlaceholderSize, at: BlobName) => {
    emptied ??= empty(blobs).catch((error) => {
      emptied = undefined;
      throw error;
    });
    await emptied;
    const { bytes } = await placeholder(width, height, format);
    await blobs.put(at.kind, at.name, bytes);
    return bytes.length;
  };
  const drawShared = (size: PlaceholderSize, shared: BlobName) => {
    const { name } = shared;
    drawn.delete(name);
    const [oldest] = drawn.keys();
    if (drawn.size >= MAX_SHARED_PLACEHOLDERS && oldest !== undefined) {
      drawn.delete(oldest);
      void blobs.remove("placeholder", oldest).catch(() => {});
    }
    const made = drawing.add(() => draw(size, shared));
    drawn.set(name, made);
    made.catch(() => drawn.get(name) === made && drawn.delete(name));
    return made;
  };

  return {
    give: async (size, name) => {
      const contentType = `image/${size.format}`;
      const own: BlobName = { kind: "picture", name };
      const shared: BlobName = {
        kind: "placeholder",
        name: `${size.width}x${size.height}.${size.format}`,
      };
      const known = drawn.get(shared.name);
      if (known) {
        const bytes = await known;
        const given = await blobs.copy(shared, own);
        if (given !== "absent") return { contentType, bytes, drawnBytes: given === "linked" ? 0 : bytes };
      }
      // Not drawn yet, gone, or linked as often as the store allows.
      const bytes = await drawShared(size, shared);
      if ((await blobs.copy(shared, own)) === "absent") await drawing.add(() => draw(size, own));
      return { contentType, bytes, drawnBytes: bytes };
    },
  };
}

async function empty(blobs: Blobs): Promise<void> {
  for await (const name of blobs.list("placeholder", Number.POSITIVE_INFINITY))
    await blobs.remove("placeholder", name);
}
