import { expect, test } from "bun:test";
import type { CutoutFile, CutoutSigns } from "../../../src/core/card.ts";
import { compositionFor, placePlayer } from "../../../src/render/card/placement/composition.ts";
import type { Zones, ZonesOf } from "../../../src/render/card/placement/template-layout.ts";
import { BUILT_IN } from "../../../src/templates/built-in.ts";
import { loadTemplate } from "../../../src/templates/load.ts";
import { compositionsOf } from "../../../src/templates/manifest.ts";
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
 * A player to the waist in the middle of a photo, on which nothing is doubtful.
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
    quarters: 0,
    tones: null,
    inCompany: false,
    signs: { masks: 0.98, crown: 1, rivals: 0, loose: false, ...signs },
    ...changes,
  };
}

const CARD = { x: 0, y: 0, width: 1024, height: 1280 };

const inBoth = (zones: Zones): ZonesOf => ({ cutout: zones, photo: zones });

/** How a card shows that player if no composition is asked for. */
const placed = (cutout: CutoutFile) =>
  placePlayer(
    undefined,
    ["cutout", "photo"],
    { cutout, shown: cutout, photo: true },
    inBoth(CLUB_CARD_ZONES.portrait),
    CARD,
  );

const chosen = (cutout: CutoutFile) => placed(cutout).composition;

/** A face so near in so low a photo that the photo cannot fill the window. */
function close(y: number): Partial<CutoutFile> {
  return {
    width: 1040,
    height: 740,
    inPhoto: { x: 0.11, y, width: 0.86, height: 1 - y },
    framing: {
      head: { x: 300, y: 17, width: 440, height: 640 },
      face: { x: 330, y: 120, width: 380, height: 520 },
      body: { x: 5, y: 5, width: 1030, height: 734 },
      cutSides: { top: false, right: false, bottom: true, left: false },
    },
  };
}

test("a player is shown in the photo, and cut out of one that does not fill the window", () => {
  expect(chosen(portrait({}))).toBe("photo");
  expect(chosen(portrait({}, close(0.5)))).toBe("photo");
  expect(chosen(portrait({}, close(0.02)))).toBe("cutout");
});

test("each carried template's first composition is the one that an ordinary photo gets", async () => {
  for (const name of Object.keys(BUILT_IN)) {
    const supported = compositionsOf((await loadTemplate(name)).manifest);
    const player = { cutout: portrait({}), shown: portrait({}), photo: true };
    const usual = placePlayer(undefined, supported, player, inBoth(CLUB_CARD_ZONES.portrait), CARD);
    expect([name, supported[0]]).toEqual([name, usual.composition]);
  }
});

test("a doubtful cutout, one with company, or a head that the photo cuts stays in a photo that does not fill the window", () => {
  const { framing } = { ...portrait({}), ...close(0.02) };
  const cut = { ...framing, cutSides: { ...framing.cutSides, top: true } };
  expect(chosen(portrait({ masks: 0.95 }, close(0.02)))).toBe("photo");
  expect(chosen(portrait({ rivals: 1 }, close(0.02)))).toBe("photo");
  expect(chosen(portrait({}, { ...close(0.02), framing: cut }))).toBe("photo");
});

test("a photo without a background gives a cutout, whatever else is in it", () => {
  expect(chosen(portrait({ loose: true, masks: 0.5, rivals: 2 }))).toBe("cutout");
});

test("where the photo cuts a player the card's window does, without a wall, as far as the player may grow", () => {
  const { framing, inPhoto } = portrait({});
  const cut = portrait(
    {},
    {
      inPhoto: { ...inPhoto, x: 0 },
      framing: { ...framing, cutSides: { ...framing.cutSides, left: true } },
    },
  );
  const { place } = placed(cut);
  expect(place.walls).toEqual({ top: 0, left: 0, right: 0 });
  expect(place.x).toBeLessThanOrEqual(CLUB_CARD_ZONES.portrait.frame.x * CARD.width + 1);
});

test("heads of busts are of one size and in one place, whatever else of a player the photo shows", () => {
  const zones = { ...CLUB_CARD_ZONES.portrait, face: { x: 0.35, y: 0.2, width: 0.3, height: 0.2 } };
  const faceOf = (cutout: CutoutFile) => {
    const options = { cutout, shown: cutout, photo: true, isBust: true };
    const { place } = placePlayer("cutout", ["cutout"], options, inBoth(zones), CARD);
    const scale = place.width / cutout.width;
    const { x, y, width, height } = cutout.framing.face ?? cutout.framing.head;
    const middle = [place.x + (x + width / 2) * scale, place.y + (y + height / 2) * scale];
    return [...middle, height * scale].map(Math.round);
  };
  const { framing } = portrait({});
  const standing = { ...framing, cutSides: { ...framing.cutSides, bottom: false } };
  const far = portrait(
    {},
    { width: 900, height: 3000, framing: { ...standing, body: { x: 0, y: 4, width: 900, height: 2990 } } },
  );
  expect(faceOf(portrait({}, { height: 1400 }))).toEqual([512, 384, 256]);
  expect(faceOf(far)).toEqual([512, 384, 256]);
});
