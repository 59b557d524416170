import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { PICTURE_NAME } from "../../../core/picture-formats.ts";

// The contents and layout of a backup: like a data folder, with the manifest as its first file.

export const MANIFEST = "manifest.json";
export const FORMAT = "cardpress-backup";
/**
 * Increased when older programs could no longer read the format. Since 2 a file may be a link to one before
 * it; 3 is for those without photos and pictures, which are in a bucket.
 */
export const FORMAT_VERSION = 3;
export const FORMAT_WITH_FILES = 2;
/** A real one is half a kilobyte. */
export const MAX_MANIFEST_BYTES = 64 * 1024;

const Count = Type.Integer({ minimum: 0 });

const Manifest = Type.Object({
  format: Type.Literal(FORMAT),
  format_version: Type.Integer({ minimum: 1 }),
  /** The version of the program that wrote it. */
  cardpress: Type.String(),
  /** The commit of that program, where it knew it; absent from those that did not tell. */
  commit: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  /** The newest migration in its database. */
  schema: Type.String(),
  /** When the database was copied, ISO 8601 in UTC. */
  created_at: Type.String(),
  secrets: Type.Boolean(),
  templates: Type.Boolean(),
  counts: Type.Object({
    accounts: Count,
    images: Count,
    unfinished: Count,
    ledger_entries: Count,
    pictures: Count,
  }),
  /** An upper bound: pictures may have expired while it was written. */
  files: Count,
});
export type Manifest = Static<typeof Manifest>;

const manifest = TypeCompiler.Compile(Manifest);

/** Undefined when it is not one of our manifests. */
export function parseManifest(text: string): Manifest | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return manifest.Check(value) && !Number.isNaN(Date.parse(value.created_at)) ? value : undefined;
  } catch {
    return undefined;
  }
}

export const DATABASE = "cardpress.db";
export const SECRET_KEY = "secret.key";
export const BUCKET_NOTE = "bucket.json";
export const TEMPLATES = "templates";

/**
 * One segment of a template's path: not hidden, not leading elsewhere, and representable in the checksum
 * file.
 */
const TEMPLATE_PART = /^(?!\.)[^/\\\p{Cc}]{1,255}$/u;

export function isTemplatePart(name: string): boolean {
  return TEMPLATE_PART.test(name);
}

const PICTURE = new RegExp(`^images/[0-9a-z]{2}/${PICTURE_NAME}$`);
const PLACES = [
  /^cardpress\.db$/,
  /^secret\.key$/,
  /^bucket\.json$/,
  /^sources\/[0-9a-f]{2}\/[0-9a-f]{64}$/,
  /^template-files\/[0-9a-f]{2}\/[0-9a-f]{64}$/,
  PICTURE,
];

/** Whether a backup may contain a file of this name; anything else could escape the folder. */
export function isPlace(name: string): boolean {
  const [folder, ...parts] = name.split("/");
  if (folder === TEMPLATES) return parts.length > 0 && parts.every(isTemplatePart);
  return PLACES.some((place) => place.test(name));
}

/** Whether a backup may contain a file of this name as a link to another: pictures never change. */
export function mayLink(name: string, to: string): boolean {
  return PICTURE.test(name) && PICTURE.test(to);
}
