export type SourceContentType = "image/jpeg" | "image/png" | "image/webp";

export interface ImageFacts {
  contentType: SourceContentType;
  /** Pixels, after EXIF orientation. */
  width: number;
  height: number;
}

/** Why bytes are unusable as a picture: a sentence or two with the remedy, for the partner. */
export class UnusableImageError extends Error {
  override name = "UnusableImageError";
  /** What is wrong with it, as a photo. */
  readonly reason: "photo_undecodable" | "photo_too_large" | "photo_too_small";

  constructor(message: string, options: ErrorOptions & { reason?: UnusableImageError["reason"] } = {}) {
    super(message, options);
    this.reason = options.reason ?? "photo_undecodable";
  }
}

export interface ImageLimits {
  minSidePx: number;
  maxPixels: number;
  /** For JPEG: each scan makes the decoder visit all pixels again. */
  maxScans: number;
  /** Scans times pixels. */
  maxScanPixels: number;
}

const CONVERT = "Convert it to JPEG, PNG or WebP.";

/** What another file type is by its first bytes, with the remedy when it is not conversion. */
const FOREIGN_FORMATS: { name: string; starts: string; remedy?: string }[] = [
  { name: "a GIF", starts: "GIF8" },
  { name: "a BMP", starts: "BM" },
  { name: "a TIFF or a camera's raw file", starts: "II*\0" },
  { name: "a TIFF or a camera's raw file", starts: "MM\0*" },
  { name: "a Photoshop file", starts: "8BPS" },
  { name: "a JPEG XL", starts: "\xff\x0a" },
  { name: "a JPEG XL", starts: "\0\0\0\x0cJXL " },
  { name: "a JPEG 2000", starts: "\0\0\0\x0cjP  " },
  { name: "an icon", starts: "\0\0\x01\0" },
  { name: "a PDF", starts: "%PDF", remedy: "Export the picture as JPEG, PNG or WebP." },
  { name: "a ZIP archive", starts: "PK\x03\x04", remedy: "Give the address of the picture inside it." },
  { name: "gzip-compressed", starts: "\x1f\x8b", remedy: "Serve the picture uncompressed." },
];
const AVIF_BRANDS = /^avi[fs]/;
const HEIC_BRANDS = /^(hei|hev|mif1|msf1)/;

/**
 * Identifies a picture by its content, reading only headers and block lengths: nothing is decoded, 15 MB take
 * a few milliseconds. Throws UnusableImageError for other formats, sizes outside `limits`, truncated files,
 * and animated WebP, which the decoder cannot open.
 */
export async function checkImage(bytes: Uint8Array, limits: ImageLimits): Promise<ImageFacts> {
  const contentType = recognise(bytes);
  const { width, height } = await readSize(bytes);
  checkSize(width, height, limits);
  const jpegProblem = () => scanProblem(bytes, width * height, limits);
  const problem = { "image/jpeg": jpegProblem, "image/png": pngProblem, "image/webp": webpProblem }[
    contentType
  ];
  const found = problem(bytes);
  if (found !== undefined) throw new UnusableImageError(found);
  return { contentType, width, height };
}

/**
 * Decodes a whole picture off this thread. Throws UnusableImageError when that fails: the browser would fail
 * too.
 */
export async function checkDecodes(bytes: Uint8Array): Promise<void> {
  try {
    await new Bun.Image(bytes).resize(1, 1).png().bytes();
  } catch (cause) {
    throw new UnusableImageError(DAMAGED, { cause });
  }
}

function recognise(bytes: Uint8Array): SourceContentType {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString("latin1");
  if (start.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (start.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (start.startsWith("RIFF") && start.slice(8, 12) === "WEBP") return "image/webp";
  throw new UnusableImageError(describeForeign(start));
}

function describeForeign(start: string): string {
  if (start === "") return "It is empty. Check that it opens as a picture.";
  const text = start
    .replace(/^\xef\xbb\xbf/, "")
    .trimStart()
    .toLowerCase();
  if (/^<(!doctype html|html|head|body|script)/.test(text)) {
    return "It is a web page, not a picture. Give the picture itself, and check that its address needs no login.";
  }
  if (/<svg[\s/>]/.test(text)) {
    return "It is an SVG; JPEG, PNG or WebP is needed. Export it as PNG.";
  }
  if (start.slice(4, 8) === "ftyp") {
    const brand = start.slice(8, 12);
    const name = AVIF_BRANDS.test(brand) ? "an AVIF" : HEIC_BRANDS.test(brand) ? "a HEIC" : "a video";
    const remedy = name === "a video" ? "Use a photo as JPEG, PNG or WebP." : CONVERT;
    return `It is ${name}; JPEG, PNG or WebP is needed. ${remedy}`;
  }
  const foreign = FOREIGN_FORMATS.find(({ starts }) => start.startsWith(starts));
  if (foreign) return `It is ${foreign.name}; JPEG, PNG or WebP is needed. ${foreign.remedy ?? CONVERT}`;
  if (/^[{[<]/.test(text)) {
    return "It is text, not a picture. Give the picture itself.";
  }
  return `It is not a JPEG, PNG or WebP, whatever its name says. ${CONVERT}`;
}

async function readSize(bytes: Uint8Array): Promise<{ width: number; height: number }> {
  try {
    return await new Bun.Image(bytes, { maxPixels: Number.MAX_SAFE_INTEGER }).metadata();
  } catch (cause) {
    throw new UnusableImageError(
      "Its header is damaged or claims an impossible size. Export it again as JPEG, PNG or WebP.",
      { cause },
    );
  }
}

function checkSize(width: number, height: number, { minSidePx, maxPixels }: ImageLimits): void {
  if (width * height > maxPixels) {
    const megapixels = Math.ceil(width * height * 1e-5) / 10;
    throw new UnusableImageError(
      `It has ${width} x ${height} pixels (${megapixels} megapixels); the limit is ${maxPixels / 1e6} megapixels. Make it smaller.`,
      { reason: "photo_too_large" },
    );
  }
  if (Math.min(width, height) < minSidePx) {
    throw new UnusableImageError(
      `It has ${width} x ${height} pixels; at least ${minSidePx} are needed on the short side. Use a larger original.`,
      { reason: "photo_too_small" },
    );
  }
}

const CUT_OFF = "It breaks off before its end. Upload it again, whole.";
const DAMAGED = "It is damaged inside. Export it again as JPEG, PNG or WebP.";

/** Walks the segments (ITU-T T.81, annex B): complete means that an end marker follows the last scan. */
function scanProblem(bytes: Uint8Array, pixels: number, limits: ImageLimits): string | undefined {
  let at = 2;
  let scans = 0;
  while (at + 1 < bytes.length) {
    if (bytes[at] !== 0xff) {
      // Coded data, which is nearly all of the file: the search is native code.
      const next = bytes.indexOf(0xff, at);
      if (next < 0) break;
      at = next;
      continue;
    }
    const marker = bytes[at + 1] ?? 0;
    // Its stuffed, fill and restart bytes, up to the next segment.
    if (marker === 0x00 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 1;
      continue;
    }
    if (marker === 0xd9) return undefined;
    if (marker === 0xda && ++scans > limits.maxScans) {
      return `It is a JPEG of more than ${limits.maxScans} scans. Export it again.`;
    }
    if (marker === 0xda && scans * pixels > limits.maxScanPixels) {
      return `It is a JPEG of ${scans} or more scans, too many for its size. Export it again as a baseline JPEG.`;
    }
    at += 2 + ((bytes[at + 2] ?? 0) << 8) + (bytes[at + 3] ?? 0);
  }
  return CUT_OFF;
}

/** Chunk types, four letters each. */
const PNG_IDAT = 0x49444154;
const PNG_IEND = 0x49454e44;

/** Walks the chunks (PNG, section 5.3): complete means that IEND follows image data. */
function pngProblem(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let hasData = false;
  for (let at = 8; at + 12 <= bytes.length; at += 12 + view.getUint32(at)) {
    const type = view.getUint32(at + 4);
    if (type === PNG_IEND) return hasData ? undefined : DAMAGED;
    hasData ||= type === PNG_IDAT;
  }
  return CUT_OFF;
}

/** RIFF declares its own length; the extended header's second bit marks animation (RFC 9649, section 2.7). */
function webpProblem(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (8 + view.getUint32(4, true) > bytes.length) return CUT_OFF;
  const isExtended = String.fromCharCode(...bytes.subarray(12, 16)) === "VP8X";
  const isAnimated = isExtended && ((bytes[20] ?? 0) & 0x02) !== 0;
  return isAnimated ? "It is an animated WebP. Use a still picture." : undefined;
}
