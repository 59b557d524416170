import { SRGB_PROFILE } from "../../render/card/srgb-profile.ts";

/** A place on a page in points (1/72 inch), from the lower left corner. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A picture on a page. */
export interface Placed {
  /** Where the whole picture lies, upright; turned ones fill the same place. */
  at: Rect;
  /** What of it is shown. */
  clip: Rect;
  /** How often it is turned by 90 degrees clockwise. */
  quarters: 0 | 1 | 3;
  /** A JPEG file in sRGB and its sides in pixels. */
  jpeg: Uint8Array;
  width: number;
  height: number;
}

/** A line from one point to another, in points. */
export type Line = readonly [x1: number, y1: number, x2: number, y2: number];

export interface Page {
  width: number;
  height: number;
  /** What is left once the printer has cut, and what lies around it until then. */
  trim: Rect;
  bleed: Rect;
  pictures: Placed[];
  /** Where to cut, drawn hairline-thin outside of the bleed. */
  marks: readonly Line[];
}

export interface PdfInfo {
  title: string;
  producer: string;
  /** Epoch milliseconds. The same file has the same bytes, so that it says when its cards were made. */
  createdAt: number;
  /** What tells files apart, as 32 hexadecimal digits. */
  id: string;
}

/** 0.25 points is the thinnest line that every press holds. */
const MARKS = "0.25 w 0 G";
const CATALOG = 1;
const PAGES = 2;
const INFO = 3;
const PROFILE = 4;

/**
 * The pages as a PDF 1.6 file, piece by piece: a page's pictures are forgotten once they are written, so that
 * a deck takes no more memory than its largest page.
 *
 * ISO 32000-1: 7.5 file structure, 8.9.5 images, 14.11.2 page boundaries.
 */
export async function* pdfOf(pages: AsyncIterable<Page>, info: PdfInfo): AsyncGenerator<Uint8Array> {
  const offsets: number[] = [];
  let length = 0;
  const counted = (part: Uint8Array | string) => {
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    length += bytes.length;
    return bytes;
  };
  const object = (number: number, dictionary: string, stream?: Uint8Array): Uint8Array => {
    offsets[number] = length;
    const head = `${number} 0 obj\n${dictionary}\n`;
    if (!stream) return counted(`${head}endobj\n`);
    return counted(
      Buffer.concat([Buffer.from(`${head}stream\n`), stream, Buffer.from("\nendstream\nendobj\n")]),
    );
  };
  // The bytes above 127 in the second line tell programs that the file is not text.
  yield counted("%PDF-1.6\n%\xe2\xe3\xcf\xd3\n");
  yield object(CATALOG, `<< /Type /Catalog /Pages ${PAGES} 0 R >>`);
  yield object(PROFILE, `<< /N 3 /Length ${SRGB_PROFILE.length} >>`, SRGB_PROFILE);
  const kids: number[] = [];
  let next = PROFILE + 1;
  for await (const page of pages) {
    const pictures = page.pictures.map((picture) => ({ picture, number: next++ }));
    for (const { picture, number } of pictures) yield object(number, imageDictionary(picture), picture.jpeg);
    const [contents, own] = [next++, next++];
    const drawn = Buffer.from(drawing(page), "latin1");
    yield object(contents, `<< /Length ${drawn.length} >>`, drawn);
    const named = pictures.map(({ number }, n) => `/P${n} ${number} 0 R`).join(" ");
    yield object(
      own,
      `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox ${box(mediaOf(page))} /BleedBox ${box(page.bleed)} /TrimBox ${box(page.trim)} /Resources << /XObject << ${named} >> >> /Contents ${contents} 0 R >>`,
    );
    kids.push(own);
  }
  yield object(
    PAGES,
    `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`,
  );
  const date = `(D:${new Date(info.createdAt).toISOString().replace(/\D/g, "").slice(0, 14)}Z)`;
  yield object(
    INFO,
    `<< /Title ${text(info.title)} /Producer ${text(info.producer)} /CreationDate ${date} /ModDate ${date} /Trapped /False >>`,
  );
  const from = length;
  const entries = Array.from({ length: next }, (_, number) =>
    number === 0 ? "0000000000 65535 f \n" : `${String(offsets[number]).padStart(10, "0")} 00000 n \n`,
  );
  yield counted(
    `xref\n0 ${next}\n${entries.join("")}trailer\n<< /Size ${next} /Root ${CATALOG} 0 R /Info ${INFO} 0 R /ID [<${info.id}> <${info.id}>] >>\nstartxref\n${from}\n%%EOF\n`,
  );
}

const mediaOf = ({ width, height }: Page): Rect => ({ x: 0, y: 0, width, height });

/** A thousandth of a point is a third of a micrometre. */
const number = (value: number) => String(Math.round(value * 1000) / 1000);

const numbers = (...values: number[]) => values.map(number).join(" ");

const box = ({ x, y, width, height }: Rect) => `[${numbers(x, y, x + width, y + height)}]`;

/** A text string: UTF-16 with its mark, in hexadecimal digits, which need no escapes. */
const text = (value: string) => `<feff${Buffer.from(value, "utf16le").swap16().toString("hex")}>`;

const imageDictionary = ({ jpeg, width, height }: Placed) =>
  `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace [/ICCBased ${PROFILE} 0 R] /BitsPerComponent 8 /Filter /DCTDecode /Length ${jpeg.length} >>`;

/** What is drawn on a page, in PDF's own words. */
function drawing({ pictures, marks }: Page): string {
  const shown = pictures.map(
    ({ at, clip, quarters }, n) =>
      `q ${numbers(clip.x, clip.y, clip.width, clip.height)} re W n ${numbers(...matrix(at, quarters))} cm /P${n} Do Q`,
  );
  const lines = marks.map(([x1, y1, x2, y2]) => `${numbers(x1, y1)} m ${numbers(x2, y2)} l S`);
  return [...shown, ...(lines.length > 0 ? [MARKS, ...lines] : [])].join("\n");
}

/** What puts the unit square, which a picture fills, where the picture lies. */
function matrix({ x, y, width, height }: Rect, quarters: Placed["quarters"]): number[] {
  if (quarters === 1) return [0, -height, width, 0, x, y + height];
  if (quarters === 3) return [0, height, -width, 0, x + width, y];
  return [width, 0, 0, height, x, y];
}
