/** One token of JSON (RFC 8259) and the white space before it: a sign, a text, or a number or word. */
const TOKEN =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))/y;
const SPACE = /[ \t\n\r]*/y;

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or end";

/**
 * Where a text stops being JSON: such as "line 3, column 14", counted from 1 in UTF-16 units as editors do; undefined for
 * what is JSON. The engine's own parser tells what is wrong, but not where.
 */
export function placeOfFault(text: string): string | undefined {
  const at = faultAt(text);
  if (at === undefined) return undefined;
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${(before.at(-1) ?? "").length + 1}`;
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
