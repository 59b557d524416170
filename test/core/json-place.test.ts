import { expect, test } from "bun:test";
import fc from "fast-check";
import { excessOfJson } from "../../src/core/json-bounds.ts";
import { placeOfFault } from "../../src/core/json-place.ts";

const PLACES: [string, string][] = [
  ['{\n  "type": "player_card",\n}', "line 3, column 1"],
  ['{"a": 1 "b": 2}', "line 1, column 9"],
  ['{"a": 09}', "line 1, column 8"],
  ["{'a': 1}", "line 1, column 2"],
  ['{"a": NaN}', "line 1, column 7"],
  ['{"a": "x\ny"}', "line 1, column 7"],
  ['{"a": [1, 2}', "line 1, column 12"],
  ['{"a": 1}}', "line 1, column 9"],
  ["{}\n{}", "line 2, column 1"],
  ['{"a": ', "line 1, column 7"],
  ["[,1]", "line 1, column 2"],
  ['{"a"}', "line 1, column 5"],
  ["", "line 1, column 1"],
];
for (const [text, place] of PLACES) {
  test(`${JSON.stringify(text)} breaks at ${place}`, () => expect(placeOfFault(text)).toBe(place));
}

test("a fault is found in exactly the texts that are not JSON", () => {
  const isJson = (text: string) => {
    try {
      JSON.parse(text);
      return true;
    } catch {
      return false;
    }
  };
  // JSON with a few characters changed, so that most texts are nearly right.
  const nearly = fc
    .tuple(
      fc.json(),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'{}[],:"\\ \n0-.eE1u', "tru", "null", "")), {
        maxLength: 3,
      }),
    )
    .map(([json, changes]) =>
      changes.reduce((text, [place, piece]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + piece + text.slice(at + 1);
      }, json),
    );
  fc.assert(
    fc.property(nearly, (text) => (placeOfFault(text) === undefined) === isJson(text)),
    { numRuns: 5_000 },
  );
});

test("the longest and the deepest bodies are read to their end", () => {
  expect(placeOfFault("[".repeat(65_536))).toBe("line 1, column 65537");
  expect(placeOfFault(`{"a":"${"\\n".repeat(32_000)}"`)).toBe("line 1, column 64008");
  expect(placeOfFault(`["${"x".repeat(65_000)}",]`)).toBe("line 1, column 65005");
});

test("megabytes of an unclosed string, of line breaks or of brackets have their place like anything else", () => {
  expect(placeOfFault(`["${"\\n".repeat(2_000_000)}`)).toBe("line 1, column 2");
  expect(placeOfFault(`{"a": ${"\n".repeat(2_000_000)}x`)).toBe("line 2000001, column 1");
});

test("what is nested or holds more than any request is found before it is parsed, whatever stands in its texts", () => {
  expect(excessOfJson("[".repeat(1_000_000))).toContain("nested more than 32 levels");
  expect(excessOfJson(`[${"1,".repeat(200_000)}1]`)).toContain("more than 150000 values");
  const text = `"${'[,{\\\\\\"'.repeat(200_000)}"`;
  expect(excessOfJson(`{"a": ${text}, "b": [[1], {"c": ${text}}]}`)).toBeUndefined();
  expect(excessOfJson(`${"[".repeat(32)}${"]".repeat(32)}`)).toBeUndefined();
  expect(excessOfJson(JSON.stringify(Array(1_000).fill({ a: Array(140).fill(1) })))).toBeUndefined();
});
