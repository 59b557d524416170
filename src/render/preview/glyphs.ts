import { brotliDecompressSync, inflateSync } from "node:zlib";

import { FONT_LIBRARY_CSS } from "../fonts/fonts.ts";

// Reads which characters a font has from its own table, since the browser does not distinguish empty boxes
// from letters.

/** A `@font-face` rule as the page sees it. */
export interface FontFace {
  family: string;
  /** The address of its file: `/library/…` for bundled families, `fonts/…` for the template's own. */
  source: string;
  /** Its unicode-range; empty when it has none. */
  range: string;
}

let library: FontFace[] | undefined;

/** The bundled families. */
export function libraryFaces(): FontFace[] {
  const of = (rule: string, name: string) => new RegExp(`${name}:\\s*([^;}]+)`).exec(rule)?.[1]?.trim() ?? "";
  library ??= FONT_LIBRARY_CSS.split("@font-face")
    .slice(1)
    .map((rule) => ({
      family: of(rule, "font-family").replace(/^["']|["']$/g, ""),
      source: "/library/",
      range: of(rule, "unicode-range"),
    }));
  return library;
}

type Covers = (codePoint: number) => boolean;

/** Joiners, direction marks, variation selectors, tags: invisible, so fonts need no glyph for them. */
const UNSEEN = /\p{White_Space}|\p{Cc}|\p{Cf}|\p{Cs}|\p{Variation_Selector}/u;

/**
 * The characters of `text` for which none of its families has a glyph.
 * @param files the template's files, by their path in its folder
 */
export function missingCharacters(
  text: string,
  families: readonly string[],
  faces: readonly FontFace[],
  files: ReadonlyMap<string, Uint8Array>,
): string[] {
  const wanted = new Set(families.map((family) => family.toLowerCase()));
  const covers = faces
    .filter((face) => wanted.has(face.family.toLowerCase()))
    .map((face) => coverageOf(face, files));
  const characters = new Set([...text].filter((character) => !UNSEEN.test(character)));
  return [...characters].filter((character) => {
    const codePoint = character.codePointAt(0) ?? 0;
    return !covers.some((has) => has(codePoint));
  });
}

function coverageOf({ source, range }: FontFace, files: ReadonlyMap<string, Uint8Array>): Covers {
  const inRange = rangeOf(range);
  if (source.includes("/library/")) return inRange;
  const at = source.indexOf("fonts/");
  const bytes = at < 0 ? undefined : files.get(source.slice(at));
  if (!bytes) return () => false;
  const has = characterMap(bytes);
  return (codePoint) => inRange(codePoint) && has(codePoint);
}

/** Parsed unicode-ranges: the bundled fonts have about a thousand, and each is long. */
const ranges = new Map<string, Covers>();

function rangeOf(range: string): Covers {
  const known = ranges.get(range) ?? readRange(range);
  ranges.set(range, known);
  return known;
}

function readRange(range: string): Covers {
  const parts = [...range.matchAll(/U\+([0-9a-f?]+)(?:-([0-9a-f]+))?/gi)].map(([, first = "0", last]) => [
    Number.parseInt(first.replaceAll("?", "0"), 16),
    Number.parseInt(last ?? first.replaceAll("?", "f"), 16),
  ]);
  if (parts.length === 0) return () => true;
  return (codePoint) => parts.some(([first = 0, last = 0]) => first <= codePoint && codePoint <= last);
}

const maps = new WeakMap<Uint8Array, Covers>();

/** The characters of a TrueType, OpenType, WOFF or WOFF2 file; none when the file cannot be read. */
export function characterMap(bytes: Uint8Array): Covers {
  const known = maps.get(bytes);
  if (known) return known;
  let covers: Covers = () => false;
  try {
    covers = readMap(tableOf(bytes));
  } catch {
    // A damaged font is reported by the page, which cannot load it.
  }
  maps.set(bytes, covers);
  return covers;
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const tagOf = (bytes: Uint8Array, at: number) => new TextDecoder().decode(bytes.subarray(at, at + 4));

/** The bytes of the font's `cmap` table. */
function tableOf(bytes: Uint8Array): Uint8Array {
  const kind = tagOf(bytes, 0);
  if (kind === "wOF2") return tableOfWoff2(bytes);
  const view = viewOf(bytes);
  const isWoff = kind === "wOFF";
  const [first, step] = isWoff ? [44, 20] : [12, 16];
  const count = view.getUint16(isWoff ? 12 : 4);
  for (let at = first; at < first + count * step; at += step) {
    if (tagOf(bytes, at) !== "cmap") continue;
    if (!isWoff)
      return bytes.subarray(view.getUint32(at + 8), view.getUint32(at + 8) + view.getUint32(at + 12));
    const [offset, packed, length] = [
      view.getUint32(at + 4),
      view.getUint32(at + 8),
      view.getUint32(at + 12),
    ];
    const table = bytes.subarray(offset, offset + packed);
    return packed < length ? inflateSync(table) : table;
  }
  throw new Error("the font has no cmap table");
}

/** W3C "WOFF File Format 2.0", 4.1: the known-table indexes used here. */
const WOFF2_CMAP = 0;
const WOFF2_GLYF = 10;
const WOFF2_LOCA = 11;
const WOFF2_OWN_TAG = 63;

function tableOfWoff2(bytes: Uint8Array): Uint8Array {
  const view = viewOf(bytes);
  const count = view.getUint16(12);
  let at = 48;
  const base128 = () => {
    for (let value = 0; ; ) {
      const byte = view.getUint8(at++);
      value = value * 128 + (byte & 127);
      if (byte < 128) return value;
    }
  };
  let offset = 0;
  let found: { offset: number; length: number } | undefined;
  for (let n = 0; n < count; n++) {
    const flags = view.getUint8(at++);
    const tag = flags & 63;
    const transform = flags >> 6;
    const name = tag === WOFF2_OWN_TAG ? tagOf(bytes, at) : "";
    if (tag === WOFF2_OWN_TAG) at += 4;
    const length = base128();
    // glyf and loca are transformed unless marked otherwise, all other tables only when marked.
    const isTransformed = tag === WOFF2_GLYF || tag === WOFF2_LOCA ? transform !== 3 : transform !== 0;
    const stored = isTransformed ? base128() : length;
    if (tag === WOFF2_CMAP || name === "cmap") found = { offset, length: stored };
    offset += stored;
  }
  if (!found) throw new Error("the font has no cmap table");
  const data = brotliDecompressSync(bytes.subarray(at, at + view.getUint32(20)));
  return data.subarray(found.offset, found.offset + found.length);
}

/** OpenType 1.9, cmap: formats 4 and 12; every current font has one of them. */
function readMap(table: Uint8Array): Covers {
  const view = viewOf(table);
  const readers: Covers[] = [];
  for (let n = 0; n < view.getUint16(2); n++) {
    const at = view.getUint32(4 + n * 8 + 4);
    const format = view.getUint16(at);
    if (format === 4) readers.push(format4(view, at));
    if (format === 12) readers.push(format12(view, at));
  }
  return (codePoint) => readers.some((has) => has(codePoint));
}

function format4(view: DataView, at: number): Covers {
  const doubled = view.getUint16(at + 6);
  const [ends, starts] = [at + 14, at + 16 + doubled];
  const [deltas, offsets] = [starts + doubled, starts + 2 * doubled];
  return (codePoint) => {
    if (codePoint > 0xffff) return false;
    for (let i = 0; i < doubled; i += 2) {
      if (codePoint > view.getUint16(ends + i)) continue;
      const start = view.getUint16(starts + i);
      if (codePoint < start) return false;
      const offset = view.getUint16(offsets + i);
      if (offset === 0) return ((codePoint + view.getUint16(deltas + i)) & 0xffff) !== 0;
      return view.getUint16(offsets + i + offset + 2 * (codePoint - start)) !== 0;
    }
    return false;
  };
}

function format12(view: DataView, at: number): Covers {
  const count = view.getUint32(at + 12);
  return (codePoint) => {
    for (let i = 0; i < count; i++) {
      const group = at + 16 + i * 12;
      if (codePoint < view.getUint32(group)) return false;
      if (codePoint <= view.getUint32(group + 4)) return view.getUint32(group + 8) + codePoint !== 0;
    }
    return false;
  };
}
