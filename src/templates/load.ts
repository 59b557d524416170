import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { OperatorError } from "../core/errors.ts";
import { MAX_TEMPLATE_FONT_BYTES } from "../core/limits.ts";
import { BUILT_IN, type TemplateFiles } from "./built-in.ts";
import { FONT_FAMILIES } from "./font-families.ts";
import { parseManifest, type TemplateManifest } from "./manifest.ts";

/** A template in memory: what a page needs to show it. */
export interface LoadedTemplate {
  manifest: TemplateManifest;
  html: string;
  css: string;
  /** The template's own fonts by file name, for `url(fonts/NAME)` in its style sheet. */
  fonts: ReadonlyMap<string, Uint8Array>;
  /** All that a card is made of. */
  files: TemplateFiles;
  /** SHA-256 of the files' names and bytes, as lower-case hex: the same for the same look, wherever the files lie. */
  digest: string;
}

/** Files that every template has. */
const OWN_FILES = ["template.json", "card.html", "card.css"] as const;
const FONTS = "fonts";
const FONT_FILES = new Set([".woff2", ".woff", ".ttf", ".otf"]);
const SLOTS = ["name", "skill", "position", "number"];
const PICTURES = ["player", "badge", "scene"];

/**
 * Loads a template from a folder (template.json, card.html, card.css, fonts/) or a built-in one by its name.
 * Throws an error that names the file, the place and the remedy.
 */
export async function loadTemplate(dirOrName: string): Promise<LoadedTemplate> {
  const place = (name: string) => join(dirOrName, name);
  const files = BUILT_IN.get(dirOrName) ?? (await readFolder(place));
  return assemble(files, place);
}

/**
 * Says whether a folder's template may have changed, without reading it: by its files' times, sizes and numbers on the
 * disk. One that cannot be looked at is as it cannot be.
 */
export async function folderStamp(dir: string): Promise<string> {
  const fonts = await fontNames(join(dir, FONTS));
  const marks = await Promise.all(
    [...OWN_FILES, ...fonts.map((name) => join(FONTS, name))].map(async (name) => {
      const info = await stat(join(dir, name)).catch(() => null);
      return [name, info?.ino, info?.size, info?.mtimeMs, info?.ctimeMs];
    }),
  );
  return JSON.stringify(marks);
}

/** The digest of a template's files. Lengths keep the end of one from passing for the beginning of the next. */
export function digestOf(files: TemplateFiles): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hasher.update(`${name}\n${bytes.length}\n`).update(bytes);
  return hasher.digest("hex");
}

async function readFolder(place: (name: string) => string): Promise<TemplateFiles> {
  // One after the other, so that of several broken files it is always the same one that is told.
  const files = new Map<string, Uint8Array>();
  for (const name of OWN_FILES) files.set(name, await readOwn(place(name)));
  for (const name of await fontNames(place(FONTS)))
    files.set(`${FONTS}/${name}`, await readFont(place(join(FONTS, name))));
  return files;
}

async function readOwn(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch {
    throw new OperatorError(
      `${path} cannot be read. A template folder holds template.json, card.html and card.css.`,
    );
  }
}

async function fontNames(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => []);
  return names.filter((name) => FONT_FILES.has(extname(name))).sort();
}

async function readFont(path: string): Promise<Uint8Array> {
  const bytes = await readFile(path).catch((error: Error) => {
    throw new OperatorError(
      `${path} cannot be read: ${error.message}. Correct its permissions, or remove it.`,
    );
  });
  if (bytes.length > MAX_TEMPLATE_FONT_BYTES)
    throw new OperatorError(
      `${path} has ${bytes.length} bytes; fonts may have at most ${MAX_TEMPLATE_FONT_BYTES}. Subset it.`,
    );
  return bytes;
}

function assemble(files: TemplateFiles, place: (name: string) => string): LoadedTemplate {
  const text = (name: (typeof OWN_FILES)[number]) => new TextDecoder().decode(files.get(name));
  const fonts = new Map(
    [...files]
      .filter(([name]) => name.startsWith(`${FONTS}/`))
      .map(([name, bytes]) => [name.slice(FONTS.length + 1), bytes]),
  );
  const manifest = parseManifest(text("template.json"), place("template.json"));
  const [html, css] = [text("card.html"), text("card.css")];
  checkPage(html, place("card.html"));
  checkFamilies(manifest, css, place);
  for (const [, file] of css.matchAll(/url\(["']?fonts\/([^"')]+)/g)) {
    if (file && !fonts.has(file))
      throw new OperatorError(
        `${place("card.css")} asks for fonts/${file}, which does not exist. Add it to ${place(FONTS)}.`,
      );
  }
  return { manifest, html, css, fonts, files, digest: digestOf(files) };
}

function checkPage(html: string, file: string): void {
  const wanted = [
    ...SLOTS.map((slot) => `data-slot="${slot}"`),
    ...PICTURES.map((name) => `data-picture="${name}"`),
  ];
  const missing = wanted.filter((attribute) => !html.includes(attribute));
  if (missing.length > 0)
    throw new OperatorError(`${file} has no element with ${missing.join(", ")}. Add one for each.`);
}

function checkFamilies({ fonts }: TemplateManifest, css: string, place: (name: string) => string): void {
  const own = new Set(
    [...css.matchAll(/@font-face\s*\{[^}]*font-family:\s*["']?([^;"']+)/g)].map((match) => match[1]?.trim()),
  );
  for (const family of fonts) {
    if (!FONT_FAMILIES.has(family) && !own.has(family))
      throw new OperatorError(
        `${place("template.json")} cannot be used. /fonts: "${family}" is neither bundled nor defined by an @font-face rule in ${place("card.css")}. Add the rule and the file under fonts/, or name a bundled family.`,
      );
  }
}
