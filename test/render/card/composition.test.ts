import { expect, test } from "bun:test";
import { compositionFor } from "../../../src/render/card/composition.ts";

test("a card is made in the composition that was asked for where its template has it, otherwise in the template's first", () => {
  const of = (asked: Parameters<typeof compositionFor>[0]) => [
    compositionFor(asked, ["cutout"]),
    compositionFor(asked, ["photo"]),
    compositionFor(asked, ["photo", "cutout"]),
  ];
  expect(of(undefined)).toEqual(["cutout", "photo", "photo"]);
  expect(of("auto")).toEqual(of(undefined));
  expect(of("cutout")).toEqual(["cutout", "photo", "cutout"]);
  expect(of("photo")).toEqual(["cutout", "photo", "photo"]);
});
