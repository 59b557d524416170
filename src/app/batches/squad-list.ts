import { unzipSync } from "fflate";
import Papa from "papaparse";
import { readSheet } from "read-excel-file/universal";
import { Refusal } from "../../core/errors.ts";
import {
  MAX_BATCH_CARDS,
  MAX_LIST_CELL_CHARS,
  MAX_LIST_COLUMNS,
  MAX_LIST_UNPACKED_BYTES,
} from "../../core/limits.ts";

/** A squad list as read: text only, without empty rows and columns. */
export interface SquadList {
  /** The columns' headings; "" for a column without one. */
  columns: string[];
  rows: ListRow[];
}

export interface ListRow {
  /** The row's number in the spreadsheet; the headings are usually in row 1. */
  line: number;
  /** One text per column. */
  cells: string[];
}

const refuse = (message: string, cause?: unknown) => new Refusal("INVALID_REQUEST", message, { cause });

/**
 * Reads a squad list from a CSV file or the first sheet of an Excel workbook. Throws INVALID_REQUEST that says what to
 * do.
 */
export async function readSquadList(bytes: Uint8Array): Promise<SquadList> {
  if (bytes.length === 0) throw refuse("The file is empty. Choose a CSV file or an Excel workbook (.xlsx).");
  const table = isZip(bytes) ? await workbookRows(bytes) : csvRows(textOf(bytes));
  return tidy(table);
}

const isZip = (bytes: Uint8Array) => bytes[0] === 0x50 && bytes[1] === 0x4b;
/** The Excel format before 2007, also used for workbooks with a password. */
const isOldWorkbook = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 4)).toString("hex") === "d0cf11e0";

/**
 * Decodes a CSV file: UTF-8 or UTF-16 according to its byte order mark, else UTF-8 if it is valid, else Windows-1252,
 * the encoding of Windows programs in western Europe. Throws when it is not text.
 */
function textOf(bytes: Uint8Array): string {
  if (isOldWorkbook(bytes))
    throw refuse("This is an old or protected Excel file. Save it as .xlsx without a password, or as CSV.");
  const [first, second] = bytes;
  const marked =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff && "utf-16be";
  const text = marked ? new TextDecoder(marked).decode(bytes) : utf8(bytes);
  if (text.includes("\0"))
    throw refuse("The file is no text. Choose a CSV file or an Excel workbook (.xlsx).");
  return text;
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/**
 * Splits rows at the separator that fits: comma, semicolon, tab or bar. A first line `sep=;`, as Excel writes it,
 * decides.
 */
function csvRows(text: string): string[][] {
  const told = /^sep=(.)\r?\n/i.exec(text);
  const rest = told ? text.slice(told[0].length) : text;
  const { data, errors } = Papa.parse<string[]>(rest, { delimiter: told?.[1] ?? separatorOf(rest) });
  const broken = errors.find(({ type }) => type === "Quotes");
  if (broken)
    throw refuse(
      `Row ${(broken.row ?? 0) + 1} has a quotation mark that is not closed, or text behind a closed one. Write a quotation mark inside a cell twice.`,
    );
  return data;
}

const SEPARATORS = [",", ";", "\t", "|"] as const;

/** The separator most frequent in the first non-empty line, outside quotation marks. */
function separatorOf(text: string): string {
  const line = /[^\r\n]*\S[^\r\n]*/.exec(text.slice(0, MAX_LIST_CELL_CHARS))?.[0] ?? "";
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const times = (separator: string) => bare.split(separator).length;
  return SEPARATORS.reduce<string>((most, each) => (times(each) > times(most) ? each : most), ",");
}

/** The cells of a workbook's first sheet as displayed, formulas as their results. */
async function workbookRows(bytes: Uint8Array): Promise<string[][]> {
  try {
    refuseBomb(bytes);
    const rows = await readSheet(bytes.slice().buffer as ArrayBuffer);
    return rows.map((row) => row.map(cellText));
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw refuse(
      "The Excel workbook cannot be read. Save it again as .xlsx, or save the sheet as CSV.",
      error,
    );
  }
}

/** Checks the sizes an archive declares before anything is unpacked; unpacking never exceeds them. */
function refuseBomb(bytes: Uint8Array): void {
  let total = 0;
  const add = (size: number) => {
    total += size;
    return false;
  };
  unzipSync(bytes, { filter: ({ originalSize }) => add(originalSize) });
  if (total > MAX_LIST_UNPACKED_BYTES)
    throw refuse(
      "The Excel workbook is too large unpacked. Copy the squad's cells into a workbook of their own.",
    );
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return "";
  // A date without a time of day, which is how sheets store dates.
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, "");
  return String(value);
}

/** Removes what is invisible: surrounding spaces, invisible characters, empty rows and empty columns. */
function tidy(table: string[][]): SquadList {
  const rows = table
    .map((cells, at) => ({ line: at + 1, cells: cells.map(clean) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ""));
  const [head, ...players] = rows;
  if (!head)
    throw refuse("The list is empty. Its first row names the columns, and each further row is a player.");
  if (head.cells.some((cell) => /^https?:/i.test(cell)))
    throw refuse("The first row is a player already. Put a row above it that names the columns.");
  if (players.length === 0)
    throw refuse("The list has the names of its columns but no players. Each row below them is one.");
  if (players.length > MAX_BATCH_CARDS)
    throw refuse(
      `The list has ${players.length} players, and a batch has at most ${MAX_BATCH_CARDS}. Split it into several files.`,
    );
  const width = Math.max(...rows.map(({ cells }) => cells.length));
  const used = Array.from({ length: width }, (_, at) => at).filter((at) =>
    rows.some(({ cells }) => cells[at]),
  );
  if (used.length > MAX_LIST_COLUMNS)
    throw refuse(
      `The list has ${used.length} columns, and may have ${MAX_LIST_COLUMNS}. Delete those that no card needs.`,
    );
  const pick = (cells: string[]) => used.map((at) => cells[at] ?? "");
  const list = {
    columns: pick(head.cells),
    rows: players.map(({ line, cells }) => ({ line, cells: pick(cells) })),
  };
  refuseLongCells(list);
  return list;
}

function refuseLongCells({ columns, rows }: SquadList): void {
  for (const { line, cells } of rows) {
    const at = cells.findIndex((cell) => cell.length > MAX_LIST_CELL_CHARS);
    if (at >= 0)
      throw refuse(
        `Row ${line}, ${columnName(columns, at)}, has ${cells[at]?.length} characters, more than any cell of a squad list. Look for a quotation mark that is not closed.`,
      );
  }
}

/** A column's heading, or its position when it has none. */
export function columnName(columns: string[], at: number): string {
  return columns[at] || `column ${at + 1}`;
}

/**
 * A cell's text. Spreadsheets store text that looks like a formula with a leading apostrophe, which is not part of it.
 */
function clean(cell: string): string {
  const text = cell
    .replaceAll(/[\u200b\ufeff]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /^'[=+\-@]/.test(text) ? text.slice(1) : text;
}
