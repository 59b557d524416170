/**
 * One JSON token (RFC 8259) with the white space before it: punctuation, a string's first quote, or a number
 * or literal.
 */
const TOKEN =
  /[ \t\n\r]*(?:([{}[\],:])|(")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
/**
 * The rest of a string up to something special: in one pattern with what follows, an unclosed string is tried
 * again and again.
 */
const PLAIN = /[ !#-[\]-\uffff]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SPACE = /[ \t\n\r]*/y;

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

/** A position in a text: line and column, counted from 1 in UTF-16 units as editors do. */
export interface Place {
  line: number;
  column: number;
}

/**
 * Where a text stops being JSON, such as "line 3, column 14"; undefined when it is valid. The engine's own
 * parser says what is wrong but not where.
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
  let line = 1;
  let start = 0;
  for (let at = text.indexOf("\n"); at >= 0 && at < index; at = text.indexOf("\n", start)) {
    line += 1;
    start = at + 1;
  }
  return { line, column: index - start + 1 };
}

/**
 * Where each value of a JSON text begins, by JSON Pointer (RFC 6901) such as "/sizes/poster/0". The value of
 * an object member begins at its key, which is where an editor should jump. The text must be valid JSON.
 */
export function jsonPlaces(text: string): Map<string, number> {
  const places = new Map<string, number>();
  let at = 0;
  const token = (): [start: number, text: string] => {
    const start = skipSpace(text, at);
    at = tokenAt(text, at)?.end ?? text.length;
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
    const token = tokenAt(text, at);
    if (!token) return start;
    at = token.end;
    const next = afterToken(token, expected, open);
    if (next === undefined) return start;
    expected = next;
  }
}

interface Token {
  sign: string | undefined;
  quoted: string | undefined;
  end: number;
}

function tokenAt(text: string, at: number): Token | undefined {
  TOKEN.lastIndex = at;
  const [found, sign, quoted] = TOKEN.exec(text) ?? [];
  if (found === undefined) return undefined;
  const end = quoted === undefined ? TOKEN.lastIndex : stringEnd(text, TOKEN.lastIndex);
  return end === undefined ? undefined : { sign, quoted, end };
}

/**
 * Behind the closing quote of a string whose text begins here; undefined when it is not closed or written
 * wrongly.
 */
function stringEnd(text: string, from: number): number | undefined {
  for (let at = from; ; at = ESCAPE.lastIndex) {
    PLAIN.lastIndex = at;
    PLAIN.test(text);
    if (text[PLAIN.lastIndex] === '"') return PLAIN.lastIndex + 1;
    ESCAPE.lastIndex = PLAIN.lastIndex;
    if (!ESCAPE.test(text)) return undefined;
  }
}

/** What may follow this token, or undefined when the token itself is misplaced. Updates `open`. */
function afterToken({ sign, quoted }: Token, expected: Expected, open: ("{" | "[")[]): Expected | undefined {
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
