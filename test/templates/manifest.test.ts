import { describe, expect, test } from "bun:test";
import { layoutFor } from "../../src/render/card/template-layout.ts";
import { parseManifest } from "../../src/templates/manifest.ts";

const good = {
  name: "club_card",
  version: "1.0.0",
  fonts: ["Noto Sans Variable"],
  name_text: { oneLineMinScale: 0.5, twoLineMinScale: 0.3 },
  layouts: Object.fromEntries(
    ["portrait", "square", "landscape"].map((layout) => [
      layout,
      {
        minAspect: 0.6,
        maxAspect: 2,
        face: { x: 0.4, y: 0.1, width: 0.2, height: 0.2 },
        maxContentY: 0.8,
        frame: { x: 0, y: 0, width: 1, height: 1 },
      },
    ]),
  ),
};

/** The manifest with the value at a slash-separated path replaced; undefined removes it. */
function spoilt(path: string, value: unknown): string {
  const copy = structuredClone(good) as Record<string, unknown>;
  const keys = path.split("/");
  const last = keys.pop() as string;
  let at = copy;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return JSON.stringify(copy);
}

describe("manifests", () => {
  test("a good one is read as it is", () => {
    expect(parseManifest(JSON.stringify(good), "t/template.json")).toEqual(good as never);
  });

  const broken: [what: string, path: string, value: unknown, message: RegExp][] = [
    ["a missing layout", "layouts/square", undefined, /\/layouts\/square/],
    ["a name with capitals", "name", "Club Card", /\/name: use a lower-case letter/],
    ["a version without patch", "version", "1.0", /\/version: use three numbers/],
    [
      "a face outside the card",
      "layouts/portrait/face/x",
      0.9,
      /\/layouts\/portrait\/face: x \+ width must be at most 1/,
    ],
    ["a fraction above one", "layouts/portrait/maxContentY", 73, /\/layouts\/portrait\/maxContentY/],
    ["a content line through the face", "layouts/square/maxContentY", 0.2, /must lie below the face/],
    ["aspects the wrong way round", "layouts/landscape/minAspect", 3, /must not exceed maxAspect/],
    ["no fonts", "fonts", [], /\/fonts/],
    ["an unknown key", "colour", "red", /\/colour/],
  ];
  for (const [what, path, value, message] of broken) {
    test(`${what} is refused with file, place and remedy`, () => {
      expect(() => parseManifest(spoilt(path, value), "t/template.json")).toThrow(message);
      expect(() => parseManifest(spoilt(path, value), "t/template.json")).toThrow("t/template.json");
    });
  }

  test("text that is not JSON is refused by name", () => {
    expect(() => parseManifest("{", "t/template.json")).toThrow(/t\/template\.json is not JSON/);
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
