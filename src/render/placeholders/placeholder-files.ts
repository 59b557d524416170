import { rm } from "node:fs/promises";
import type { BlobName, Blobs } from "../../blobs/blobs.ts";
import { MAX_SHARED_PLACEHOLDERS } from "../../core/limits.ts";

/** A picture for test images, and how to draw it. */
export interface Placeholder {
  /** Equal for equal pictures, whose images share one file. */
  name: string;
  contentType: string;
  /** Draws it: its bytes, or a file with them that is moved away. */
  draw(): Promise<Uint8Array | { path: string; bytes: number }>;
}

export interface GivenPlaceholder {
  contentType: string;
  bytes: number;
  /** The bytes of these that take new space because they were drawn or copied; 0 for a link. */
  drawnBytes: number;
}

/** Keeps one file per test picture, however many images show it. */
export interface SharedPlaceholders {
  /**
   * Makes the picture available under a name of its own, which can be removed independently of the others.
   */
  give(placeholder: Placeholder, name: string): Promise<GivenPlaceholder>;
}

/**
 * Keeps the most recently drawn pictures and links the images' names to them. The file goes with the last
 * name, so neither an expired image nor eviction here affects another image. Starts empty in each process,
 * since another release may draw differently.
 */
export function sharedPlaceholders(blobs: Blobs): SharedPlaceholders {
  const drawn = new Map<string, Promise<number>>();
  let emptied: Promise<void> | undefined;

  const draw = async (placeholder: Placeholder, at: BlobName) => {
    emptied ??= dropPlaceholders(blobs).catch((error) => {
      emptied = undefined;
      throw error;
    });
    await emptied;
    const picture = await placeholder.draw();
    const isFile = "path" in picture;
    try {
      await blobs.put(at.kind, at.name, picture);
      return isFile ? picture.bytes : picture.length;
    } finally {
      // It has been moved away, or nobody will take it: a bucket out of reach must not fill the disk.
      if (isFile) await rm(picture.path, { force: true }).catch(() => {});
    }
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
      // Not drawn yet, deleted, or at the file system's limit of links.
      const bytes = await drawShared(placeholder, shared);
      if ((await blobs.copy(shared, own)) === "absent") await draw(placeholder, own);
      return { contentType, bytes, drawnBytes: bytes };
    },
  };
}

/**
 * Removes the pictures that are kept for other test images, those drawn at `until` (epoch ms) or before: they
 * show what was sent, and are drawn again when asked for. The images' own pictures stay.
 */
export async function dropPlaceholders(blobs: Blobs, until = Number.POSITIVE_INFINITY): Promise<void> {
  for await (const name of blobs.list("placeholder", until)) await blobs.remove("placeholder", name);
}
