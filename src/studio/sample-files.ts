import { mkdir, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { sha256 } from "../core/sha256.ts";
import { writeWhole } from "../system/write-whole.ts";
import { ownFolder, readOwnFile, TemplateFileError } from "../templates/files.ts";
import { testBadge, testBadgeOf } from "./test-badges.ts";

// A template may come from somebody else: neither a name in a sample nor a link leads out of its folder.

const FOLDER = "samples";

/** A file that a sample names, or a badge drawn in its place. */
export interface PictureFile {
  path: string;
  sha256: string;
}

export interface SampleText {
  name: string;
  text: string;
  /** Why the file could not be read; null when it was. */
  problem: string | null;
}

/** Where a template's samples lie. Throws a TemplateFileError when that is a link. */
export const samplesFolder = (dir: string): Promise<string> => ownFolder(dir, FOLDER);

/** The names of what lies in the samples folder, sorted. */
export async function sampleFileNames(dir: string): Promise<string[]> {
  const names = await readdir(await samplesFolder(dir)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    const fault = `cannot be read: ${error.message}. Correct its permissions, or remove it.`;
    throw new TemplateFileError(dir, FOLDER, fault);
  });
  return names.sort();
}

/** The samples in a template's folder, by name. */
export async function readSamples(dir: string): Promise<SampleText[]> {
  const files = (await sampleFileNames(dir)).filter((name) => name.endsWith(".json"));
  return Promise.all(
    files.map(async (file) => {
      const name = file.slice(0, -".json".length);
      try {
        const text = new TextDecoder().decode(await readOwnFile(dir, `${FOLDER}/${file}`));
        return { name, text, problem: null };
      } catch (error) {
        if (!(error instanceof TemplateFileError)) throw error;
        return { name, text: "", problem: error.fault };
      }
    }),
  );
}

/** The name of a file in the samples folder itself; null where a sample gives none. */
export function photoName(value: unknown, field: string): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string" || basename(value) !== value || value.startsWith("."))
    throw new OperatorError(`${field} must be the name of a file in the samples folder, such as player.jpg.`);
  return value;
}

/** As for a photo, or the name of a badge that the studio draws. */
export function pictureName(value: unknown, field: string): string | null {
  return typeof value === "string" && testBadgeOf(value) ? value : photoName(value, field);
}

/** `dir` is the template's folder, `scratch` the one for what is drawn. */
interface Folders {
  dir: string;
  scratch: string;
}

/** A sample's photo, if it names one. Throws an OperatorError when it is not there. */
export async function photoFile(dir: string, name: string | null): Promise<PictureFile | null> {
  return name === null ? null : sampleFile(dir, name);
}

/** A sample's badge, if it names one. */
export async function badgeFile(folders: Folders, name: string | null): Promise<PictureFile | null> {
  return name === null ? null : pictureFile(folders, name);
}

/** The pictures among a sample's fields, by the fields' names. */
export async function pictureFiles(
  folders: Folders,
  names: Record<string, string>,
): Promise<Record<string, PictureFile>> {
  const files = Object.entries(names).map(
    async ([field, name]) => [field, await pictureFile(folders, name)] as const,
  );
  return Object.fromEntries(await Promise.all(files));
}

async function pictureFile({ dir, scratch }: Folders, name: string): Promise<PictureFile> {
  const badge = testBadgeOf(name);
  if (!badge) return sampleFile(dir, name);
  const bytes = testBadge(badge);
  const hash = sha256(bytes);
  const path = join(scratch, `${hash}.png`);
  await mkdir(scratch, { recursive: true });
  await writeWhole(path, bytes);
  return { path, sha256: hash };
}

/** A file in the samples folder. Throws an OperatorError when it is not there. */
export async function sampleFile(dir: string, name: string): Promise<PictureFile> {
  const missing = "is named in the sample and is not there. Put the file into the samples folder.";
  const bytes = await readOwnFile(dir, `${FOLDER}/${name}`, missing).catch((error) => {
    // The reader has the sample before them, and knows its folder.
    if (error instanceof TemplateFileError) throw new OperatorError(`${error.file} ${error.fault}`);
    throw error;
  });
  return { path: join(dir, FOLDER, name), sha256: sha256(bytes) };
}
