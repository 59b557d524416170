import { PRINT_SIZES, printSizeOf } from "../../core/print-sizes.ts";
import { BUILD } from "../../version.ts";
import { type Face, facePage } from "./imposition.ts";
import { type Page, pdfOf } from "./pdf.ts";

/** Nothing of it is visible on paper: a card then takes a third of the bytes of the least lossy JPEG. */
const JPEG_QUALITY = 95;

/** A picture as PDF shows it in sRGB. */
export async function rgbFace(picture: Uint8Array): Promise<Face> {
  const { format, width, height } = await new Bun.Image(picture).metadata();
  const bytes =
    format === "jpeg" ? picture : await new Bun.Image(picture).jpeg({ quality: JPEG_QUALITY }).bytes();
  return { bytes, colour: "rgb", width, height };
}

/**
 * A card as the file its printer takes: a page for each side, with its cut and its bleed. The same pictures
 * give the same bytes. Throws when a picture is in no print size.
 */
export async function cardPdf(
  pictures: readonly Uint8Array[],
  { title, createdAt }: { title: string; createdAt: number },
): Promise<Uint8Array> {
  const id = new Bun.CryptoHasher("sha256");
  for (const picture of pictures) id.update(picture);
  const info = { title, createdAt, producer: `cardpress ${BUILD}`, id: id.digest("hex").slice(0, 32) };
  const parts: Uint8Array[] = [];
  for await (const part of pdfOf(pagesOf(pictures), info)) parts.push(part);
  return Buffer.concat(parts);
}

async function* pagesOf(pictures: readonly Uint8Array[]): AsyncGenerator<Page> {
  for (const picture of pictures) {
    const face = await rgbFace(picture);
    const size = printSizeOf(face);
    if (!size) throw new Error(`${face.width}x${face.height} pixels are not a print size`);
    yield facePage(face, PRINT_SIZES[size], { marks: false });
  }
}

const JPEG_STREAM = /\/Filter \/DCTDecode \/Length (\d+) >>\nstream\n/g;

/** The picture of a side of a card's PDF, as JPEG; undefined where there is no such side. */
export function sideOfPdf(file: Uint8Array, side: "front" | "back"): Uint8Array | undefined {
  // One character a byte: what lies between the pictures is ASCII.
  const text = Buffer.from(file.buffer, file.byteOffset, file.byteLength).toString("latin1");
  const pictures: Uint8Array[] = [];
  JPEG_STREAM.lastIndex = 0;
  for (let found = JPEG_STREAM.exec(text); found; found = JPEG_STREAM.exec(text)) {
    const from = found.index + found[0].length;
    pictures.push(file.subarray(from, from + Number(found[1])));
    // A picture's own bytes may look like anything.
    JPEG_STREAM.lastIndex = from + Number(found[1]);
  }
  return pictures[side === "front" ? 0 : 1];
}
