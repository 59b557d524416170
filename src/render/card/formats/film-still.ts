import { isMp4, stillInMp4 } from "./mp4.ts";
import { riffChunk, riffChunksOf, riffHead } from "./riff.ts";
import { stillInWebm } from "./webm.ts";

// Each moving picture holds a still of its card, a WebP of its own, where readers look for nothing: it is
// what is shown in lists and to whom nothing moves, and it is stored, moved, expired and deleted with the
// picture.

/** RFC 9649, section 2.3: readers pass over chunks they do not know, which come last. */
const CHUNK = "STIL";
const EBML = Buffer.from("1a45dfa3", "hex");

/** An animated WebP with its still. */
export function withStill(webp: Uint8Array, still: Uint8Array): Uint8Array {
  const body = Buffer.concat([webp.subarray(8), riffChunk(CHUNK, still)]);
  return Buffer.concat([riffHead("RIFF", body.length), body]);
}

/** What of a picture's file can be shown as a still: its own still where it moves, otherwise all of it. */
export async function readStill(path: string): Promise<Uint8Array> {
  const file = await Bun.file(path).bytes();
  return stillOfFilm(file) ?? file;
}

/** The still in a moving picture's file, as a WebP; null in other files. */
export function stillOfFilm(file: Uint8Array): Uint8Array | null {
  const begin = Buffer.from(file.subarray(0, 4));
  if (begin.equals(EBML)) return stillInWebm(file);
  if (isMp4(file)) return stillInMp4(file);
  if (begin.toString() !== "RIFF") return null;
  return riffChunksOf(file).find(({ type }) => type === CHUNK)?.data ?? null;
}
