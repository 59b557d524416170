/** One token of JSON (RFC 8259) and the white space before it: a sign, a text, or a number or word. */
const TOKEN =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
const SPACE = /[ \t\n\r]*/y;

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

/** A place in a text, counted from 1 in UTF-16 units as editors do. */
export interface Place {
  line: number;
  column: number;
}

/**
 * Where a text stops being JSON: such as "line 3, column 14"; undefined for what is JSON. The engine's own parser tells
 * what is wrong, but not where.
 */
export function placeOfFault(text: string): string | undefined {
  const place = whereFaulty(text);
  return place && `line ${place.line}, column ${place.column}`;
}

/** The same as numbers. */
export function whereFaulty(text: string): Place | undefined {
  const at = faultAt(text);
  return at === undefined ? undefined : placeAt(text, at);
}

/** The place of a text's index. */
export function placeAt(text: string, index: number): Place {
  const before = text.slice(0, index).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/**
 * Where each value of a JSON text begins, by its JSON Pointer (RFC 6901) such as "/sizes/poster/0". An object's value is
 * said to begin where its key does, which is what an editor should jump to. The text has to be JSON.
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

/** The index of the first token that cannot stand where it stands. A stack of our own: nesting may be deep. */
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

/** What may follow, or undefined when the token itself may not stand here. Keeps `open` up to date. */
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
