import { readFileSync } from "node:fs";
import type { PageFile } from "../browser/browser.ts";
import { ALL } from "./all.ts";

const byName = new Map(ALL.map((file) => [file.name, file]));

/** The @font-face rules of all bundled families; a page loads only the subsets its text needs. */
export const FONT_LIBRARY_CSS = ALL.map((file) => file.css).join("\n");

/** Answers "/library/<file>" with a bundled font; reads the file only when a page asks for it. */
export function fontLibraryFile(path: string): PageFile | undefined {
  const file = byName.get(path.slice("/library/".length));
  return file && { body: readFileSync(file.path), contentType: "font/woff2" };
}

/** The scripts of names that the bundled fonts draw completely, in words for users. */
export const DRAWABLE_SCRIPTS =
  "Latin, Cyrillic, Greek, Armenian, Georgian, Hebrew, Arabic, Devanagari, Bengali, Gurmukhi, Gujarati, Tamil, Telugu, Kannada, Malayalam, Sinhala, Thai, Lao, Burmese, Khmer, Ethiopic, Chinese, Japanese, Korean";

let ranges: [first: number, last: number][] | undefined;

/** Whether a bundled font covers the code point, so that it is never drawn as an empty box. */
export function isDrawable(codePoint: number): boolean {
  ranges ??= ALL.flatMap((file) =>
    [...file.css.matchAll(/U\+([0-9a-f]+)(?:-([0-9a-f]+))?/gi)].map(
      ([, first, last]) =>
        [Number.parseInt(first ?? "0", 16), Number.parseInt(last ?? first ?? "0", 16)] as [number, number],
    ),
  ).sort((a, b) => a[0] - b[0]);
  return ranges.some(([first, last]) => first <= codePoint && codePoint <= last);
}
