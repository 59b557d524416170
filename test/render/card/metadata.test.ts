import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { CutoutFile, ImageFormat } from "../../../src/core/card.ts";
import { withMetadata } from "../../../src/render/card/formats/metadata.ts";
import { type CardPage, openCardPage } from "../../../src/render/card/page.ts";
import { saveCutout } from "../../../src/render/card-renderer.ts";
import { placeholder } from "../../../src/render/placeholders/placeholder.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { openLab, photo } from "../photo/photo-lab.ts";
import { openPixelLab, type PixelLab } from "../pixels.ts";
import { cardInput } from "./cards.ts";

const FORMATS = ["png", "webp", "jpeg"] as const;
let lab: Awaited<ReturnType<typeof openLab>>;
let card: CardPage;
let pixels: PixelLab;
let cutout: CutoutFile;

beforeAll(async () => {
  lab = await openLab();
  card = await openCardPage(lab.browser, await loadTemplate("club_card"));
  pixels = await openPixelLab(lab.browser);
  const result = await lab.cutOut(withMakersMark(photo("unsplash_man.jpg")));
  if (!result.ok) throw new Error(result.message);
  cutout = await saveCutout(join(lab.folder, "cutout"), result.cutout);
});
afterAll(() => lab?.close());

/** A JPEG as a telling phone writes it: EXIF with make, artist and place, XMP and a comment. */
function withMakersMark(jpeg: Uint8Array): Uint8Array {
  const segment = (marker: number, text: string) => {
    const body = Buffer.from(text, "latin1");
    const head = Buffer.from([0xff, marker, (body.length + 2) >> 8, (body.length + 2) & 255]);
    return Buffer.concat([head, body]);
  };
  // One IFD entry, Make (0x010f), whose text stands right after the directory.
  const exif = `Exif\0\0II*\0\x08\0\0\0\x01\0\x0f\x01\x02\0\x0c\0\0\0\x1a\0\0\0\0\0\0\0LeakyCamera\0GPS 51.5N 0.1W`;
  return Buffer.concat([
    jpeg.subarray(0, 2),
    segment(0xe1, exif),
    segment(0xe1, `http://ns.adobe.com/xap/1.0/\0<x:xmpmeta>LeakyCamera</x:xmpmeta>`),
    segment(0xfe, "shot by LeakyCamera"),
    jpeg.subarray(2),
  ]);
}

interface Part {
  type: string;
  data: Buffer;
}

/** The parts of a picture that are not pixels, in order. */
function partsOf(bytes: Uint8Array, format: ImageFormat): Part[] {
  const file = Buffer.from(bytes);
  const parts: Part[] = [];
  if (format === "png")
    for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at)) {
      const end = at + 8 + file.readUInt32BE(at);
      const part = { type: file.toString("latin1", at + 4, at + 8), data: file.subarray(at + 8, end) };
      expect(file.readUInt32BE(end)).toBe(Bun.hash.crc32(file.subarray(at + 4, end)));
      parts.push(part);
    }
  else if (format === "webp") {
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    for (let at = 12; at < file.length; at += 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) % 2))
      parts.push({
        type: file.toString("latin1", at, at + 4),
        data: file.subarray(at + 8, at + 8 + file.readUInt32LE(at + 4)),
      });
  } else
    for (let at = 2; file[at + 1] !== 0xda; at += 2 + file.readUInt16BE(at + 2))
      parts.push({
        type: (file[at + 1] ?? 0).toString(16),
        data: file.subarray(at + 4, at + 2 + file.readUInt16BE(at + 2)),
      });
  return parts;
}

const XMP_MAKER = 'xmp:CreatorTool="cardpress"';

function expectOnlyOurs(bytes: Uint8Array, format: ImageFormat): void {
  const parts = partsOf(bytes, format);
  const textOf = (type: string) => parts.find((part) => part.type === type)?.data.toString("latin1") ?? "";
  const kinds = new Set(parts.map(({ type }) => type));
  if (format === "png") {
    expect([...kinds]).toEqual(["IHDR", "sRGB", "pHYs", "tEXt", "IDAT", "IEND"]);
    expect(textOf("tEXt")).toBe("Software\0cardpress");
    expect(textOf("sRGB")).toBe("\0");
  } else if (format === "webp") {
    for (const kind of kinds) expect(["VP8X", "ICCP", "ALPH", "VP8 ", "EXIF", "XMP "]).toContain(kind);
    expect(textOf("XMP ")).toContain(XMP_MAKER);
    expect(textOf("VP8X").charCodeAt(0) & 0x04).toBe(0x04);
  } else {
    // JFIF, XMP, ICC, then tables and the frame's header.
    for (const kind of kinds) expect(["e0", "e1", "e2", "db", "c0", "c2", "c4", "dd"]).toContain(kind);
    expect(parts.filter(({ type }) => type === "e1").length).toBe(1);
    expect(textOf("e1")).toContain(XMP_MAKER);
  }
  expect(Buffer.from(bytes).includes("LeakyCamera")).toBe(false);
  expect(dotsPerInch(parts, format)).toEqual([300, 300]);
}

/** The resolution as a printer's program reads it, across and down. */
function dotsPerInch(parts: Part[], format: ImageFormat): number[] {
  const partOf = (type: string) => parts.find((part) => part.type === type)?.data ?? Buffer.alloc(64);
  if (format === "png") {
    const data = partOf("pHYs");
    expect(data[8]).toBe(1);
    return [0, 4].map((at) => Math.round(data.readUInt32BE(at) * 0.0254));
  }
  if (format === "jpeg") {
    const data = partOf("e0");
    expect(data.toString("latin1", 0, 5)).toBe("JFIF\0");
    expect(data[7]).toBe(1);
    return [data.readUInt16BE(8), data.readUInt16BE(10)];
  }
  const tiff = partOf("EXIF");
  const entries = Array.from({ length: tiff.readUInt16LE(8) }, (_, i) => 10 + i * 12);
  const numberOf = (tag: number) =>
    tiff.readUInt32LE((entries.find((at) => tiff.readUInt16LE(at) === tag) ?? 0) + 8);
  expect(numberOf(0x0128)).toBe(2);
  return [0x011a, 0x011b].map(
    (tag) => tiff.readUInt32LE(numberOf(tag)) / tiff.readUInt32LE(numberOf(tag) + 4),
  );
}

describe("a finished picture", () => {
  test("the photo of these tests does name its maker", () => {
    expect(Buffer.from(withMakersMark(photo("unsplash_man.jpg"))).includes("LeakyCamera")).toBe(true);
  });

  for (const format of FORMATS) {
    test(`${format}: names cardpress and its colour space, and nothing of the photo's maker`, async () => {
      const { bytes } = await card.render({ card: cardInput({ format }), cutout, badge: null });
      expectOnlyOurs(bytes, format);
      if (format === "png") return;
      const icc = partsOf(bytes, format).find(({ type }) => type === (format === "webp" ? "ICCP" : "e2"));
      expect(icc?.data.toString("utf16le") + (icc?.data.toString("latin1") ?? "")).toMatch(/sRGB|RGB XYZ/);
    });

    test(`${format}: a placeholder says the same`, async () => {
      const { bytes } = await placeholder(512, 640, format);
      expectOnlyOurs(bytes, format);
      expect(await pixels.size(bytes)).toEqual({ width: 512, height: 640 });
    });

    test(`${format}: writing it leaves the pixels and the transparency alone`, async () => {
      const image = new Bun.Image((await placeholder(512, 512, "png")).bytes);
      if (format === "webp") image.webp({ quality: 80 });
      else if (format === "jpeg") image.jpeg({ quality: 80 });
      const before = await image.bytes();
      const difference = await pixels.compare(before, withMetadata(before, format));
      expect(difference.sameSize).toBe(true);
      expect(difference.largest).toBe(0);
    });
  }

  test("a WebP without an extended header gets one with its own size", async () => {
    for (const lossless of [true, false]) {
      const opaque = new Bun.Image(photo("coffee.png")).resize(640, 512, { fit: "fill" });
      const before = await (lossless ? opaque.webp({ lossless }) : opaque.webp({ quality: 60 })).bytes();
      expect(Buffer.from(before).toString("latin1", 12, 16)).toBe(lossless ? "VP8L" : "VP8 ");
      const after = withMetadata(before, "webp");
      const [head] = partsOf(after, "webp");
      expect(head?.data.readUIntLE(4, 3)).toBe(639);
      expect(head?.data.readUIntLE(7, 3)).toBe(511);
      expect((await pixels.compare(before, after)).largest).toBe(0);
    }
  });
});
