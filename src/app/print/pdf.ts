import { SRGB_PROFILE } from "../../render/card/formats/srgb-profile.ts";

/** A place on a page in points (1/72 inch), from the lower left corner. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** A picture and its sides in pixels. */
export interface Picture {
  /** A JPEG file: in sRGB, or in CMYK of which 255 is full ink. */
  bytes: Uint8Array;
  colour: "rgb" | "cmyk";
  width: number;
  height: number;
  /** Where foil goes, as a zlib stream of rows of bits; a set one is foil. */
  foil?: Uint8Array | null;
}

/** A picture on a page. */
export interface Placed extends Picture {
  /** Where the whole picture lies, upright; turned ones fill the same place. */
  at: Rect;
  /** What of it is shown. */
  clip: Rect;
  /** How often it is turned by 90 degrees clockwise. */
  quarters: 0 | 1 | 3;
}

/** For what press the file's inks are. */
export interface OutputIntent {
  /** An ICC profile of four inks, and its own name for itself. */
  profile: Uint8Array;
  name: string;
  standard: PdfxStandard;
}

/** PDF/X-4 (ISO 15930-7), or the older PDF/X-1a:2003 (ISO 15930-4) that some printers insist on. */
export type PdfxStandard = "pdfx_4" | "pdfx_1a";

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
  /** With it the file is PDF/X, and its pictures are in that press's inks. */
  intent?: OutputIntent;
  /** The printer's name for the spot colour of foil; undefined: there is none in the file. */
  foil?: string | undefined;
}

/**
 * ISO 15930-4 allows versions up to 1.4. Nothing here needs more than 1.3, which has no transparency at all,
 * and which the strictest programs ask for.
 */
const PDFX_1A_VERSION = "1.3";
const VERSION = "1.6";

/** 0.25 points is the thinnest line that every press holds. */
const MARKS = "0.25 w 0 G";
const CATALOG = 1;
const PAGES = 2;
const INFO = 3;
const PROFILE = 4;
const METADATA = 5;

/**
 * The pages as a PDF file, piece by piece: a page's pictures are forgotten once they are written, so that
 * a deck takes no more memory than its largest page.
 *
 * ISO 32000-1: 7.5 file structure, 8.9.5 images, 14.11.2 page boundaries, 14.11.5 output intents.
 */
export async function* pdfOf(pages: AsyncIterable<Page>, info: PdfInfo): AsyncGenerator<Uint8Array> {
  const file = fileWriter();
  const { counted, object } = file;
  const { intent } = info;
  const isX1a = intent?.standard === "pdfx_1a";
  // The bytes above 127 in the second line tell programs that the file is not text.
  yield counted(`%PDF-${isX1a ? PDFX_1A_VERSION : VERSION}\n%\xe2\xe3\xcf\xd3\n`);
  const profile = intent?.profile ?? SRGB_PROFILE;
  yield object(CATALOG, `<< /Type /Catalog /Pages ${PAGES} 0 R${intent ? intended(intent) : ""} >>`);
  yield object(PROFILE, `<< /N ${intent ? 4 : 3} /Length ${profile.length} >>`, profile);
  if (intent && !isX1a) {
    const described = Buffer.from(metadata(info));
    const head = `<< /Type /Metadata /Subtype /XML /Length ${described.length} >>`;
    yield object(file.next(), head, described);
  }
  const spot = info.foil === undefined ? null : { colour: file.next(), over: file.next() };
  if (spot) {
    yield object(spot.colour, separation(info.foil ?? ""));
    yield object(spot.over, "<< /Type /ExtGState /OP true /op true /OPM 1 >>");
  }
  const kids: number[] = [];
  for await (const page of pages) kids.push(yield* pageObjects(page, file, spot));
  yield object(
    PAGES,
    `<< /Type /Pages /Count ${kids.length} /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] >>`,
  );
  const date = `(D:${dateOf(info).replace(/\D/g, "")}Z)`;
  yield object(
    INFO,
    `<< /Title ${text(info.title)} /Producer ${text(info.producer)} /CreationDate ${date} /ModDate ${date} /Trapped /False${isX1a ? " /GTS_PDFXVersion (PDF/X-1a:2003)" : ""} >>`,
  );
  yield file.end(`/Root ${CATALOG} 0 R /Info ${INFO} 0 R /ID [<${info.id}> <${info.id}>]`);
}

/** Numbers the file's objects and counts where each begins. */
function fileWriter() {
  const offsets: number[] = [];
  let length = 0;
  let next = PROFILE + 1;
  const counted = (part: Uint8Array | string) => {
    const bytes = typeof part === "string" ? Buffer.from(part, "latin1") : part;
    length += bytes.length;
    return bytes;
  };
  return {
    counted,
    next: () => next++,
    object: (number: number, dictionary: string, stream?: Uint8Array): Uint8Array => {
      offsets[number] = length;
      const head = `${number} 0 obj\n${dictionary}\n`;
      if (!stream) return counted(`${head}endobj\n`);
      return counted(
        Buffer.concat([Buffer.from(`${head}stream\n`), stream, Buffer.from("\nendstream\nendobj\n")]),
      );
    },
    /** The table of all objects, and what says where it is. */
    end: (trailer: string): Uint8Array => {
      const from = length;
      const entries = Array.from({ length: next }, (_, number) =>
        number === 0 ? "0000000000 65535 f \n" : `${String(offsets[number]).padStart(10, "0")} 00000 n \n`,
      );
      return counted(
        `xref\n0 ${next}\n${entries.join("")}trailer\n<< /Size ${next} ${trailer} >>\nstartxref\n${from}\n%%EOF\n`,
      );
    },
  };
}

/** The spot colour of foil and what lets it overprint, by their objects' numbers. */
interface Spot {
  colour: number;
  over: number;
}

/** A page with its pictures; returns its own object's number. */
function* pageObjects(
  page: Page,
  { object, next }: ReturnType<typeof fileWriter>,
  spot: Spot | null,
): Generator<Uint8Array, number> {
  const named: string[] = [];
  for (const [n, picture] of page.pictures.entries()) {
    const number = next();
    yield object(number, imageDictionary(picture), picture.bytes);
    named.push(`/P${n} ${number} 0 R`);
  }
  let foiled = "";
  for (const [n, picture] of page.pictures.entries()) {
    if (!spot || !picture.foil) continue;
    const number = next();
    yield object(number, stencilDictionary(picture), picture.foil);
    named.push(`/F${n} ${number} 0 R`);
    foiled = ` /ColorSpace << /Foil ${spot.colour} 0 R >> /ExtGState << /Over ${spot.over} 0 R >>`;
  }
  const [contents, own] = [next(), next()];
  const drawn = Buffer.from(drawing(page, spot !== null), "latin1");
  yield object(contents, `<< /Length ${drawn.length} >>`, drawn);
  yield object(
    own,
    `<< /Type /Page /Parent ${PAGES} 0 R /MediaBox ${box(mediaOf(page))} /BleedBox ${box(page.bleed)} /TrimBox ${box(page.trim)} /Resources << /XObject << ${named.join(" ")} >>${foiled} >> /Contents ${contents} 0 R >>`,
  );
  return own;
}

const mediaOf = ({ width, height }: Page): Rect => ({ x: 0, y: 0, width, height });

/** A thousandth of a point is a third of a micrometre. */
const number = (value: number) => String(Math.round(value * 1000) / 1000);

const numbers = (...values: number[]) => values.map(number).join(" ");

const box = ({ x, y, width, height }: Rect) => `[${numbers(x, y, x + width, y + height)}]`;

/** A text string: UTF-16 with its mark, in hexadecimal digits, which need no escapes. */
const text = (value: string) => `<feff${Buffer.from(value, "utf16le").swap16().toString("hex")}>`;

function imageDictionary({ bytes, colour, width, height }: Placed): string {
  // PDF/X wants the press's own colours by their plain name, and the profile once, in the output intent.
  const space = colour === "cmyk" ? "/DeviceCMYK" : `[/ICCBased ${PROFILE} 0 R]`;
  return `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${height} /BitsPerComponent 8 /ColorSpace ${space} /Filter /DCTDecode /Length ${bytes.length} >>`;
}

/** Where a set bit is, the colour at hand is painted, and nowhere else. */
const stencilDictionary = ({ width, height, foil }: Placed) =>
  `<< /Type /XObject /Subtype /Image /ImageMask true /Width ${width} /Height ${height} /BitsPerComponent 1 /Decode [1 0] /Filter /FlateDecode /Length ${foil?.length ?? 0} >>`;

/** A plate of its own. Programs without it show something like gold. */
const separation = (name: string) =>
  `[/Separation /${name.replaceAll(" ", "#20")} /DeviceCMYK << /FunctionType 2 /Domain [0 1] /C0 [0 0 0 0] /C1 [0.1 0.25 0.7 0.1] /N 1 >>]`;

/** To the second, as ISO 8601 without its zone. */
const dateOf = ({ createdAt }: PdfInfo) => new Date(createdAt).toISOString().slice(0, 19);

/** What the catalogue says of the press. */
function intended({ name, standard }: OutputIntent): string {
  const condition = text(name || "Custom");
  // PDF/X-1a says all that in Info: its PDF knows no metadata.
  const described = standard === "pdfx_1a" ? "" : ` /Metadata ${METADATA} 0 R`;
  return `${described} /OutputIntents [<< /Type /OutputIntent /S /GTS_PDFX /OutputConditionIdentifier ${condition} /Info ${condition} /DestOutputProfile ${PROFILE} 0 R >>]`;
}

const XML_ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** What PDF/X-4 (ISO 15930-7, 6.8) wants to be known of a file, as XMP; equal to what its Info says. */
function metadata(info: PdfInfo): string {
  const xml = (value: string) => value.replace(/[&<>]/g, (sign) => XML_ESCAPES[sign] as string);
  const date = `${dateOf(info)}Z`;
  return `<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:pdfxid="http://www.npes.org/pdfx/ns/id/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:xmpMM="http://ns.adobe.com/xap/1.0/mm/" xmlns:dc="http://purl.org/dc/elements/1.1/">
<pdfxid:GTS_PDFXVersion>PDF/X-4</pdfxid:GTS_PDFXVersion>
<pdf:Producer>${xml(info.producer)}</pdf:Producer><pdf:Trapped>False</pdf:Trapped>
<xmp:CreateDate>${date}</xmp:CreateDate><xmp:ModifyDate>${date}</xmp:ModifyDate><xmp:MetadataDate>${date}</xmp:MetadataDate>
<xmpMM:DocumentID>uuid:${info.id}</xmpMM:DocumentID><xmpMM:RenditionClass>default</xmpMM:RenditionClass><xmpMM:VersionID>1</xmpMM:VersionID>
<dc:format>application/pdf</dc:format>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">${xml(info.title)}</rdf:li></rdf:Alt></dc:title>
</rdf:Description></rdf:RDF></x:xmpmeta>
<?xpacket end="r"?>`;
}

/** What is drawn on a page, in PDF's own words: foil over all that is under it, which stays in its inks. */
function drawing({ pictures, marks }: Page, isFoiled: boolean): string {
  const draw = ({ at, clip, quarters }: Placed, name: string, state = "") =>
    `q ${numbers(clip.x, clip.y, clip.width, clip.height)} re W n ${state}${numbers(...matrix(at, quarters))} cm /${name} Do Q`;
  const shown = pictures.map((picture, n) => draw(picture, `P${n}`));
  if (isFoiled)
    shown.push(
      ...pictures.flatMap((picture, n) =>
        picture.foil ? [draw(picture, `F${n}`, "/Over gs /Foil cs 1 scn ")] : [],
      ),
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
