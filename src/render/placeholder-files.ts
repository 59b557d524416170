import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import PQueue from "p-queue";
import type { ImageFormat } from "../core/card.ts";
import { MAX_SHARED_PLACEHOLDERS } from "../core/limits.ts";
import { linkWhole, writeWhole } from "../write-whole.ts";
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
  /** Puts the picture at `path`, a name of its own: it opens to whom that is told, and goes when that is removed. */
  give(size: PlaceholderSize, path: string): Promise<GivenPlaceholder>;
}

/**
 * Keeps the pictures drawn last in `folder` and links the images' names to them; whichever name goes last takes the file
 * with it, so neither an expired image nor the eviction here touches another's picture. Begins anew in each process,
 * since another release may draw them differently.
 */
export function sharedPlaceholders(folder: string): SharedPlaceholders {
  // Drawing takes a core for some 100 ms and the pool's threads: one picture at a time.
  const drawing = new PQueue({ concurrency: 1 });
  const drawn = new Map<string, Promise<{ path: string; bytes: number }>>();
  let emptied: Promise<void> | undefined;

  const draw = async ({ width, height, format }: PlaceholderSize, path: string) => {
    emptied ??= empty(folder).catch((error) => {
      emptied = undefined;
      throw error;
    });
    await emptied;
    const { bytes } = await placeholder(width, height, format);
    await writeWhole(path, bytes);
    return { path, bytes: bytes.length };
  };
  const drawShared = (size: PlaceholderSize, name: string) => {
    drawn.delete(name);
    const [oldest] = drawn.keys();
    if (drawn.size >= MAX_SHARED_PLACEHOLDERS && oldest !== undefined) {
      drawn.delete(oldest);
      void rm(join(folder, oldest), { force: true }).catch(() => {});
    }
    const made = drawing.add(() => draw(size, join(folder, name)));
    drawn.set(name, made);
    made.catch(() => drawn.get(name) === made && drawn.delete(name));
    return made;
  };

  return {
    give: async (size, path) => {
      const contentType = `image/${size.format}`;
      const name = `${size.width}x${size.height}.${size.format}`;
      const known = drawn.get(name);
      if (known) {
        const { path: shared, bytes } = await known;
        const given = await linkWhole(shared, path);
        if (given !== "absent") return { contentType, bytes, drawnBytes: given === "linked" ? 0 : bytes };
      }
      // Not drawn yet, gone, or linked as often as the file system allows.
      const { path: shared, bytes } = await drawShared(size, name);
      if ((await linkWhole(shared, path)) === "absent") await drawing.add(() => draw(size, path));
      return { contentType, bytes, drawnBytes: bytes };
    },
  };
}

async function empty(folder: string): Promise<void> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { force: true });
}
