import type { StillFormat } from "../../../core/card.ts";
import { pngChunk } from "./metadata.ts";
import type { Pixels } from "./pixels.ts";
import { encodeWebp } from "./webp.ts";

/** High enough to avoid banding in gradients, low enough for the web. */
export const JPEG_QUALITY = 90;

/** `screen`: a PNG of the same pixels without compression, made and decoded in a fraction of the time. */
export type Encoding = "file" | "screen";

/** Encodes the pixels in that format, without metadata. JPEG drops alpha. */
export async function encode(
  pixels: Pixels,
  format: StillFormat,
  encoding: Encoding = "file",
): Promise<Uint8Array> {
  if (format === "png") return encodePng(pixels, encoding);
  if (format === "webp") return encodeWebp(pixels);
  const bitmap = asBmp(pixels);
  try {
    return await new Bun.Image(bitmap).jpeg({ quality: JPEG_QUALITY }).bytes();
  } finally {
    spareBitmap = bitmap;
  }
}

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
const BITS = 8;
const TRUECOLOUR_WITH_ALPHA = 6;

/**
 * PNG specification (third edition). Uses the Up filter, which compresses a card better than Sub; libdeflate
 * at level 1 takes half the time of zlib for smaller files.
 */
export function encodePng({ rgba, width, height }: Pixels, encoding: Encoding = "file"): Uint8Array {
  const head = new Uint8Array(13);
  const view = new DataView(head.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  head.set([BITS, TRUECOLOUR_WITH_ALPHA], 8);
  return Buffer.concat([
    SIGNATURE,
    ...pngChunk("IHDR", head),
    ...pngChunk("IDAT", ...deflatedRows(rgba, width, height, encoding)),
    ...pngChunk("IEND"),
  ]);
}

/**
 * Rows of four bytes a pixel, each after its filter's number, as the parts of a zlib stream: what PNG holds,
 * and PDF too.
 */
function deflatedRows(
  rgba: Uint8Array,
  width: number,
  height: number,
  encoding: Encoding = "file",
): Uint8Array[] {
  const isFile = encoding === "file";
  const rows = isFile ? upFiltered(rgba, width, height) : unfiltered(rgba, width, height);
  const packed = Bun.deflateSync(rows, { library: "libdeflate", level: isFile ? 1 : 0 });
  // RFC 1950: the method, the compressed bytes, and a checksum of the uncompressed ones.
  const checksum = new Uint8Array(4);
  new DataView(checksum.buffer).setUint32(0, Bun.hash.adler32(rows));
  return [DEFLATE, packed, checksum];
}

/** RFC 1950: method and window, and that the level was the fastest. */
const DEFLATE = Uint8Array.of(0x78, 0x01);

/**
 * Kept from card to card: the system would hand out every page of a new one as zeros, which takes as long as
 * the filter.
 */
let kept = new Uint8Array();

/** Room for the filtered rows, valid until the next call; not cleared. */
function roomFor(width: number, height: number): Uint8Array<ArrayBuffer> {
  const bytes = (width * 4 + 1) * height;
  // It stays close to the size of the card at hand; the largest takes 16 MB.
  if (kept.length < bytes || kept.length > 2 * bytes) kept = new Uint8Array(bytes);
  return kept.subarray(0, bytes);
}

const NONE = 0;
const UP = 2;
/** In each of four bytes: all bits but the highest, and the highest. */
const LOW_BITS = 0x7f7f7f7f;
const HIGH_BITS = 0x80808080;

function upFiltered(rgba: Uint8Array, width: number, height: number): Uint8Array<ArrayBuffer> {
  const rowBytes = width * 4;
  const rows = roomFor(width, height);
  const pixels = new Uint32Array(rgba.buffer, rgba.byteOffset, width * height);
  const row = new Uint32Array(width);
  const bytes = new Uint8Array(row.buffer);
  // The row above the first counts as zeros.
  rows[0] = UP;
  rows.set(rgba.subarray(0, rowBytes), 1);
  for (let y = 1; y < height; y++) {
    const at = y * width;
    for (let x = 0; x < width; x++) {
      const here = pixels[at + x] as number;
      const above = pixels[at + x - width] as number;
      // Four differences at once: the high bits are handled apart, so that no byte borrows from its
      // neighbour.
      row[x] = ((here | HIGH_BITS) - (above & LOW_BITS)) ^ ((here ^ ~above) & HIGH_BITS);
    }
    const out = y * (rowBytes + 1);
    rows[out] = UP;
    rows.set(bytes, out + 1);
  }
  return rows;
}

function unfiltered(rgba: Uint8Array, width: number, height: number): Uint8Array<ArrayBuffer> {
  const rowBytes = width * 4;
  const rows = roomFor(width, height);
  for (let y = 0; y < height; y++) {
    const out = y * (rowBytes + 1);
    rows[out] = NONE;
    rows.set(rgba.subarray(y * rowBytes, (y + 1) * rowBytes), out + 1);
  }
  return rows;
}

const BMP_HEAD_BYTES = 14 + 108;
/** The header value for "bit masks define the channels". */
const BITFIELDS = 3;

/**
 * The last bitmap, kept as `kept` is; the next encoding takes it away, since Bun reads it on another thread.
 */
let spareBitmap: Uint8Array | undefined;

/**
 * The simplest container for pixels: a Windows bitmap with a version 4 header, which supports alpha and this
 * channel order.
 */
function asBmp({ rgba, width, height }: Pixels): Uint8Array {
  const bytes = BMP_HEAD_BYTES + rgba.length;
  const file = spareBitmap?.length === bytes ? spareBitmap : new Uint8Array(bytes);
  spareBitmap = undefined;
  const view = new DataView(file.buffer);
  file.set([0x42, 0x4d]);
  view.setUint32(2, file.length, true);
  view.setUint32(10, BMP_HEAD_BYTES, true);
  view.setUint32(14, 108, true);
  view.setInt32(18, width, true);
  // A negative height: rows run from the top.
  view.setInt32(22, -height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 32, true);
  view.setUint32(30, BITFIELDS, true);
  view.setUint32(34, rgba.length, true);
  for (let channel = 0; channel < 4; channel++) view.setUint8(54 + 4 * channel + channel, 0xff);
  // "sRGB", little-endian.
  view.setUint32(70, 0x73524742, true);
  file.set(rgba, BMP_HEAD_BYTES);
  return file;
}
