import { expect, test } from "bun:test";
import type { CutoutFile, CutoutSigns } from "../../../src/core/card.ts";
import { compositionFor, placePlayer } from "../../../src/render/card/composition.ts";
import { CLUB_CARD_ZONES } from "./club-card-zones.ts";

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

/**
 * A player to the waist in the middle of a photo, on which nothing is doubtful; in a place unless said
 * otherwise.
 */
function portrait(signs: Partial<CutoutSigns>, changes: Partial<CutoutFile> = {}): CutoutFile {
  const [width, height] = [600, 900];
  return {
    path: "cutout.png",
    width,
    height,
    framing: {
      head: { x: 200, y: 4, width: 200, height: 260 },
      face: { x: 225, y: 84, width: 150, height: 170 },
      body: { x: 4, y: 4, width: 592, height: 896 },
      cutSides: { top: false, right: false, bottom: true, left: false },
    },
    inPhoto: { x: 0.2, y: 0.1, width: 0.6, height: 0.9 },
    outline: "",
    signs: { masks: 0.98, rivals: 0, spread: 40, grain: 9, loose: false, ...signs },
    ...changes,
  };
}

const CARD = { x: 0, y: 0, width: 1024, height: 1280 };

/** The composition that a card of that player gets if none is asked for. */
const chosen = (cutout: CutoutFile) =>
  placePlayer(
    undefined,
    ["cutout", "photo"],
    { cutout, shown: cutout, photo: true },
    CLUB_CARD_ZONES.portrait,
    CARD,
  ).composition;

test("a player in a place is cut out, one before a wall is shown in the photo, whose wall the scene replaces", () => {
  expect(chosen(portrait({}))).toBe("cutout");
  expect(chosen(portrait({ grain: 1 }))).toBe("photo");
});

test("a doubtful cutout, company, or a head that the photo cuts is shown in the photo", () => {
  expect(chosen(portrait({ masks: 0.9 }))).toBe("photo");
  expect(chosen(portrait({ rivals: 1 }))).toBe("photo");
  const { framing } = portrait({});
  const cut = { ...framing, cutSides: { ...framing.cutSides, top: true } };
  expect(chosen(portrait({}, { framing: cut }))).toBe("photo");
});

test("a photo without a background gives a cutout, whatever else is in it", () => {
  expect(chosen(portrait({ loose: true, masks: 0.5, rivals: 2, grain: 20 }))).toBe("cutout");
});

test("an arm that the window would cut is shown whole by a sure cutout", () => {
  const { framing } = portrait({});
  const wide = {
    width: 1100,
    height: 1100,
    inPhoto: { x: 0.4, y: 0, width: 0.6, height: 1 },
    framing: {
      ...framing,
      cutSides: { ...framing.cutSides, right: true },
      head: { ...framing.head, x: 450 },
      face: { x: 475, y: 84, width: 150, height: 170 },
      body: { x: 4, y: 4, width: 1092, height: 1096 },
    },
  };
  expect(chosen(portrait({ masks: 0.9 }, wide))).toBe("cutout");
  expect(chosen(portrait({ masks: 0.8 }, wide))).toBe("photo");
});
