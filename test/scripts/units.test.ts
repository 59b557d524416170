import { expect, test } from "bun:test";
import { longestMs, unitsOf } from "../../scripts/suites/units.ts";
import { MINUTE_MS } from "../../src/core/time.ts";
import seconds from "../seconds.json" with { type: "json" };

const timings = { "test/b/long.test.ts": 31, "test/a/half.test.ts": 20, "test/b/half.test.ts": 20 };
const files = [...Object.keys(timings), "test/a/short.test.ts", "test/b/short.test.ts"];

test("files of a folder share a process up to half a minute, and one that takes longer has its own", () => {
  const units = unitsOf("", files, timings);
  expect(units.map((unit) => unit.files)).toEqual([
    ["test/b/long.test.ts"],
    ["test/a/half.test.ts", "test/a/short.test.ts"],
    ["test/b/half.test.ts", "test/b/short.test.ts"],
  ]);
  expect(units.map(({ seconds }) => seconds)).toEqual([31, 21, 21]);
});

test("each file whose time is to be measured has a process of its own", () => {
  const units = unitsOf("", files, timings, { most: 0 });
  expect(units.map((unit) => unit.files).sort()).toEqual(files.map((file) => [file]).sort());
});

test("a unit that hangs is ended, but not where it has a thirtieth of a processor, and after its tests' own limits", () => {
  expect(longestMs({ seconds: 1 })).toBe(30 * MINUTE_MS);
  for (const of of Object.values(seconds)) expect(longestMs({ seconds: of })).toBeGreaterThan(30 * of * 1000);
  // As crash.test.ts allows itself.
  expect(longestMs({ seconds: seconds["test/crash/crash.test.ts"] })).toBeGreaterThan(90 * MINUTE_MS);
});
