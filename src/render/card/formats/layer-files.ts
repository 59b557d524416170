import { LAYER_PICTURES, type LayerPicture } from "../../../core/layers.ts";
import { riffChunk, riffChunksOf, riffHead } from "./riff.ts";

// A card's layers lie inside of its picture's file, as a moving picture's still does: they are stored, moved,
// expired and deleted with it. Readers of the picture alone are given it without them.

/** RFC 9649, section 2.3: readers pass over chunks they do not know, which come last. */
const CHUNK = "LAYR";
const RIFF_HEAD_BYTES = 12;

/** A WebP with those pictures, each in a chunk that begins with its number. */
export function withLayers(webp: Uint8Array, layers: Readonly<Record<LayerPicture, Uint8Array>>): Uint8Array {
  const chunks = LAYER_PICTURES.map((name, number) =>
    riffChunk(CHUNK, Buffer.concat([Uint8Array.of(number), layers[name]])),
  );
  const body = Buffer.concat([webp.subarray(8), ...chunks]);
  return Buffer.concat([riffHead("RIFF", body.length), body]);
}

/** A layer in a picture's file, as a WebP; null when it has none. */
export function layerOf(webp: Uint8Array, name: LayerPicture): Uint8Array | null {
  const number = LAYER_PICTURES.indexOf(name);
  const found = riffChunksOf(webp).find(({ type, data }) => type === CHUNK && data[0] === number);
  return found ? found.data.subarray(1) : null;
}

/** The picture alone; the file itself when it has no layers. */
export function withoutLayers(webp: Uint8Array): Uint8Array {
  const first = riffChunksOf(webp).find(({ type }) => type === CHUNK);
  if (!first) return webp;
  const end = first.data.byteOffset - webp.byteOffset - 8;
  const body = webp.subarray(RIFF_HEAD_BYTES - 4, end);
  return Buffer.concat([riffHead("RIFF", body.length), body]);
}
