import type { StillFormat } from "../../../core/card.ts";
import { riffChunk, riffHead } from "./riff.ts";
import { SRGB_PROFILE } from "./srgb-profile.ts";

/** The program named as the maker of finished pictures. */
const MAKER = "cardpress";

/** Adobe XMP specification, part 1: the smallest packet that names a picture's program. */
const XMP = `<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:CreatorTool="${MAKER}"/></rdf:RDF></x:xmpmeta>`;

/** The intended print resolution in dots per inch, as printers expect it. */
const DPI = 300;
/** The same in PNG's unit, dots per metre. */
const DOTS_PER_METRE = Math.round(DPI / 0.0254);

const ascii = (text: string) => new TextEncoder().encode(text);

/**
 * Writes maker, print resolution and colour space (sRGB) into a picture without touching its pixels. The
 * encoder that produced `bytes` must not have written metadata, other than an ICC profile.
 */
export function withMetadata(bytes: Uint8Array, format: StillFormat): Uint8Array {
  if (format === "png") return intoPng(bytes);
  return format === "jpeg" ? intoJpeg(bytes) : intoWebp(bytes);
}

/** PNG specification (third edition): a signature of 8 bytes, IHDR of 25, then the describing chunks. */
function intoPng(bytes: Uint8Array): Uint8Array {
  const end = 8 + 25;
  const PERCEPTUAL = 0;
  const METRE = 1;
  const resolution = new Uint8Array(9);
  const view = new DataView(resolution.buffer);
  view.setUint32(0, DOTS_PER_METRE);
  view.setUint32(4, DOTS_PER_METRE);
  view.setUint8(8, METRE);
  return join(
    bytes.subarray(0, end),
    ...pngChunk("sRGB", Uint8Array.of(PERCEPTUAL)),
    ...pngChunk("pHYs", resolution),
    ...pngChunk("tEXt", ascii(`Software\0${MAKER}`)),
    bytes.subarray(end),
  );
}

/**
 * A PNG chunk with its length and checksum, in parts that follow each other: megabytes of data are copied
 * once less.
 */
export function pngChunk(type: string, ...data: Uint8Array[]): Uint8Array[] {
  const head = join(new Uint8Array(4), ascii(type));
  new DataView(head.buffer).setUint32(
    0,
    data.reduce((sum, { length }) => sum + length, 0),
  );
  const checksum = new Uint8Array(4);
  const crc = data.reduce((sum, part) => Bun.hash.crc32(part, sum), Bun.hash.crc32(ascii(type)));
  new DataView(checksum.buffer).setUint32(0, crc);
  return [head, ...data, checksum];
}

/** JFIF 1.02: its APP0 segment comes first and states the resolution; XMP follows in an APP1 segment. */
function intoJpeg(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const hasApp0 = view.getUint16(2) === 0xffe0;
  const end = hasApp0 ? 4 + view.getUint16(4) : 2;
  const PER_INCH = 1;
  const app0 = new Uint8Array(18);
  const jfif = new DataView(app0.buffer);
  jfif.setUint32(0, (0xffe0 << 16) | 16);
  app0.set(ascii("JFIF\0\x01\x02"), 4);
  jfif.setUint8(11, PER_INCH);
  jfif.setUint16(12, DPI);
  jfif.setUint16(14, DPI);
  const payload = ascii(`http://ns.adobe.com/xap/1.0/\0${XMP}`);
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, (0xffe1 << 16) | (payload.length + 2));
  return join(bytes.subarray(0, 2), app0, head, payload, jpegProfile(bytes), bytes.subarray(end));
}

/** ICC.1:2022, B.4: a single APP2 segment; empty when the picture already has its profile. */
function jpegProfile(bytes: Uint8Array): Uint8Array {
  const mark = "ICC_PROFILE\0";
  if (Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes(mark))
    return new Uint8Array();
  const payload = join(ascii(mark), Uint8Array.of(1, 1), SRGB_PROFILE);
  const head = new Uint8Array(4);
  new DataView(head.buffer).setUint32(0, (0xffe2 << 16) | (payload.length + 2));
  return join(head, payload);
}

/**
 * EXIF 2.32 as little-endian TIFF: one directory with horizontal and vertical resolution and their unit, the
 * inch.
 */
function exif(): Uint8Array {
  const SHORT = 3;
  const RATIONAL = 5;
  const INCH = 2;
  const valuesAt = 8 + 2 + 3 * 12 + 4;
  const out = new DataView(new ArrayBuffer(valuesAt + 16));
  const entries: [tag: number, type: number, value: number][] = [
    [0x011a, RATIONAL, valuesAt],
    [0x011b, RATIONAL, valuesAt + 8],
    [0x0128, SHORT, INCH],
  ];
  out.setUint32(0, 0x49492a00);
  out.setUint32(4, 8, true);
  out.setUint16(8, entries.length, true);
  for (const [i, [tag, type, value]] of entries.entries()) {
    const at = 10 + i * 12;
    out.setUint16(at, tag, true);
    out.setUint16(at + 2, type, true);
    out.setUint32(at + 4, 1, true);
    out.setUint32(at + 8, value, true);
  }
  for (const at of [valuesAt, valuesAt + 8]) {
    out.setUint32(at, DPI, true);
    out.setUint32(at + 4, 1, true);
  }
  return new Uint8Array(out.buffer);
}

/** Flags of WebP's VP8X chunk (RFC 9649, section 2.7.1). */
const HAS_XMP = 0x04;
const HAS_EXIF = 0x08;
const HAS_ALPHA = 0x10;
const HAS_PROFILE = 0x20;
/** The size of a VP8X chunk with its header, after which the profile comes. */
const VP8X_BYTES = 18;

/** WebP keeps EXIF and XMP in chunks at the end, announced in VP8X; a picture without that chunk gets one. */
function intoWebp(bytes: Uint8Array): Uint8Array {
  const chunks = text(bytes, 12) === "VP8X" ? bytes.slice(12) : join(vp8x(bytes), bytes.subarray(12));
  chunks[8] = (chunks[8] as number) | HAS_XMP | HAS_EXIF | HAS_PROFILE;
  const hasProfile = text(chunks, VP8X_BYTES) === "ICCP";
  const body = join(
    ascii("WEBP"),
    chunks.subarray(0, VP8X_BYTES),
    hasProfile ? new Uint8Array() : riffChunk("ICCP", SRGB_PROFILE),
    chunks.subarray(VP8X_BYTES),
    riffChunk("EXIF", exif()),
    riffChunk("XMP ", ascii(XMP)),
  );
  return join(riffHead("RIFF", body.length), body);
}

function text(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}

/** The size is in the bit stream's own header: 14 bits each, minus one in the lossless kind. */
function vp8x(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const isLossless = text(bytes, 12) === "VP8L";
  const bits = isLossless ? view.getUint32(21, true) : 0;
  const width = isLossless ? bits & 0x3fff : (view.getUint16(26, true) & 0x3fff) - 1;
  const height = isLossless ? (bits >> 14) & 0x3fff : (view.getUint16(28, true) & 0x3fff) - 1;
  const data = new Uint8Array(10);
  const out = new DataView(data.buffer);
  out.setUint8(0, isLossless && (bits >> 28) & 1 ? HAS_ALPHA : 0);
  out.setUint32(4, width, true);
  // Three bytes each: the second number overwrites the empty fourth byte of the first.
  out.setUint16(7, height & 0xffff, true);
  return join(riffHead("VP8X", data.length), data);
}

function join(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
