import { inflateRawSync } from "node:zlib";
import { zipSync } from "fflate";
import { readSheet } from "read-excel-file/universal";
import { Refusal } from "../../core/errors.ts";
import {
  MAX_LIST_COLUMN,
  MAX_LIST_LINES,
  MAX_LIST_UNPACKED_BYTES,
  MAX_WORKBOOK_FILES,
} from "../../core/list-limits.ts";

const refuse = (message: string, cause?: unknown) => new Refusal("INVALID_REQUEST", message, { cause });

export const isArchive = (bytes: Uint8Array) => bytes[0] === 0x50 && bytes[1] === 0x4b;

/**
 * The cells of a workbook's first sheet as displayed, formulas as their results. Throws INVALID_REQUEST for
 * what is no workbook, and for one that unpacks or spreads to more than a squad list.
 */
export async function workbookRows(bytes: Uint8Array): Promise<string[][]> {
  try {
    // The reader unpacks by itself and trusts the sizes that an archive declares, so it gets one of ours.
    const archive = zipSync(unpack(bytes), { level: 0 });
    const rows = await readSheet(archive.buffer as ArrayBuffer);
    return rows.map((row) => row.map(cellText));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw refuse(
      "The Excel workbook cannot be read. Save it again as .xlsx, or save the sheet as CSV.",
      error,
    );
  }
}

type Files = Record<string, Uint8Array>;

const WORKBOOK = "xl/workbook.xml";
const LINKS = "xl/_rels/workbook.xml.rels";
const SHEET = /^xl\/worksheets\//;
/** Texts, formats and what is where; not themes, pictures, comments and whatever else a workbook holds. */
const READ_FILE = /^xl\/(?!theme|drawing|chart|comment|externalLink|pivot).*\.(xml|rels)$/i;

/**
 * Unpacks what a reader of the first sheet asks for, and makes sure that the sheet is no larger than a list.
 */
function unpack(bytes: Uint8Array): Files {
  const archive = directoryOf(bytes);
  const files: Files = {};
  let left = MAX_LIST_UNPACKED_BYTES;
  const take = (name: string) => {
    files[name] = unpackEntry(archive, name, left);
    left -= files[name].length;
  };
  const names = [...archive.entries.keys()].filter((name) => READ_FILE.test(name));
  for (const name of names.filter((name) => !SHEET.test(name))) take(name);
  for (const name of firstSheet(files, names)) {
    if (!files[name]) take(name);
    refuseWideSheet(Buffer.from(files[name] ?? []).toString());
  }
  return files;
}

/** The sheet that is read, or all of them where the workbook says it in an unusual way. */
function firstSheet(files: Files, names: string[]): string[] {
  const textOf = (name: string) => Buffer.from(files[name] ?? []).toString();
  const [, id] = /<(?:\w+:)?sheet\b[^>]*?\w+:id\s*=\s*"([^"]*)"/.exec(textOf(WORKBOOK)) ?? [];
  for (const [link] of textOf(LINKS).matchAll(/<(?:\w+:)?Relationship\b[^>]*>/g)) {
    const [, linkId] = /\bId\s*=\s*"([^"]*)"/.exec(link) ?? [];
    const [, target = ""] = /\bTarget\s*=\s*"([^"]*)"/.exec(link) ?? [];
    const name = target.startsWith("/") ? target.slice(1) : `xl/${target}`;
    if (id !== undefined && linkId === id && names.includes(name)) return [name];
  }
  return names.filter((name) => SHEET.test(name));
}

/** The rows of Excel's sheets. Some programs write the last one, empty, to give all rows a height. */
const SHEET_ROWS = 1_048_576;
/** A cell that is not closed at once, and its place: those without a value are left out by the reader. */
const VALUE_CELL = /<(?:\w+:)?c\b[^>]*?\br\s*=\s*["']([^"']*)["'](?![^>]*\/>)[^>]*>(?!\s*<\/(?:\w+:)?c>)/g;

/**
 * Refuses a sheet with a value far from any list: the reader makes all cells up to the last column in all
 * rows up to the last one.
 */
function refuseWideSheet(text: string): void {
  for (const [, row = ""] of text.matchAll(/<(?:\w+:)?row\b[^>]*?\br\s*=\s*["']([^"']*)/g))
    if (!(Number(row) <= SHEET_ROWS)) throw farAway(`row ${row}`);
  for (const [, cell = ""] of text.matchAll(VALUE_CELL)) {
    const [, letters = "", row = ""] = /^([A-Z]{1,3})(\d{1,7})$/.exec(cell) ?? [];
    const column = [...letters].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0);
    if (letters === "" || column > MAX_LIST_COLUMN || Number(row) > MAX_LIST_LINES) throw farAway(cell);
  }
}

const farAway = (place: string) =>
  refuse(
    `The sheet has something in ${place.slice(0, 20)}, far from any squad list. Copy the squad's cells into a workbook of their own.`,
  );

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  // A date without a time of day, which is how sheets store dates.
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, "");
  return String(value);
}

/** Where the parts of a ZIP archive's directory lie, from its specification (APPNOTE.TXT 4.3). */
const END = { signature: 0x06054b50, bytes: 22, entries: 10, offset: 16 } as const;
const ENTRY = {
  signature: 0x02014b50,
  bytes: 46,
  method: 10,
  packed: 20,
  name: 28,
  extra: 30,
  comment: 32,
  offset: 42,
} as const;
const LOCAL = { signature: 0x04034b50, bytes: 30, name: 26, extra: 28 } as const;
const STORED = 0;
const DEFLATED = 8;
const MAX_ARCHIVE_COMMENT_BYTES = 65_535;

interface Archive {
  view: Buffer;
  /** Where each file's entry lies in the directory. */
  entries: Map<string, number>;
}

function directoryOf(bytes: Uint8Array): Archive {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = endOf(view);
  const count = view.readUInt16LE(end + END.entries);
  if (count > MAX_WORKBOOK_FILES) throw tooLarge();
  const entries = new Map<string, number>();
  let at = view.readUInt32LE(end + END.offset);
  for (let entry = 0; entry < count; entry++) {
    if (view.readUInt32LE(at) !== ENTRY.signature) throw new Error("no entry where the directory has one");
    const name = at + ENTRY.bytes;
    const extra = name + view.readUInt16LE(at + ENTRY.name);
    entries.set(view.toString("utf8", name, extra), at);
    at = extra + view.readUInt16LE(at + ENTRY.extra) + view.readUInt16LE(at + ENTRY.comment);
  }
  return { view, entries };
}

/** The directory's end lies at the archive's, behind which only a comment may follow. */
function endOf(view: Buffer): number {
  const first = Math.max(0, view.length - END.bytes - MAX_ARCHIVE_COMMENT_BYTES);
  for (let at = view.length - END.bytes; at >= first; at--)
    if (view.readUInt32LE(at) === END.signature) return at;
  throw new Error("no end of the directory");
}

/** What counts is how much really comes out: the sizes that an archive declares are its sender's words. */
function unpackEntry({ view, entries }: Archive, name: string, maxBytes: number): Uint8Array {
  const entry = entries.get(name) ?? 0;
  const local = view.readUInt32LE(entry + ENTRY.offset);
  if (view.readUInt32LE(local) !== LOCAL.signature) throw new Error("no file where the directory has one");
  const start =
    local + LOCAL.bytes + view.readUInt16LE(local + LOCAL.name) + view.readUInt16LE(local + LOCAL.extra);
  const packed = view.subarray(start, start + view.readUInt32LE(entry + ENTRY.packed));
  const method = view.readUInt16LE(entry + ENTRY.method);
  if (method !== STORED && method !== DEFLATED) throw new Error(`packed by method ${method}`);
  if (maxBytes === 0 || (method === STORED && packed.length > maxBytes)) throw tooLarge();
  if (method === STORED) return packed;
  try {
    return inflateRawSync(packed, { maxOutputLength: maxBytes });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE" ? tooLarge() : error;
  }
}

const tooLarge = () =>
  refuse("The Excel workbook is too large unpacked. Copy the squad's cells into a workbook of their own.");
