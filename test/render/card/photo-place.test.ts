import { expect, test } from "bun:test";
import type { Box, CutoutDescription, Framing } from "../../../src/core/card.ts";
import { placePhoto } from "../../../src/render/card/placement/photo-place.ts";
import type { Zones } from "../../../src/render/card/placement/template-layout.ts";
import { CLUB_CARD_ZONES } from "./club-card-zones.ts";

const CARDS = {
  portrait: { width: 1024, height: 1280 },
  landscape: { width: 2048, height: 1024 },
} as const;

interface Scene {
  photo: [width: number, height: number];
  /** In pixels of the photo; the cutout is the body's box. */
  body: Box;
  face: Box;
  cutSides?: Partial<Framing["cutSides"]>;
  /** How far the networks agree on the player. */
  masks?: number;
  crown?: number;
  extents?: Framing["extents"];
}

function placed(
  { photo: [width, height], body, face, cutSides, masks = 1, crown = 1, extents }: Scene,
  layout: keyof typeof CARDS,
  zones: Zones = CLUB_CARD_ZONES[layout],
) {
  const inCutout = (box: Box): Box => ({ ...box, x: box.x - body.x, y: box.y - body.y });
  const cutout: CutoutDescription = {
    width: body.width,
    height: body.height,
    framing: {
      head: inCutout({ ...face, y: face.y - 0.4 * face.height, height: 1.4 * face.height }),
      face: inCutout(face),
      body: inCutout(body),
      cutSides: { top: false, right: false, bottom: true, left: false, ...cutSides },
      ...(extents && { extents }),
    },
    inPhoto: {
      x: body.x / width,
      y: body.y / height,
      width: body.width / width,
      height: body.height / height,
    },
    outline: "",
    quarters: 0,
    tones: null,
    inCompany: false,
    signs: { masks, crown, rivals: 0, loose: false },
  };
  const place = placePhoto(cutout, zones, CARDS[layout]);
  const { body: zone } = zones;
  return { ...place, line: (zone.y + zone.height) * CARDS[layout].height };
}

const right = ({ x, width }: Box) => x + width;
const bottom = ({ y, height }: Box) => y + height;

/** To the waist, arms spread, in a photo twice as wide as high. */
const SPREAD: Scene = {
  photo: [1600, 800],
  body: { x: 400, y: 100, width: 700, height: 700 },
  face: { x: 700, y: 180, width: 110, height: 130 },
};
/** A face that fills a tall photo. */
const CLOSE: Scene = {
  photo: [600, 800],
  body: { x: 20, y: 60, width: 560, height: 740 },
  face: { x: 150, y: 220, width: 300, height: 330 },
};

/** A whole figure in a photo with room at all sides; the face's middle is 100 from the cutout's left. */
const FIGURE: Scene = {
  photo: [2400, 2400],
  body: { x: 1000, y: 400, width: 400, height: 1800 },
  face: { x: 1020, y: 460, width: 160, height: 180 },
};
/** Where the figure's face is across the window, if each tenth of the figure reaches as far as this. */
const acrossWith = (extents: [number, number][]) => {
  const { face, window } = placed({ ...FIGURE, extents }, "portrait");
  return (face.x + face.width / 2 - window.x) / window.width;
};
const NARROW = Array.from({ length: 10 }, (): [number, number] => [0, 200]);
const WIDE = NARROW.map((): [number, number] => [0, 400]);

test("a player is balanced between the face and the middle of what is seen of the body", () => {
  expect(acrossWith(NARROW)).toBeCloseTo(0.5, 1);
  expect(acrossWith(WIDE)).toBeLessThan(acrossWith(NARROW) - 0.03);
});

test("what the plate hides of a player moves nobody aside", () => {
  expect(acrossWith([...NARROW.slice(0, 8), ...WIDE.slice(8)])).toBe(acrossWith(NARROW));
});

for (const layout of ["portrait", "landscape"] as const) {
  test(`${layout}: spread arms stay in the window`, () => {
    const { player, window } = placed(SPREAD, layout);
    expect(player.x).toBeGreaterThanOrEqual(window.x);
    expect(right(player)).toBeLessThanOrEqual(right(window));
  });

  test(`${layout}: the chin of a close-up stays above the plate`, () => {
    const { face, line } = placed(CLOSE, layout);
    expect(bottom(face)).toBeLessThan(line);
  });

  test(`${layout}: a photo that cuts the player below reaches the plate`, () => {
    for (const scene of [SPREAD, CLOSE, { ...SPREAD, photo: [1600, 800] as [number, number] }]) {
      const { photo, line } = placed(scene, layout);
      expect(bottom(photo)).toBeGreaterThanOrEqual(line - 1);
    }
  });
}

test("somebody near, whom the photo shows down to the feet, stands with them above the plate", () => {
  const { player, line } = placed(
    {
      photo: [1200, 1600],
      body: { x: 300, y: 200, width: 300, height: 1000 },
      face: { x: 370, y: 250, width: 160, height: 200 },
      cutSides: { bottom: false },
    },
    "portrait",
  );
  expect(bottom(player)).toBeLessThanOrEqual(line + 1);
});

/** At length in a street. */
const AFAR: Scene = {
  photo: [1500, 2000],
  body: { x: 600, y: 300, width: 300, height: 1500 },
  face: { x: 700, y: 330, width: 90, height: 115 },
  cutSides: { bottom: false },
};

for (const layout of ["portrait", "landscape"] as const) {
  test(`${layout}: of somebody far away the card shows the upper body`, () => {
    const { face, player, line } = placed(AFAR, layout);
    const shown = (line - player.y) / face.height;
    expect(shown).toBeGreaterThan(3);
    expect(shown).toBeLessThan(5);
  });
}

test("whoever fills the window with spread arms and legs is shown whole, however far away", () => {
  const spread = { ...AFAR, photo: [2400, 2000] as [number, number] };
  const { player, window, line } = placed(
    { ...spread, body: { x: 400, y: 300, width: 1500, height: 1500 } },
    "landscape",
  );
  expect(bottom(player)).toBeLessThanOrEqual(line + 1);
  expect(player.x).toBeGreaterThanOrEqual(window.x);
  expect(right(player)).toBeLessThanOrEqual(right(window));
});

test("hair rises over the window clearly or stays below its edge", () => {
  for (let above = 0; above <= 300; above += 10) {
    const { photo, ...scene } = SPREAD;
    const lower = (box: Box): Box => ({ ...box, y: box.y + above });
    const { player, face, window, crosses } = placed(
      { ...scene, photo: [photo[0], photo[1] + above], body: lower(scene.body), face: lower(scene.face) },
      "portrait",
    );
    const over = window.y - player.y;
    if (crosses) expect(over).toBeGreaterThan(0.1 * face.height);
    else expect(over).toBeLessThanOrEqual(0);
  }
});

test("a head whose hair touches the photo's upper edge stays in the window", () => {
  const touching = { ...CLOSE, body: { x: 20, y: 2, width: 560, height: 798 } };
  expect(placed(touching, "portrait").crosses).toBe(false);
});

test("a head on which the networks do not agree stays in the window", () => {
  const free = { ...SPREAD, photo: [1600, 900] as [number, number], cutSides: { bottom: false } };
  const [sure, doubtful] = [0.97, 0.9].map((masks) => placed({ ...free, masks }, "portrait"));
  expect(sure?.crosses).toBe(true);
  expect(doubtful?.crosses).toBe(false);
  expect(doubtful?.player.y).toBeGreaterThanOrEqual(Number(doubtful?.window.y));
});

test("a head whose crown is cut out beside its own edge in the photo stays in the window", () => {
  const free = {
    ...SPREAD,
    photo: [1600, 900] as [number, number],
    cutSides: { bottom: false },
    masks: 0.97,
  };
  const [clean, ragged] = [0.7, 0.6].map((crown) => placed({ ...free, crown }, "portrait"));
  expect([clean?.crosses, ragged?.crosses]).toEqual([true, false]);
});

test("a head stays below the window's edge where the player's part of the card begins no higher", () => {
  const zones = CLUB_CARD_ZONES.portrait;
  const stage = { x: 0, y: zones.frame.y, width: 1, height: 1 - zones.frame.y };
  const open = placed(CLOSE, "portrait");
  const closed = placed(CLOSE, "portrait", { ...zones, stage });
  expect([open.crosses, closed.crosses]).toEqual([true, false]);
  expect(closed.face.y - 0.3 * closed.face.height).toBeGreaterThan(closed.window.y);
});

test("a photo covers the window down to its plate, even where the frame then cuts outstretched arms", () => {
  for (let height = 500; height <= 800; height += 5) {
    const scene = { ...SPREAD, photo: [1600, height] as [number, number], masks: 0.9 };
    const { photo, window } = placed(
      { ...scene, body: { ...SPREAD.body, height: height - SPREAD.body.y } },
      "portrait",
    );
    expect(photo.y - window.y).toBeLessThan(0.5);
  }
});

test("a shoulder that the photo cuts goes on to the window's edge where a little more enlargement is enough", () => {
  const bust: Scene = {
    photo: [500, 600],
    body: { x: 0, y: 20, width: 500, height: 580 },
    face: { x: 150, y: 120, width: 200, height: 260 },
  };
  const gapOf = (scene: Scene) => {
    const { photo, window } = placed(scene, "landscape");
    return Math.max(photo.x - window.x, right(window) - right(photo));
  };
  expect(gapOf(bust)).toBeGreaterThan(20);
  expect(gapOf({ ...bust, cutSides: { left: true, right: true } })).toBeLessThanOrEqual(1);
});
