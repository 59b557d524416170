import Papa from "papaparse";
import { Refusal } from "../../core/errors.ts";
import { MAX_BATCH_CARDS } from "../../core/limits.ts";
import {
  MAX_LIST_BYTES,
  MAX_LIST_CELL_CHARS,
  MAX_LIST_COLUMN,
  MAX_LIST_COLUMNS,
  MAX_LIST_LINES,
} from "../../core/list-limits.ts";
import { columnName, type ListRow, type SquadList } from "./squad-list.ts";
import { isArchive, workbookRows } from "./workbook.ts";

// Whatever a stranger uploads comes here, so it runs in a process of its own, which list-worker.ts starts.

const refuse = (message: string) => new Refusal("INVALID_REQUEST", message);

/**
 * Parses a squad list from a CSV file or the first sheet of an Excel workbook. Throws INVALID_REQUEST that
 * says what to do.
 */
export async function parseSquadList(bytes: Uint8Array): Promise<SquadList> {
  if (bytes.length === 0) throw refuse("The file is empty. Choose a CSV file or an Excel workbook (.xlsx).");
  const filled = new FilledRows();
  if (isArchive(bytes)) for (const row of await workbookRows(bytes)) filled.add(row);
  else addCsvRows(textOf(bytes), filled);
  return tidy(filled);
}

/** The rows with something in them, as few as a batch can have and the headings. */
class FilledRows {
  readonly rows: ListRow[] = [];
  /** All of them, also those that are not kept. */
  count = 0;
  #lines = 0;

  add(row: readonly string[]): void {
    this.#lines += 1;
    if (this.#lines > MAX_LIST_LINES)
      throw refuse(
        `The list has more than ${MAX_LIST_LINES} rows. Delete the empty ones below the last player.`,
      );
    if (row.length > MAX_LIST_COLUMN)
      throw refuse(
        `Row ${this.#lines} has ${row.length} columns, and a list may have ${MAX_LIST_COLUMNS}. Delete those that no card needs.`,
      );
    const cells = row.map(clean);
    if (cells.every((cell) => cell === "")) return;
    this.count += 1;
    if (this.rows.length <= MAX_BATCH_CARDS) this.rows.push({ line: this.#lines, cells });
  }
}

/** The Excel format before 2007, also used for workbooks with a password. */
const isOldWorkbook = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, 4)).toString("hex") === "d0cf11e0";

/**
 * Decodes a CSV file: UTF-8 or UTF-16 according to its byte order mark, else UTF-8 if it is valid, else
 * Windows-1252, the encoding of Windows programs in western Europe. Throws when it is not text.
 */
function textOf(bytes: Uint8Array): string {
  if (isOldWorkbook(bytes))
    throw refuse("This is an old or protected Excel file. Save it as .xlsx without a password, or as CSV.");
  const [first, second] = bytes;
  const marked =
    first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff && "utf-16be";
  const text = marked ? new TextDecoder(marked).decode(bytes) : utf8(bytes);
  if (text.includes("\0"))
    throw refuse("The file is not text. Choose a CSV file or an Excel workbook (.xlsx).");
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
 * Splits rows at the separator that fits: comma, semicolon, tab or bar. A first line `sep=;`, as Excel writes
 * it, decides. Row by row, so that the first one too many ends it.
 */
function addCsvRows(text: string, filled: FilledRows): void {
  const declared = /^sep=(.)\r?\n/i.exec(text);
  const rest = declared ? text.slice(declared[0].length) : text;
  let at = 0;
  Papa.parse<string[]>(rest, {
    delimiter: declared?.[1] ?? separatorOf(rest),
    step: ({ data, errors }) => {
      at += 1;
      if (errors.some(({ type }) => type === "Quotes"))
        throw refuse(
          `Row ${at} has a quotation mark that is not closed, or text behind a closed one. Write a quotation mark inside a cell twice.`,
        );
      filled.add(data);
    },
  });
}

const SEPARATORS = [",", ";", "\t", "|"] as const;

/** The separator most frequent in the first non-empty line, outside quotation marks. */
function separatorOf(text: string): string {
  const line = /[^\r\n]*\S[^\r\n]*/.exec(text.slice(0, MAX_LIST_CELL_CHARS))?.[0] ?? "";
  const bare = line.replaceAll(/"[^"]*"/g, "");
  const times = (separator: string) => bare.split(separator).length;
  return SEPARATORS.reduce<string>((most, each) => (times(each) > times(most) ? each : most), ",");
}

/** Removes empty columns, and refuses what is no list of players. */
function tidy({ rows, count }: FilledRows): SquadList {
  const [head, ...players] = rows;
  if (!head)
    throw refuse("The list is empty. Its first row names the columns, and each further row is a player.");
  if (head.cells.some((cell) => /^https?:/i.test(cell)))
    throw refuse("The first row is a player already. Put a row above it that names the columns.");
  if (players.length === 0)
    throw refuse("The list has the names of its columns but no players. Each row below them is one.");
  if (count - 1 > MAX_BATCH_CARDS)
    throw refuse(
      `The list has ${count - 1} players, and a squad has at most ${MAX_BATCH_CARDS}. Split it into several files.`,
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
  refuseLongCells({ columns: list.columns, rows: [{ line: head.line, cells: list.columns }, ...list.rows] });
  return list;
}

function refuseLongCells({ columns, rows }: SquadList): void {
  let chars = 0;
  for (const { line, cells } of rows) {
    const at = cells.findIndex((cell) => cell.length > MAX_LIST_CELL_CHARS);
    if (at >= 0) {
      const name =
        (columns[at]?.length ?? 0) > MAX_LIST_CELL_CHARS ? `column ${at + 1}` : columnName(columns, at);
      throw refuse(
        `Row ${line}, ${name}, has ${cells[at]?.length} characters, more than any cell of a squad list. Look for a quotation mark that is not closed.`,
      );
    }
    for (const cell of cells) chars += cell.length;
  }
  // A workbook may name one long text in every cell.
  if (chars > MAX_LIST_BYTES)
    throw refuse("The list has more text than the cards of a squad. Delete the columns that no card needs.");
}

/**
 * A cell's text without what is invisible: surrounding spaces and invisible characters. Spreadsheets store
 * text that looks like a formula with a leading apostrophe, which is not part of it.
 */
function clean(cell: string): string {
  // Refused for its length; cleaning it, perhaps in each of thousands of cells, would only take time.
  if (cell.length > 16 * MAX_LIST_CELL_CHARS) return cell;
  const text = cell
    .replaceAll(/[\u200b\ufeff]/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return /^'[=+\-@]/.test(text) ? text.slice(1) : text;
}
