import { crc32, deflateSync } from "node:zlib";

/** A whole RGB PNG of black pixels. */
export function png(width: number, height: number): Uint8Array {
  return pngOf(width, height, deflateSync(Buffer.alloc((1 + 3 * width) * height)));
}

/** A few bytes whose header claims `width` x `height`: what decoders are bombed with. */
export function pngBomb(width: number, height: number): Uint8Array {
  return pngOf(width, height, deflateSync(Buffer.alloc(100)));
}

/** Square, with so many bits a sample: only 1, 2, 4, 8 and 16 exist, yet nothing but a decoder minds. */
export function pngOfDepth(bits: number, side: number): Uint8Array {
  return pngOf(side, side, deflateSync(Buffer.alloc((1 + 3 * side) * side)), bits);
}

function pngOf(width: number, height: number, data: Uint8Array, depth = 8): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, 2], 8);
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    pngChunk("IHDR", header),
    pngChunk("IDAT", data),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Uint8Array): Uint8Array {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, "latin1");
  chunk.set(data, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

export function jpeg(width: number, height: number, progressive = false): Promise<Uint8Array> {
  return new Bun.Image(png(width, height)).jpeg({ progressive }).bytes();
}

export function webp(width: number, height: number): Promise<Uint8Array> {
  return new Bun.Image(png(width, height)).webp().bytes();
}

/** The extended header of an animation (RFC 9649) with nothing behind it. */
export function animatedWebp(width: number, height: number): Uint8Array {
  const file = Buffer.alloc(30);
  file.write("RIFF....WEBPVP8X", 0, "latin1");
  file.writeUInt32LE(22, 4);
  file.writeUInt32LE(10, 16);
  file.writeUInt8(0x02, 20);
  file.writeUIntLE(width - 1, 24, 3);
  file.writeUIntLE(height - 1, 27, 3);
  return file;
}

/** Puts an EXIF block with the orientation "turn right by 90 degrees" into a JPEG. */
export function turnedByExif(image: Uint8Array): Uint8Array {
  const exif = Buffer.from(
    "\xff\xe1\0\x22Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0",
    "latin1",
  );
  return Buffer.concat([image.subarray(0, 2), exif, image.subarray(2)]);
}

/** Repeats a JPEG's only scan `times` times. */
export function withScans(image: Uint8Array, times: number): Uint8Array {
  const bytes = Buffer.from(image);
  const scan = bytes.subarray(bytes.lastIndexOf(Buffer.from([0xff, 0xda])), -2);
  const scans = Array.from({ length: times }, () => scan);
  return Buffer.concat([bytes.subarray(0, bytes.length - 2 - scan.length), ...scans, bytes.subarray(-2)]);
}
