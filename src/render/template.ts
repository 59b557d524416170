import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import cardCss from "../../templates/club_card/card.css" with { type: "text" };
import cardHtml from "../../templates/club_card/card.html" with { type: "text" };
import manifestJson from "../../templates/club_card/template.json" with { type: "text" };
import { OperatorError } from "../core/errors.ts";
import { parseManifest, type TemplateManifest } from "../core/template-manifest.ts";
import { FONT_LIBRARY_FAMILIES } from "./fonts.ts";

/** A template in memory: what a page needs to show it. */
export interface LoadedTemplate {
  manifest: TemplateManifest;
  html: string;
  css: string;
  /** The template's own fonts by file name, for `url(fonts/NAME)` in its style sheet. */
  fonts: ReadonlyMap<string, Uint8Array>;
  /** Of all of these: the same for the same look. */
  digest: string;
}

const BUILT_IN: Record<string, { manifest: string; html: string; css: string }> = {
  // `type: "text"` gives strings; TypeScript types .json and .html by their names.
  club_card: {
    manifest: manifestJson as unknown as string,
    html: cardHtml as unknown as string,
    css: cardCss,
  },
};

/** Templates that every cardpress carries. */
export const BUILT_IN_TEMPLATES = Object.keys(BUILT_IN);

/**
 * Says whether a template's files may have changed, without reading them: by their times, sizes and numbers on the disk.
 * A built-in one never does, and one that cannot be looked at is as it cannot be.
 */
export async function templateStamp(dirOrName: string): Promise<string> {
  if (BUILT_IN[dirOrName]) return "built in";
  const fonts = (await readdir(join(dirOrName, "fonts")).catch(() => [])).sort();
  const files = ["template.json", "card.html", "card.css", ...fonts.map((name) => join("fonts", name))];
  const marks = await Promise.all(
    files.map(async (name) => {
      const info = await stat(join(dirOrName, name)).catch(() => null);
      return [name, info?.ino, info?.size, info?.mtimeMs, info?.ctimeMs];
    }),
  );
  return JSON.stringify(marks);
}

const MAX_FONT_BYTES = 20 * 1024 * 1024;
const FONT_FILES = new Set([".woff2", ".woff", ".ttf", ".otf"]);
const SLOTS = ["name", "skill", "position", "number"];
const PICTURES = ["player", "badge", "scene"];

/**
 * Loads a template from a folder (template.json, card.html, card.css, fonts/) or a built-in one by its name.
 * Throws an error that names the file, the place and the remedy.
 */
export async function loadTemplate(dirOrName: string): Promise<LoadedTemplate> {
  const builtIn = BUILT_IN[dirOrName];
  if (builtIn) return assemble(builtIn, new Map(), (name) => `${dirOrName}/${name}`);
  const place = (name: string) => join(dirOrName, name);
  const [manifest, html, css] = await Promise.all(
    ["template.json", "card.html", "card.css"].map((name) => readText(place(name))),
  );
  return assemble(
    { manifest: manifest as string, html: html as string, css: css as string },
    await readFonts(place("fonts")),
    place,
  );
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    throw new OperatorError(
      `${path} cannot be read. A template folder holds template.json, card.html and card.css.`,
    );
  }
}

async function readFonts(dir: string): Promise<Map<string, Uint8Array>> {
  const names = await readdir(dir).catch(() => []);
  const fonts = new Map<string, Uint8Array>();
  for (const name of names.filter((entry) => FONT_FILES.has(extname(entry)))) {
    const bytes = await readFile(join(dir, name));
    if (bytes.length > MAX_FONT_BYTES)
      throw new OperatorError(
        `${join(dir, name)} has ${bytes.length} bytes; fonts may have at most ${MAX_FONT_BYTES}. Subset it.`,
      );
    fonts.set(name, bytes);
  }
  return fonts;
}

function assemble(
  text: { manifest: string; html: string; css: string },
  fonts: Map<string, Uint8Array>,
  place: (name: string) => string,
): LoadedTemplate {
  const manifest = parseManifest(text.manifest, place("template.json"));
  const missing = [
    ...SLOTS.filter((slot) => !text.html.includes(`data-slot="${slot}"`)).map(
      (slot) => `data-slot="${slot}"`,
    ),
    ...PICTURES.filter((name) => !text.html.includes(`data-picture="${name}"`)).map(
      (name) => `data-picture="${name}"`,
    ),
  ];
  if (missing.length > 0)
    throw new OperatorError(
      `${place("card.html")} has no element with ${missing.join(", ")}. Add one for each.`,
    );
  const own = new Set(
    [...text.css.matchAll(/@font-face\s*\{[^}]*font-family:\s*["']?([^;"']+)/g)].map((m) => m[1]?.trim()),
  );
  for (const family of manifest.fonts) {
    if (!FONT_LIBRARY_FAMILIES.has(family) && !own.has(family))
      throw new OperatorError(
        `${place("template.json")} cannot be used. /fonts: "${family}" is neither bundled nor defined by an @font-face rule in ${place("card.css")}. Add the rule and the file under fonts/, or name a bundled family.`,
      );
  }
  for (const [, file] of text.css.matchAll(/url\(["']?fonts\/([^"')]+)/g)) {
    if (file && !fonts.has(file))
      throw new OperatorError(
        `${place("card.css")} asks for fonts/${file}, which does not exist. Add it to ${place("fonts")}.`,
      );
  }
  return { manifest, html: text.html, css: text.css, fonts, digest: digestOf(text, fonts) };
}

function digestOf(text: Record<string, string>, fonts: Map<string, Uint8Array>): string {
  const hasher = new Bun.CryptoHasher("sha256");
  // The lengths keep the end of one file from passing for the beginning of the next.
  for (const [name, content] of [...Object.entries(text), ...fonts])
    hasher.update(`${name} ${content.length}\n`).update(content);
  return hasher.digest("hex");
}
