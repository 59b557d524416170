import { describe, expect, test } from "bun:test";
import { layoutFor } from "../../src/render/card/placement/template-layout.ts";
import { compositionsOf, readManifest } from "../../src/templates/manifest.ts";
import { MANIFEST } from "./sample-template.ts";

/** The manifest with the value at a slash-separated path replaced; undefined removes it. */
function spoilt(path: string, value: unknown): string {
  const copy = structuredClone(MANIFEST) as Record<string, unknown>;
  const keys = path.split("/");
  const last = keys.pop() as string;
  let at = copy;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return JSON.stringify(copy, null, 2);
}

describe("manifests", () => {
  test("a good one is read as it is", () => {
    expect(readManifest(JSON.stringify(MANIFEST))).toEqual({ manifest: MANIFEST as never, faults: [] });
  });

  const broken: [what: string, path: string, value: unknown, line: number, message: RegExp][] = [
    ["no sizes", "sizes", undefined, 1, /\/sizes: is missing/],
    ["a name with capitals", "name", "Club Card", 2, /\/name: use a lower-case letter/],
    ["a version without patch", "version", "1.0", 3, /\/version: use three numbers/],
    ["a size out of bounds", "sizes/poster", [60, 800], 6, /\/sizes\/poster\/0: .*512/],
    ["a size that shapes exclude", "sizes/strip", [512, 2048], 13, /0\.25 wide.*Widen "shapes"/],
    ["shapes the wrong way round", "shapes", [2, 0.5], 14, /narrowest comes first/],
    ["a misspelt key", "bleed", true, 0, /\/bleed: is not known here\. Did you mean "bleeds"/],
    ["what the format had before", "layouts", {}, 0, /\/layouts: .*data-zone/],
    [
      "a fifth picture",
      "fields",
      Object.fromEntries([..."abcde"].map((name) => [name, { type: "image" }])),
      0,
      /\/fields\/e: .*at most 4 fields of the type image/,
    ],
    ["a list of pictures", "fields/stats/of/logo", { type: "image" }, 0, /logo: type must be one of|logo/],
    ["no composition", "compositions", [], 0, /\/compositions: list "cutout", "photo" or both, each once/],
    ["a composition twice", "compositions", ["photo", "photo"], 0, /\/compositions: list "cutout"/],
    ["an unknown composition", "compositions", ["cutout", "auto"], 0, /\/compositions\/1: list "cutout"/],
    [
      "a composition by itself",
      "compositions",
      "photo",
      0,
      /\/compositions: list .* \["photo", "cutout"\]; or remove/,
    ],
    ["a line too wide", "outline", { width: 3.5 }, 0, /\/outline\/width: give "width" from 0\.1 to 3/],
    ["a line of a named colour", "outline", { color: "white" }, 0, /\/outline\/color: .*#RRGGBB/],
    ["a line of which nothing is said", "outline", {}, 0, /\/outline: give "width"/],
    ["an unknown figure", "figure", "head", 0, /\/figure: write "body".*or "bust"/],
    ["an unknown backdrop", "backdrop", "dark", 0, /\/backdrop: write "shaded".*or "plain"/],
    ["a field of no type", "fields/club", { max: 3 }, 19, /type must be one of text, integer/],
    ["a field without its bound", "fields/club", { type: "text" }, 19, /\/fields\/club\/max: is missing/],
    [
      "bounds the wrong way round",
      "fields/goals",
      { type: "integer", min: 9, max: 1 },
      0,
      /must not exceed max/,
    ],
    [
      "a wrong example",
      "fields/goals/example",
      -1,
      0,
      /\/example: must be a whole number from 0 to 999; got -1/,
    ],
    ["a field's name with capitals", "fields/Club", { type: "boolean" }, 0, /\/fields\/Club/],
  ];
  for (const [what, path, value, line, message] of broken) {
    test(`${what} is reported by place, with the remedy`, () => {
      const { manifest, faults } = readManifest(spoilt(path, value));
      expect(manifest).toBeNull();
      expect(faults[0]?.message).toMatch(message);
      if (line > 0) expect(faults[0]?.line).toBe(line);
    });
  }

  test("compositions are those declared, in their order, and a cutout where nothing is said", () => {
    const read = (compositions: unknown) => readManifest(spoilt("compositions", compositions)).manifest;
    expect(
      [read(undefined), read(["photo"]), read(["photo", "cutout"])].map((one) => one && compositionsOf(one)),
    ).toEqual([["cutout"], ["photo"], ["photo", "cutout"]]);
  });

  test("text that is not JSON is reported by the place where it stops being that", () => {
    const [fault] = readManifest('{\n  "name": "x",\n  version\n}').faults;
    expect(fault).toMatchObject({ line: 3, column: 3, code: "json_syntax" });
  });

  test("the picture's shape picks the layout", () => {
    expect([
      layoutFor(1024, 1280),
      layoutFor(512, 2048),
      layoutFor(1000, 1000),
      layoutFor(1600, 900),
      layoutFor(2048, 512),
    ]).toEqual(["portrait", "portrait", "square", "landscape", "landscape"]);
  });
});
