import { constants } from "node:fs";
import { lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { MAX_TEMPLATE_BYTES, MAX_TEMPLATE_FILE_BYTES, MAX_TEMPLATE_FILES } from "../core/limits.ts";
import { MANIFEST_FILE } from "./manifest.ts";

/** A file of a template's folder that cannot be used. */
export class TemplateFileError extends OperatorError {
  constructor(
    dir: string,
    /** Its path in the folder; null when the folder as a whole is at fault. */
    readonly file: string | null,
    /** What is wrong with it, and the remedy. */
    readonly fault: string,
  ) {
    super(`${file === null ? dir : join(dir, file)} ${fault}`);
  }

  static link(dir: string, file: string): TemplateFileError {
    const fault = "is a link, and a template holds only files of its own. Put a copy of the file there.";
    return new TemplateFileError(dir, file, fault);
  }
}

/** A template's files by path in its folder, such as `fonts/own.woff2`. */
export type TemplateFiles = ReadonlyMap<string, Uint8Array>;

/** Files that every template has. */
const OWN_FILES = [MANIFEST_FILE, "card.html", "card.css"] as const;
/** Those of the card's other side, which a template has both of or neither. */
export const BACK_FILES = ["back.html", "back.css"] as const;
/** Folders whose files, at any depth, also belong to the card. */
export const OWN_FOLDERS = ["assets", "fonts"] as const;

/** What a card may show, by file extension, with its content type. */
export const CONTENT_TYPES: Readonly<Record<string, string>> = {
  svg: "image/svg+xml",
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  avif: "image/avif",
  woff2: "font/woff2",
  woff: "font/woff",
  ttf: "font/ttf",
  otf: "font/otf",
};

/** The lower-case extension of a file name. */
export const endingOf = (name: string): string => name.slice(name.lastIndexOf(".") + 1).toLowerCase();

/**
 * Reads a template's folder. Links are not followed, because they could lead anywhere. Throws a
 * TemplateFileError that names the file and the remedy.
 */
export async function readTemplateFolder(dir: string): Promise<TemplateFiles> {
  const files = new Map<string, Uint8Array>();
  let total = 0;
  // Sequentially, so that of several broken files always the same one is reported.
  for (const name of [...OWN_FILES, ...(await ownNames(dir))]) {
    const isOwn = (OWN_FILES as readonly string[]).includes(name);
    const bytes = await readOwnFile(dir, name, isOwn ? MISSING_OWN : undefined);
    files.set(name, bytes);
    total += bytes.length;
    if (total > MAX_TEMPLATE_BYTES)
      throw new TemplateFileError(
        dir,
        null,
        `holds more than ${mib(MAX_TEMPLATE_BYTES)} MB for its card. Shrink its pictures, or subset its fonts.`,
      );
  }
  return files;
}

/**
 * A fingerprint that tells whether a folder's template may have changed, without reading its contents: from
 * its files' times, sizes and inode numbers. An unreadable folder has a fixed fingerprint.
 */
export async function folderStamp(dir: string): Promise<string> {
  const names = [...OWN_FILES, ...(await ownNames(dir).catch(() => []))];
  const marks = await Promise.all(
    names.map(async (name) => {
      const info = await lstat(join(dir, name)).catch(() => null);
      return [name, info?.ino, info?.size, info?.mtimeMs, info?.ctimeMs];
    }),
  );
  return JSON.stringify(marks);
}

/**
 * The digest of a template's files. Lengths are included, so that the end of one file cannot pass for the
 * beginning of the next.
 */
export function digestOf(files: TemplateFiles): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hasher.update(`${name}\n${bytes.length}\n`).update(bytes);
  return hasher.digest("hex");
}

/**
 * The files of the other side, and those in the own folders that a card can show, sorted. What editors and
 * systems leave lying there is passed over.
 */
async function ownNames(dir: string): Promise<string[]> {
  const names: string[] = [];
  for (const name of BACK_FILES) if (await lstat(join(dir, name)).catch(() => null)) names.push(name);
  const look = async (folder: string): Promise<void> => {
    for (const entry of await readdir(join(dir, folder), { withFileTypes: true }).catch(() => [])) {
      const name = `${folder}/${entry.name}`;
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) await look(name);
      else if (endingOf(entry.name) in CONTENT_TYPES) names.push(name);
      if (names.length > MAX_TEMPLATE_FILES)
        throw new TemplateFileError(
          dir,
          null,
          `holds more than ${MAX_TEMPLATE_FILES} files for its card. Move what it does not show out of ${OWN_FOLDERS.join(" and ")}.`,
        );
    }
  };
  for (const folder of OWN_FOLDERS) {
    await ownFolder(dir, folder);
    await look(folder);
  }
  return names.sort();
}

/** The path of a folder in a template's, there or not yet. Throws a TemplateFileError for a link. */
export async function ownFolder(dir: string, name: string): Promise<string> {
  const folder = join(dir, name);
  if ((await lstat(folder).catch(() => null))?.isSymbolicLink()) throw TemplateFileError.link(dir, name);
  return folder;
}

const MISSING_OWN = "cannot be read. A template folder holds template.json, card.html and card.css.";

/**
 * Reads a file of a template's folder, unless it is a link, too large or no file at all. Throws a
 * TemplateFileError.
 * @param missing what is wrong, and the remedy, when the file is not there
 */
export async function readOwnFile(
  dir: string,
  name: string,
  missing = "is not there any more.",
): Promise<Uint8Array> {
  const refused = (fault: string) => new TemplateFileError(dir, name, fault);
  // A pipe without a writer would otherwise be waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(join(dir, name), flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ELOOP") throw TemplateFileError.link(dir, name);
    if (error.code === "ENOENT") throw refused(missing);
    throw refused(`cannot be read: ${error.message}. Correct its permissions, or remove it.`);
  });
  try {
    const info = await file.stat();
    if (!info.isFile()) throw refused("cannot be read: it is not a file. Remove it.");
    if (info.size > MAX_TEMPLATE_FILE_BYTES) {
      const isShown = OWN_FOLDERS.some((folder) => name.startsWith(`${folder}/`));
      const remedy = isShown ? "Shrink the picture, or subset the font." : "Make it smaller.";
      throw refused(
        `has ${mib(info.size)} MB; a file of a template may have at most ${mib(MAX_TEMPLATE_FILE_BYTES)}. ${remedy}`,
      );
    }
    return new Uint8Array(await file.readFile());
  } finally {
    await file.close();
  }
}

const mib = (bytes: number) => Math.ceil(bytes / 1024 / 1024);
