import { type Place, placeAt } from "../core/json-place.ts";

/** A problem in a template's file, with the remedy. */
export interface Fault extends Place {
  /** The file's path in the template's folder, such as `card.css`. */
  file: string;
  /** A template with an error makes no card; a warning probably is not what the designer intended. */
  severity: "error" | "warning";
  /** The kind of fault: a word for tools to sort by. */
  code: string;
  /** One sentence for the problem, then one for the remedy. */
  message: string;
}

/** A fault at an index of a file's text. */
export function faultAt(
  file: string,
  text: string,
  index: number,
  code: string,
  message: string,
  severity: Fault["severity"] = "error",
): Fault {
  return { file, ...placeAt(text, index), severity, code, message };
}

/** A fault as a line that editors and terminals can link to: `card.css:12:3: what is wrong`. */
export function faultLine({ file, line, column, message }: Fault, place = (name: string) => name): string {
  return `${place(file)}:${line}:${column}: ${message}`;
}

/** Sorted by file and position. */
export function sortFaults(faults: Fault[]): Fault[] {
  return faults.sort(
    (a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column,
  );
}

/** The closest known word, as `Did you mean "x"? `; empty when none is close. */
export function didYouMean(word: string, known: Iterable<string>): string {
  let best = "";
  let least = Math.max(1, Math.floor(word.length / 2.5)) + 1;
  for (const each of known) {
    const steps = distance(word, each);
    if (steps < least) [best, least] = [each, steps];
  }
  return best === "" ? "" : `Did you mean "${best}"? `;
}

/** Edit distance between two words (Levenshtein, 1965). */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}
