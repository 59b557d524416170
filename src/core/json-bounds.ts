import { MAX_JSON_DEPTH, MAX_JSON_VALUES } from "./limits.ts";

const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [...'"\\,[]{}'].map(
  (sign) => sign.charCodeAt(0),
);

/**
 * Why a text is no JSON worth parsing, whether it is valid or not; undefined for one that is. The engine's
 * parser takes seconds for megabytes of brackets, and nobody else is answered meanwhile.
 */
export function excessOfJson(text: string): string | undefined {
  let depth = 0;
  let commas = 0;
  for (let at = 0; at < text.length; at++) {
    const sign = text.charCodeAt(at);
    if (sign === QUOTE) at = closingQuote(text, at + 1);
    else if (sign === COMMA) {
      commas += 1;
      if (commas >= MAX_JSON_VALUES) return `it has more than ${MAX_JSON_VALUES} values`;
    } else if (sign === OPEN_LIST || sign === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAX_JSON_DEPTH) return `it is nested more than ${MAX_JSON_DEPTH} levels deep`;
    } else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) depth -= 1;
  }
  return undefined;
}

function closingQuote(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}
