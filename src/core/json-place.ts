/** One JSON token (RFC 8259) with the white space before it: punctuation, a string, or a number or literal. */
const TOKEN =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
const SPACE = /[ \t\n\r]*/y;

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

/** A position in a text: line and column, counted from 1 in UTF-16 units as editors do. */
export interface Place {
  line: number;
  column: number;
}

/**
 * Where a text stops being JSON, such as "line 3, column 14"; undefined when it is valid. The engine's own parser
 * says what is wrong but not where.
 */
export function placeOfFault(text: string): string | undefined {
  const place = whereFaulty(text);
  return place && `line ${place.line}, column ${place.column}`;
}

/** The same, as numbers. */
export function whereFaulty(text: string): Place | undefined {
  const at = faultAt(text);
  return at === undefined ? undefined : placeAt(text, at);
}

/** The line and column of an index. */
export function placeAt(text: string, index: number): Place {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/**
 * Where each value of a JSON text begins, by JSON Pointer (RFC 6901) such as "/sizes/poster/0". The value of an
 * object member begins at its key, which is where an editor should jump. The text must be valid JSON.
 */
export function jsonPlaces(text: string): Map<string, number> {
  const places = new Map<string, number>();
  let at = 0;
  const token = (): [start: number, text: string] => {
    const start = skipSpace(text, at);
    TOKEN.lastIndex = at;
    TOKEN.exec(text);
    at = TOKEN.lastIndex;
    return [start, text.slice(start, at)];
  };
  const value = (pointer: string, begin?: number): void => {
    const [start, first] = token();
    places.set(pointer, begin ?? start);
    if (first !== "{" && first !== "[") return;
    const end = first === "{" ? "}" : "]";
    for (let index = 0; ; index++) {
      if (text[skipSpace(text, at)] === end) break;
      if (first === "[") value(`${pointer}/${index}`);
      else {
        const [keyStart, key] = token();
        token();
        value(`${pointer}/${JSON.parse(key).replaceAll("~", "~0").replaceAll("/", "~1")}`, keyStart);
      }
      if (text[skipSpace(text, at)] === ",") token();
    }
    token();
  };
  value("");
  return places;
}

/** The index of the first misplaced token. Keeps its own stack, because nesting may be deep. */
function faultAt(text: string): number | undefined {
  const open: ("{" | "[")[] = [];
  let expected: Expected = "value";
  for (let at = 0; ; ) {
    const start = skipSpace(text, at);
    if (open.length === 0 && expected === ", or end") return start === text.length ? undefined : start;
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(text);
    if (!match) return start;
    at = TOKEN.lastIndex;
    const next = afterToken(match, expected, open);
    if (next === undefined) return start;
    expected = next;
  }
}

/** What may follow this token, or undefined when the token itself is misplaced. Updates `open`. */
function afterToken(
  [, sign, quoted]: RegExpExecArray,
  expected: Expected,
  open: ("{" | "[")[],
): Expected | undefined {
  const wantsValue = expected.startsWith("value");
  if (expected.startsWith("key") && quoted !== undefined) return ":";
  if (sign === undefined) return wantsValue ? ", or end" : undefined;
  if (sign === ":") return expected === ":" ? "value" : undefined;
  if (sign === ",") {
    if (expected !== ", or end") return undefined;
    return open.at(-1) === "{" ? "key" : "value";
  }
  if (sign === "{" || sign === "[") {
    if (!wantsValue) return undefined;
    open.push(sign);
    return sign === "{" ? "key or }" : "value or ]";
  }
  const mayClose = expected === ", or end" || expected === (sign === "}" ? "key or }" : "value or ]");
  if (!mayClose || open.pop() !== (sign === "}" ? "{" : "[")) return undefined;
  return ", or end";
}

function skipSpace(text: string, from: number): number {
  SPACE.lastIndex = from;
  SPACE.test(text);
  return SPACE.lastIndex;
}
