/**
 * What the photo tests share: one browser with a photo page in it, pixels of pictures, and photos in rarer
 * encodings.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { PNG } from "pngjs";
import { launchBrowser } from "../../../src/render/browser/browser.ts";
import { findChromium } from "../../../src/render/browser/chromium.ts";
import { openPhotoCutter, type PhotoOptions } from "../../../src/render/photo/photo.ts";
import { tidying } from "../../../src/render/tidying.ts";

export interface Pixels {
  /** Straight RGBA, row by row. */
  rgba: Uint8ClampedArray;
  width: number;
  height: number;
}

export const photo = (file: string) =>
  new Uint8Array(readFileSync(join(import.meta.dir, "../../photos", file)));

export async function openLab() {
  const cacheDir = join(tmpdir(), "cardpress-test-cache");
  mkdirSync(cacheDir, { recursive: true });
  const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
  const browser = await launchBrowser({ chromium, profilesDir: tmpdir(), noSandbox: true });
  const cutter = await openPhotoCutter(browser);
  const tidied = tidying(() => void cutter.tidy());
  const folder = mkdtempSync(join(tmpdir(), "cardpress-photos-"));
  const page = await browser.newPage();

  /**
   * Draws pictures over each other at given places and returns the result as a PNG, or as a JPEG of this
   * quality.
   */
  const draw = async (
    size: [number, number],
    pictures: { bytes: Uint8Array; at: number[] }[],
    { filter = "none", jpeg }: { filter?: string; jpeg?: number } = {},
  ): Promise<Uint8Array> => {
    const sources = pictures.map(({ bytes, at }) => ({ base64: bytes.toBase64(), at }));
    const drawn = await page.evaluate(
      async ([width, height], list, filter, quality) => {
        const canvas = new OffscreenCanvas(width, height);
        const context = canvas.getContext("2d", { willReadFrequently: true });
        if (!context) throw new Error("no canvas");
        context.filter = filter;
        for (const { base64, at } of list) {
          const bitmap = await createImageBitmap(new Blob([Uint8Array.fromBase64(base64)]));
          const [x = 0, y = 0, w = bitmap.width, h = bitmap.height] = at;
          context.drawImage(bitmap, x, y, w, h);
        }
        const type = quality === undefined ? "image/png" : "image/jpeg";
        const blob = await canvas.convertToBlob({ type, ...(quality !== undefined && { quality }) });
        return new Uint8Array(await blob.arrayBuffer()).toBase64();
      },
      size,
      sources,
      filter,
      jpeg,
    );
    return Uint8Array.fromBase64(drawn);
  };

  let photos = 0;
  /** As the cutter does, of bytes that are in no file yet. */
  const cutOut = (bytes: Uint8Array, options?: PhotoOptions) => {
    const path = join(folder, `photo-${++photos}`);
    writeFileSync(path, bytes);
    return tidied(() => cutter.cutOut(path, options));
  };

  /**
   * Decoded here: the browser's protocol would take seconds for the pixels of a large picture. Other formats
   * become a PNG on the way, packed as little as can be: that takes an eighth of what packing it well does.
   */
  const pixelsOf = async (bytes: Uint8Array): Promise<Pixels> => {
    const picture = new Bun.Image(bytes);
    const isPng = (await picture.metadata()).format === "png";
    const png = isPng ? bytes : await picture.png({ compressionLevel: 0 }).bytes();
    const { data, width, height } = PNG.sync.read(Buffer.from(png));
    return { rgba: new Uint8ClampedArray(data), width, height };
  };

  /** A picture reduced to a longer side and blurred. */
  const softened = async (bytes: Uint8Array, longerSide: number): Promise<Pixels> => {
    const { width, height } = await new Bun.Image(bytes).metadata();
    const scale = longerSide / Math.max(width, height);
    const [w, h] = [Math.round(width * scale), Math.round(height * scale)];
    return pixelsOf(await draw([w, h], [{ bytes, at: [0, 0, w, h] }], { filter: "blur(3px)" }));
  };

  const close = async () => {
    await cutter.close();
    await browser.close();
    rmSync(folder, { recursive: true });
  };
  return { browser, cutter, folder, cutOut, draw, pixelsOf, softened, close };
}

/** A JPEG with an EXIF segment that says nothing but the orientation (TIFF 6.0, tag 0x0112). */
export function withOrientation(jpeg: Uint8Array, orientation: number): Uint8Array {
  const tiff = [
    0x4d,
    0x4d,
    0,
    42,
    0,
    0,
    0,
    8,
    0,
    1,
    0x01,
    0x12,
    0,
    3,
    0,
    0,
    0,
    1,
    0,
    orientation,
    0,
    0,
    0,
    0,
    0,
    0,
  ];
  const body = [...new TextEncoder().encode("Exif\0\0"), ...tiff];
  const segment = [0xff, 0xe1, 0, body.length + 2, ...body];
  return Uint8Array.from([...jpeg.subarray(0, 2), ...segment, ...jpeg.subarray(2)]);
}

/** A PNG with 16 bits a channel: colour type 2 (RGB) or 0 (grey, by Rec. 601 luma). */
export function png16({ rgba, width, height }: Pixels, colourType: 0 | 2): Uint8Array {
  const channels = colourType === 2 ? 3 : 1;
  const rows = new Uint8Array(height * (1 + width * channels * 2));
  const at = (index: number) => rgba[index] ?? 0;
  let to = 0;
  for (let i = 0; i < 4 * width * height; i += 4) {
    if (i % (4 * width) === 0) to++; // filter type 0
    const grey = Math.round(0.299 * at(i) + 0.587 * at(i + 1) + 0.114 * at(i + 2));
    for (let channel = 0; channel < channels; channel++) {
      const value = channels === 3 ? at(i + channel) : grey;
      rows[to++] = value;
      rows[to++] = value;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([16, colourType, 0, 0, 0], 8);
  const chunk = (type: string, data: Uint8Array) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    frame.set(body, 4);
    frame.writeUInt32BE(crc32(body), 4 + body.length);
    return frame;
  };
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows, { level: 1 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/**
 * A baseline CMYK JPEG as Photoshop writes it (Adobe segment, inverted inks), with one flat colour for each
 * block of 8 x 8 pixels: only the DC coefficients of ITU T.81 are coded, with its luminance DC table (K.3).
 */
export function cmykJpeg({ rgba, width, height }: Pixels): Uint8Array {
  const bits: number[] = [];
  const put = (value: number, length: number) => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
  };
  const DC_CODES = [
    0b00, 0b010, 0b011, 0b100, 0b101, 0b110, 0b1110, 0b11110, 0b111110, 0b1111110, 0b11111110, 0b111111110,
  ];
  const DC_LENGTHS = [2, 3, 3, 3, 3, 3, 4, 5, 6, 7, 8, 9];
  const previous = [0, 0, 0, 0];
  for (let y = 0; y < height; y += 8) {
    for (let x = 0; x < width; x += 8) {
      const [r = 0, g = 0, b = 0] = rgba.subarray(
        4 * (Math.min(height - 1, y + 4) * width + Math.min(width - 1, x + 4)),
      );
      const black = Math.max(r, g, b);
      const inks =
        black === 0 ? [255, 255, 255] : [r, g, b].map((value) => Math.round((255 * value) / black));
      for (const [component, value] of [...inks, black].entries()) {
        // A flat block's DC is eight times its level, and the quantiser is 8.
        const difference = value - 128 - (previous[component] ?? 0);
        previous[component] = value - 128;
        const category = difference === 0 ? 0 : Math.floor(Math.log2(Math.abs(difference))) + 1;
        put(DC_CODES[category] ?? 0, DC_LENGTHS[category] ?? 0);
        put(difference < 0 ? difference + 2 ** category - 1 : difference, category);
        put(0, 1); // end of block: the only code of the AC table below
      }
    }
  }
  while (bits.length % 8 !== 0) bits.push(1);
  const scan: number[] = [];
  for (let i = 0; i < bits.length; i += 8) {
    const byte = bits.slice(i, i + 8).reduce((sum, bit) => 2 * sum + bit, 0);
    scan.push(byte, ...(byte === 0xff ? [0] : []));
  }
  const word = (value: number) => [value >> 8, value & 255];
  const segment = (marker: number, body: number[]) => [0xff, marker, ...word(body.length + 2), ...body];
  return Uint8Array.from([
    ...[0xff, 0xd8],
    ...segment(0xee, [...new TextEncoder().encode("Adobe"), 0, 100, 0, 0, 0, 0, 0]),
    ...segment(0xdb, [0, ...Array.from({ length: 64 }, () => 8)]),
    ...segment(0xc0, [8, ...word(height), ...word(width), 4, ...[1, 2, 3, 4].flatMap((id) => [id, 0x11, 0])]),
    ...segment(0xc4, [0x00, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, ...DC_CODES.keys()]),
    ...segment(0xc4, [0x10, 1, ...Array.from({ length: 15 }, () => 0), 0]),
    ...segment(0xda, [4, ...[1, 2, 3, 4].flatMap((id) => [id, 0x00]), 0, 63, 0]),
    ...scan,
    ...[0xff, 0xd9],
  ]);
}

/**
 * A picture in a colour space of its own: red and blue are swapped in its pixels, and its ICC profile
 * (version 2, a matrix with sRGB's primaries and a plain gamma) says so. A decoder that ignores the profile
 * shows a blue face.
 */
export async function swappedJpeg({ rgba, width, height }: Pixels): Promise<Uint8Array> {
  const swapped = rgba.slice();
  for (let i = 0; i < rgba.length; i += 4) {
    swapped[i] = rgba[i + 2] ?? 0;
    swapped[i + 2] = rgba[i] ?? 0;
  }
  const jpeg = await new Bun.Image(png16({ rgba: swapped, width, height }, 2)).jpeg({ quality: 92 }).bytes();
  const profile = swappedProfile();
  const body = Buffer.concat([Buffer.from("ICC_PROFILE\0\x01\x01", "latin1"), profile]);
  const segment = Buffer.from([0xff, 0xe2, (body.length + 2) >> 8, (body.length + 2) & 255, ...body]);
  return new Uint8Array(Buffer.concat([jpeg.subarray(0, 2), segment, jpeg.subarray(2)]));
}

/** ICC.1:2001-04: a header of 128 bytes, a table of tags, the tags. Numbers are signed 16.16 fixed point. */
function swappedProfile(): Buffer {
  const fixed = (values: number[]) => {
    const bytes = Buffer.alloc(4 * values.length);
    for (const [i, value] of values.entries()) bytes.writeInt32BE(Math.round(value * 65_536), 4 * i);
    return bytes;
  };
  const tagOf = (type: string, body: Buffer) => Buffer.concat([Buffer.from(`${type}\0\0\0\0`), body]);
  const xyz = (...values: number[]) => tagOf("XYZ ", fixed(values));
  // One value is a gamma, as unsigned 8.8 fixed point; the last two bytes fill the tag up.
  const gamma = tagOf("curv", Buffer.from([0, 0, 0, 1, 2, 0x33, 0, 0]));
  const text = Buffer.from("swapped\0");
  const description = Buffer.concat([Buffer.from([0, 0, 0, text.length]), text, Buffer.alloc(80)]);
  const tags: [string, Buffer][] = [
    ["desc", tagOf("desc", description)],
    ["cprt", tagOf("text", text)],
    ["wtpt", xyz(0.9642, 1, 0.8249)],
    // sRGB's primaries, adapted to D50, blue's in red's place.
    ["rXYZ", xyz(0.1431, 0.0606, 0.7141)],
    ["gXYZ", xyz(0.3851, 0.7169, 0.0971)],
    ["bXYZ", xyz(0.4361, 0.2225, 0.0139)],
    ...["rTRC", "gTRC", "bTRC"].map((name): [string, Buffer] => [name, gamma]),
  ];
  const head = Buffer.alloc(128 + 4 + 12 * tags.length);
  head.writeUInt32BE(0x02100000, 8);
  head.write("mntrRGB XYZ ", 12);
  head.write("acsp", 36);
  fixed([0.9642, 1, 0.8249]).copy(head, 68);
  head.writeUInt32BE(tags.length, 128);
  let at = head.length;
  for (const [i, [name, data]] of tags.entries()) {
    head.write(name, 132 + 12 * i);
    head.writeUInt32BE(at, 136 + 12 * i);
    head.writeUInt32BE(data.length, 140 + 12 * i);
    at += data.length;
  }
  head.writeUInt32BE(at, 0);
  return Buffer.concat([head, ...tags.map(([, data]) => data)]);
}
