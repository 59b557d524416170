import type { BlobName, Blobs } from "../../blobs/blobs.ts";
import { MAX_SHARED_PLACEHOLDERS } from "../../core/limits.ts";

/** A picture for test images, and how to make it. */
export interface Placeholder {
  /** Alike for pictures that are alike: their images share one file. */
  name: string;
  contentType: string;
  /** Makes it anew: its bytes, or a file that holds them, which is gone afterwards. */
  draw(): Promise<Uint8Array | { path: string; bytes: number }>;
}

export interface GivenPlaceholder {
  contentType: string;
  bytes: number;
  /** Of them, what takes room of its own because it was drawn anew or copied; 0 for a link. */
  drawnBytes: number;
}

/** One file for each test picture, however many images have it. */
export interface SharedPlaceholders {
  /** Gives the picture a name of its own: it opens to whom that is told, and goes when that is removed. */
  give(placeholder: Placeholder, name: string): Promise<GivenPlaceholder>;
}

/**
 * Keeps the pictures drawn last and links the images' names to them; whichever name goes last takes the file
 * with it, so neither an expired image nor the eviction here touches another's picture. Begins anew in each process,
 * since another release may draw them differently.
 */
export function sharedPlaceholders(blobs: Blobs): SharedPlaceholders {
  const drawn = new Map<string, Promise<number>>();
  let emptied: Promise<void> | undefined;

  const draw = async (placeholder: Placeholder, at: BlobName) => {
    emptied ??= empty(blobs).catch((error) => {
      emptied = undefined;
      throw error;
    });
    await emptied;
    const picture = await placeholder.draw();
    await blobs.put(at.kind, at.name, picture);
    return "path" in picture ? picture.bytes : picture.length;
  };
  const drawShared = (placeholder: Placeholder, shared: BlobName) => {
    const { name } = shared;
    drawn.delete(name);
    const [oldest] = drawn.keys();
    if (drawn.size >= MAX_SHARED_PLACEHOLDERS && oldest !== undefined) {
      drawn.delete(oldest);
      void blobs.remove("placeholder", oldest).catch(() => {});
    }
    const made = draw(placeholder, shared);
    drawn.set(name, made);
    made.catch(() => drawn.get(name) === made && drawn.delete(name));
    return made;
  };

  return {
    give: async (placeholder, name) => {
      const { contentType } = placeholder;
      const own: BlobName = { kind: "picture", name };
      const shared: BlobName = { kind: "placeholder", name: placeholder.name };
      const known = drawn.get(shared.name);
      if (known) {
        const bytes = await known;
        const given = await blobs.copy(shared, own);
        if (given !== "absent") return { contentType, bytes, drawnBytes: given === "linked" ? 0 : bytes };
      }
      // Not drawn yet, gone, or linked as often as the store allows.
      const bytes = await drawShared(placeholder, shared);
      if ((await blobs.copy(shared, own)) === "absent") await draw(placeholder, own);
      return { contentType, bytes, drawnBytes: bytes };
    },
  };
}

async function empty(blobs: Blobs): Promise<void> {
  for await (const name of blobs.list("placeholder", Number.POSITIVE_INFINITY))
    await blobs.remove("placeholder", name);
}
