import { deflateSync } from "node:zlib";
import { pngChunk } from "./metadata.ts";

// Where a card is to be foiled, for the printer, kept inside of its PNG: it is stored, moved, expired and
// deleted with the picture. One bit a pixel, since foil is there or not.

/** Ancillary, private, of no use once the pixels are changed: PNG specification (third edition), 5.4. */
const CHUNK = "foIL";
const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const CHUNK_FRAME_BYTES = 12;
/** All that stands before it: IHDR, sRGB, pHYs and tEXt. */
export const FOIL_WITHIN_BYTES = 4096;

/**
 * So much of a pixel, of 255, is foil's at least. Shadows of what lies above darken foil and do not hide it;
 * a true edge moves by a quarter of a pixel, a fiftieth of a millimetre.
 */
const LEAST_COVERAGE = 64;

/**
 * The plate as a zlib stream of rows, each filled up to whole bytes, a set bit being foil; null when there is
 * none.
 * @param coverage how much of each pixel is foil, of 255
 */
export function packedPlate(coverage: Uint8Array, width: number, height: number): Uint8Array | null {
  const rowBytes = Math.ceil(width / 8);
  const rows = new Uint8Array(rowBytes * height);
  let any = false;
  for (let at = 0; at < width * height; at++) {
    if ((coverage[at] as number) < LEAST_COVERAGE) continue;
    any = true;
    const x = at % width;
    const byte = ((at - x) / width) * rowBytes + (x >> 3);
    rows[byte] = (rows[byte] as number) | (0x80 >> (x & 7));
  }
  return any ? deflateSync(rows) : null;
}

/** The picture with the plate. @param png whose metadata is written */
export function withFoilPlate(png: Uint8Array, plate: Uint8Array): Uint8Array {
  const before = chunkAt(png, "IDAT");
  if (before === null) throw new Error("a PNG without pixels");
  return Buffer.concat([png.subarray(0, before), ...pngChunk(CHUNK, plate), png.subarray(before)]);
}

/** The plate in a picture's file; null when it has none, or is no PNG. */
export function foilPlateOf(file: Uint8Array): Uint8Array | null {
  const at = chunkAt(file, CHUNK);
  if (at === null) return null;
  const length = new DataView(file.buffer, file.byteOffset).getUint32(at);
  return file.subarray(at + 8, at + 8 + length);
}

/** Whether a file that begins like this has a plate. @param head its first FOIL_WITHIN_BYTES */
export const hasFoilPlate = (head: Uint8Array): boolean => chunkAt(head, CHUNK) !== null;

/** Where a chunk begins, among those before the pixels; null without one. */
function chunkAt(file: Uint8Array, wanted: string): number | null {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const type = (at: number) => String.fromCharCode(...file.subarray(at + 4, at + 8));
  for (let at = SIGNATURE_BYTES; at + CHUNK_FRAME_BYTES <= file.length; ) {
    if (at === SIGNATURE_BYTES && type(at) !== "IHDR") return null;
    if (type(at) === wanted) return at;
    if (type(at) === "IDAT") return null;
    at += CHUNK_FRAME_BYTES + view.getUint32(at);
  }
  return null;
}
