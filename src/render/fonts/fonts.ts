import { readFileSync } from "node:fs";
import type { PageFile } from "../browser/browser.ts";
import { ALL } from "./all.ts";

/** One subset of a bundled family: where its bytes are and the rule that names its characters. */
export interface FontFile {
  name: string;
  path: string;
  css: string;
}

const byName = new Map(ALL.map((file) => [file.name, file]));

/** The @font-face rules of every bundled family; a page loads only the subsets that its text needs. */
export const FONT_LIBRARY_CSS = ALL.map((file) => file.css).join("\n");

/** Answers "/library/<file>" from the bundled fonts; reads the file only when a page asks for it. */
export function fontLibraryFile(path: string): PageFile | undefined {
  const file = byName.get(path.slice("/library/".length));
  return file && { body: readFileSync(file.path), contentType: "font/woff2" };
}

/** The scripts of names that the bundled fonts draw whole, for people. */
export const DRAWABLE_SCRIPTS =
  "Latin, Cyrillic, Greek, Armenian, Georgian, Hebrew, Arabic, Devanagari, Bengali, Gurmukhi, Gujarati, Tamil, Telugu, Kannada, Malayalam, Sinhala, Thai, Lao, Burmese, Khmer, Ethiopic, Chinese, Japanese, Korean";

let ranges: [first: number, last: number][] | undefined;

/** Whether some bundled font declares the code point, so that it is never drawn as an empty box. */
export function isDrawable(codePoint: number): boolean {
  ranges ??= ALL.flatMap((file) =>
    [...file.css.matchAll(/U\+([0-9a-f]+)(?:-([0-9a-f]+))?/gi)].map(
      ([, first, last]) =>
        [Number.parseInt(first ?? "0", 16), Number.parseInt(last ?? first ?? "0", 16)] as [number, number],
    ),
  ).sort((a, b) => a[0] - b[0]);
  return ranges.some(([first, last]) => first <= codePoint && codePoint <= last);
}
