import type { ImageFormat } from "./card.ts";

/** What a finished card may be as a file. */
interface PictureFormat {
  contentType: string;
  /** Of the file's name, without the dot. */
  extension: string;
  /** What the renderer draws it as; anything else is made of that. */
  drawnAs: ImageFormat;
}

export const PDF = "application/pdf";

/** The formats of finished cards, by the names partners use. */
export const PICTURE_FORMATS = {
  png: { contentType: "image/png", extension: "png", drawnAs: "png" },
  webp: { contentType: "image/webp", extension: "webp", drawnAs: "webp" },
  jpeg: { contentType: "image/jpeg", extension: "jpg", drawnAs: "jpeg" },
  "webp-animated": { contentType: "image/webp", extension: "webp", drawnAs: "webp-animated" },
  webm: { contentType: "video/webm", extension: "webm", drawnAs: "webm" },
  /** Only where the operator named an encoder. */
  mp4: { contentType: "video/mp4", extension: "mp4", drawnAs: "mp4" },
  /** Both sides of the card as pages for its printer. */
  pdf: { contentType: PDF, extension: "pdf", drawnAs: "png" },
} as const satisfies Record<string, PictureFormat>;

export type PictureFormatName = keyof typeof PICTURE_FORMATS;

export const PICTURE_FORMAT_NAMES = Object.keys(PICTURE_FORMATS) as PictureFormatName[];

const formats: readonly PictureFormat[] = Object.values(PICTURE_FORMATS);

/** Of finished cards, each once. */
export const PICTURE_CONTENT_TYPES = [...new Set(formats.map(({ contentType }) => contentType))];

/** The formats of a service: with videos as MP4 only where it has an encoder for them. */
export const formatsOf = ({ mp4Encoder }: { mp4Encoder: string | undefined }): PictureFormatName[] =>
  PICTURE_FORMAT_NAMES.filter((name) => name !== "mp4" || mp4Encoder !== undefined);

/** Whether files of this type are videos, which no `<img>` shows. */
export const isVideoType = (contentType: string | null): boolean =>
  contentType?.startsWith("video/") ?? false;

const EXTENSIONS = [...new Set(formats.map(({ extension }) => extension))];

/** What the file of a finished card is called, as the source of a regular expression. */
export const PICTURE_NAME = `img_[0-9A-Za-z]+-[0-9A-Za-z]+\\.(?:${EXTENSIONS.join("|")})`;
