import { describe, expect, test } from "bun:test";
import { sortBelongings } from "../../../src/render/photo/page/belongings.js";
import { readParts } from "../../../src/render/photo/page/body_parts.js";
import { nearestSeed } from "../../../src/render/photo/page/geodesic.js";
import { emptyHairGaps } from "../../../src/render/photo/page/hair_gaps.js";
import { fuseMatte } from "../../../src/render/photo/page/matte.js";
import { ownParts, rivalsOf } from "../../../src/render/photo/page/own_parts.js";
import { refusalFromParts } from "../../../src/render/photo/page/parts_faults.js";
import { signsOf } from "../../../src/render/photo/page/signs.js";

// A small world: 100 x 100 cells of one search pixel, a head at the top, a body below it.
const SIDE = 100;
const grid = { x: 0, y: 0, width: SIDE, height: SIDE, step: 1 };
type Box = [x: number, y: number, width: number, height: number];

/** 1 (or `inside`) in the boxes, `outside` elsewhere. */
function map(boxes: Box[], inside = 1, outside = 0) {
  return Float32Array.from({ length: SIDE * SIDE }, (_, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE)];
    return boxes.some(([bx, by, w, h]) => x >= bx && x < bx + w && y >= by && y < by + h) ? inside : outside;
  });
}
const at = (values: Float32Array, x: number, y: number) => Number(values[y * SIDE + x]);

const FACE: Box = [42, 12, 16, 16];
const BODY: Box = [30, 8, 40, 92];
const player = {
  detector: 1,
  pose: null,
  people: {
    values: map([BODY]),
    width: SIDE,
    height: SIDE,
    crop: { cx: 50, cy: 50, width: SIDE, height: SIDE, rotation: 0 },
  },
  body: { x: 30, y: 8, width: 40, height: 92 },
  face: { x: 42, y: 12, width: 16, height: 16, score: 0.9, points: [] },
  head: { centre: { x: 50, y: 20 }, height: 24 },
  rivals: [],
  cover: 1,
};
const partsOf = (person: Box[], faces: Box[], more: { hair?: Box[]; skin?: Box[] } = {}) => ({
  odds: map(person, 4, -4),
  face: map(faces),
  hair: map(more.hair ?? []),
  skin: map(more.skin ?? []),
});
const nobody = map([]);
const grey = new Uint8ClampedArray(4 * SIDE * SIDE).fill(128);

/** A picture in which boxes have a grey of their own. */
function picture(boxes: [Box, number][]) {
  const rgba = new Uint8ClampedArray(grey);
  for (const [[bx, by, w, h], value] of boxes)
    for (let y = by; y < by + h; y++) rgba.fill(value, 4 * (y * SIDE + bx), 4 * (y * SIDE + bx + w));
  return rgba;
}

describe("things beside the body", () => {
  /** `odds` as the body parts network sees a person in the thing. */
  const sort = (
    thing: Box,
    salience: number,
    rgba: Uint8ClampedArray<ArrayBuffer>,
    { odds = -1, masked = 0, hands = nobody } = {},
  ) => {
    const parts = partsOf([BODY], [FACE]);
    const thingly = map([thing]);
    const beside = (values: Float32Array, value: number) =>
      Float32Array.from(values, (other, i) =>
        thingly[i] && !at(map([BODY]), i % SIDE, Math.floor(i / SIDE)) ? value : other,
      );
    const maps = {
      parts: { ...parts, odds: beside(parts.odds, odds) },
      own: map([BODY]),
      others: nobody,
      fine: beside(map([BODY]), salience),
      core: beside(map([BODY]), masked),
      claimed: nobody,
      theirs: nobody,
      hands,
    };
    return sortBelongings(maps, rgba, SIDE);
  };

  test("a clearly salient thing at the body is kept whole", () => {
    const { held, left } = sort([70, 50, 15, 15], 0.95, picture([[[70, 50, 15, 15], 250]]));
    expect([at(held, 71, 51), at(held, 84, 64), at(left, 77, 57)]).toEqual([1, 1, 0]);
  });

  test("what has the colours of the background beside it is left", () => {
    const { held, left } = sort([70, 50, 15, 15], 0.95, grey);
    expect([at(held, 77, 57), at(left, 77, 57)]).toEqual([0, 1]);
  });

  test("what is small and only looks out from behind the body is left, what is small and clings to it is kept", () => {
    const kept = (thing: Box) => at(sort(thing, 0.95, picture([[thing, 250]])).held, thing[0], thing[1]);
    expect([kept([70, 50, 10, 3]), kept([70, 50, 3, 10])]).toEqual([0, 1]);
  });

  test("a lamp apart from the body is left, a bright ball is kept", () => {
    const kept = (level: number) =>
      at(sort([76, 20, 14, 14], 0.95, picture([[[76, 20, 14, 14], level]])).held, 82, 26);
    expect([kept(255), kept(240)]).toEqual([0, 1]);
  });

  test("a beam or a patch of wall that stands out is left, unless a hand is near, a mask sees the player in it, or it is a ball", () => {
    const beam: Box = [60, 0, 30, 8];
    const ball: Box = [70, 40, 14, 14];
    const kept = ([x, y, w, h]: Box, more: { odds?: number; masked?: number; hands?: typeof nobody }) =>
      at(sort([x, y, w, h], 0.95, picture([[[x, y, w, h], 250]]), more).held, x + w - 2, y + h - 2);
    const pole: Box = [70, 20, 8, 40];
    expect(kept(pole, { odds: -2.3 })).toBe(0);
    expect(kept(beam, { odds: -2.3 })).toBe(0);
    expect(kept(pole, { odds: -2.3, hands: map([[70, 40, 8, 4]]) })).toBe(1);
    expect(kept(pole, { odds: -2.3, masked: 0.6 })).toBe(1);
    expect(kept(pole, { odds: -1 })).toBe(1);
    expect(kept(ball, { odds: -2.3 })).toBe(1);
  });

  test("what is hardly salient is left whole", () => {
    const { held, left } = sort([70, 50, 15, 15], 0.6, picture([[[70, 50, 15, 15], 250]]));
    expect([at(held, 77, 57), at(left, 77, 57)]).toEqual([0, 1]);
  });
});

describe("what a body encloses", () => {
  const LIMBS: Box[] = [
    [30, 20, 8, 60],
    [62, 20, 8, 60],
    [30, 12, 40, 28],
    [30, 80, 40, 20],
  ];
  const INSIDE: Box = [38, 40, 24, 40];
  const sort = (core: Float32Array<ArrayBuffer>, rgba: Uint8ClampedArray<ArrayBuffer>) =>
    sortBelongings(
      {
        parts: partsOf(LIMBS, []),
        own: map([BODY]),
        others: nobody,
        fine: map([BODY]),
        core,
        claimed: nobody,
        theirs: nobody,
        hands: nobody,
      },
      rgba,
      SIDE,
    );
  const bodyOfItsOwn = picture(LIMBS.map((box): [Box, number] => [box, 20]));

  test("is a gap where no mask sees the player and the background's colours show", () => {
    const { held, left } = sort(map(LIMBS), bodyOfItsOwn);
    expect([at(held, 50, 60), at(left, 50, 60)]).toEqual([0, 1]);
  });

  test("is a thing before the body where it has colours of its own", () => {
    const { held } = sort(map(LIMBS), picture([[INSIDE, 230]]));
    expect(at(held, 50, 60)).toBe(1);
  });

  test("is body where the masks see the player, whatever its colours", () => {
    const limbs = map(LIMBS);
    const half = map([INSIDE], 0.4).map((value, i) => Math.max(value, Number(limbs[i])));
    expect(at(sort(half, bodyOfItsOwn).held, 50, 60)).toBe(1);
  });
});

test("beside other people only a ball is kept that the player does not hold", () => {
  const sort = (thing: Box) => {
    const fine = map([BODY, thing]);
    const maps = {
      own: map([BODY]),
      others: nobody,
      fine,
      core: map([BODY]),
      claimed: nobody,
      theirs: map([[0, 0, 10, 10]]),
      hands: nobody,
    };
    const rgba = picture([[thing, 250]]);
    const { held } = sortBelongings({ parts: partsOf([BODY], [FACE]), ...maps }, rgba, SIDE);
    return at(held, thing[0] + 2, thing[1] + 2);
  };
  expect([sort([70, 50, 12, 12]), sort([70, 50, 8, 30])]).toEqual([1, 0]);
});

describe("the matte of all opinions", () => {
  const crop = player.people.crop;
  const mask = (values: Float32Array<ArrayBuffer>) => ({ values, width: SIDE, height: SIDE, crop });
  const LEGS: Box = [30, 60, 40, 40];
  const pose = {
    mask: mask(map([BODY])),
    points: [],
    visibility: [],
    presence: 1,
  };
  const fused = (legOdds: number, legSalience: number, rgba: Uint8ClampedArray<ArrayBuffer>) => {
    const legs = map([LEGS]);
    const odds = map([BODY], 4, -4).map((value, i) => (legs[i] ? legOdds : value));
    const salience = map([BODY]).map((value, i) => (legs[i] ? legSalience : value));
    const look = { odds: mask(odds), hair: mask(nobody), face: mask(map([FACE])), skin: mask(nobody) };
    const finding = { ...player, pose } as unknown as Parameters<typeof fuseMatte>[0];
    return fuseMatte(finding, look, mask(salience), rgba, grid).matte;
  };
  const dressed = picture([[BODY, 20]]);

  test("keeps legs that the body parts network does not see, where masks and salience do", () => {
    expect(at(fused(-1.8, 1, dressed), 50, 80)).toBe(1);
  });

  test("leaves the shade beside a trunk that pose and masks take for an arm, where neither other network sees anybody", () => {
    const SHADE: Box = [18, 40, 12, 40];
    const shade = map([SHADE]);
    const shoulder = { x: 24, y: 30 };
    const points = Object.assign(
      Array.from({ length: 33 }, () => ({ x: 50, y: 90 })),
      { 11: shoulder, 12: { x: 66, y: 30 }, 13: { x: 24, y: 80 } },
    );
    const finding = {
      ...player,
      people: mask(map([BODY]).map((value, i) => (shade[i] ? 0.85 : value))),
      pose: {
        ...pose,
        mask: mask(map([BODY, SHADE])),
        points,
        visibility: points.map((_, i) => (i === 11 || i === 13 ? 1 : 0)),
      },
    } as unknown as Parameters<typeof fuseMatte>[0];
    const shown = (odds: number) => {
      const seen = mask(map([BODY], 4, -4).map((value, i) => (shade[i] ? odds : value)));
      const look = { odds: seen, hair: mask(nobody), face: mask(map([FACE])), skin: mask(nobody) };
      return at(fuseMatte(finding, look, mask(map([BODY])), grey, grid).matte, 22, 60);
    };
    expect(shown(-2.4)).toBeLessThan(0.2);
    expect(shown(-1)).toBeGreaterThan(0.8);
  });

  test("gives what the opinions disagree on to the player up to the picture's edge, never half", () => {
    expect(at(fused(-1.2, 0.2, dressed), 50, 80)).toBe(1);
  });
});

describe("whose parts they are", () => {
  const maps = {
    posed: map([BODY]),
    limbs: nobody,
    hands: nobody,
    fine: map([[0, 0, SIDE, SIDE]]),
    theirs: nobody,
  };

  test("a part that touches the body is the player's, one with a face of its own is not", () => {
    const sleeve: Box = [74, 40, 16, 10];
    const sleeved = ownParts(player, partsOf([BODY, [70, 40, 20, 10]], [FACE]), maps, grid);
    expect(at(sleeved.own, 85, 45)).toBe(1);
    const headed = ownParts(player, partsOf([BODY, [70, 40, 20, 10]], [FACE, sleeve]), maps, grid);
    expect([at(headed.own, 85, 45), at(headed.left, 85, 45)]).toEqual([0, 1]);
  });

  test("a part that is surely somebody's is the player's although it does not stand out; a doubtful one is not", () => {
    const plate: Box = [70, 40, 20, 10];
    const unsalient = { ...maps, fine: nobody };
    const owned = (odds: number) => {
      const parts = partsOf([BODY, plate], [FACE]);
      const inPlate = map([plate]);
      parts.odds.forEach((value, i) => {
        if (value > 0 && inPlate[i]) parts.odds[i] = odds;
      });
      const { own, left } = ownParts(player, parts, unsalient, grid);
      return [at(own, 85, 45), at(left, 85, 45)];
    };
    expect([owned(3.5), owned(1)]).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  test("a face seen where there is bare skin and no head is a raised hand and takes nothing", () => {
    const hand: Box = [75, 10, 14, 14];
    const crop = { cx: 82, cy: 21, width: 42, height: 42, rotation: 0 };
    const rival = {
      values: new Float32Array(256).fill(1),
      width: 16,
      height: 16,
      crop,
      byFace: { x: 75, y: 10, width: 14, height: 14 },
    };
    const claims = (faces: Box[]) =>
      rivalsOf({ ...player, rivals: [rival] }, grid, null, partsOf([BODY, hand], [FACE, ...faces]));
    expect(at(claims([]), 82, 17)).toBe(0);
    expect(at(claims([hand]), 82, 17)).toBeGreaterThan(0.9);
  });
});

test("cells go to the seed from which no edge has to be crossed, however near the other", () => {
  const seeds = new Int32Array(SIDE * SIDE);
  seeds[50 * SIDE + 10] = 1;
  seeds[50 * SIDE + 60] = 2;
  const owners = nearestSeed(seeds, picture([[[0, 0, 55, SIDE], 240]]), SIDE);
  expect([owners[50 * SIDE + 54], owners[50 * SIDE + 56]]).toEqual([1, 2]);
});

describe("what body parts say against a photo", () => {
  /** Three search pixels a cell: in small faces the network sees no features. */
  const side = 3 * SIDE;
  const near = { ...player, face: { ...player.face, x: 126, y: 36, width: 48, height: 48 } };
  const crop = { cx: side / 2, cy: side / 2, width: side, height: side, rotation: 0 };
  /**
   * The network's scores of 256 x 256 cells: class 3 in the faces, class 5 in what covers them, clothes in
   * the body.
   */
  const look = (faces: Box[], covers: Box[]) => {
    const scores = new Float32Array(256 * 256 * 6).fill(-4);
    const has = (boxes: Box[], x: number, y: number) =>
      boxes.some(([bx, by, w, h]) => x >= bx && x < bx + w && y >= by && y < by + h);
    for (let i = 0; i < 256 * 256; i++) {
      const [x, y] = [((i % 256) * SIDE) / 256, (Math.floor(i / 256) * SIDE) / 256];
      const kind = has(covers, x, y) ? 5 : has(faces, x, y) ? 3 : has([BODY], x, y) ? 4 : 0;
      scores[6 * i + kind] = 4;
    }
    return readParts(scores, crop);
  };
  const faultOf = (faces: Box[], covers: Box[], seenCloser = covers) =>
    refusalFromParts(
      { rect: { x: 0, y: 0, width: side, height: side }, look: look(faces, covers) } as never,
      near,
      async () => look(faces, seenCloser),
    );

  test("a bare face is fine, and so are goggles", async () => {
    expect(await faultOf([FACE], [])).toBeNull();
    expect(await faultOf([FACE], [[42, 15, 16, 5]])).toBeNull();
  });

  test("a masked face is refused, unless a closer look shows its skin", async () => {
    const mask: Box = [42, 14, 16, 14];
    expect(await faultOf([FACE], [mask])).toBe("face_covered");
    expect(await faultOf([FACE], [mask], [])).toBeNull();
  });

  test("a second face of the same size is refused, a small one behind is not", async () => {
    expect(await faultOf([FACE, [75, 12, 16, 16]], [])).toBe("several_people");
    expect(await faultOf([FACE, [80, 12, 8, 8]], [])).toBeNull();
  });
});

describe("gaps between strands", () => {
  const HAIR: Box = [30, 4, 40, 36];
  const GAP: Box = [34, 26, 5, 5];
  const HEAD = { x: 26, y: 0, width: 48, height: 36 };
  /**
   * The matte in the gap and beside it, where masks see one lump and the network of body parts `odds` in the
   * gap.
   */
  const emptied = (hair: number, wall: number, odds: number) => {
    const parts = partsOf([HAIR], [], { hair: [HAIR] });
    const inGap = map([GAP]);
    for (let i = 0; i < parts.odds.length; i++) if (inGap[i]) parts.odds[i] = odds;
    const matte = map([HAIR]);
    const all: Box = [0, 0, SIDE, SIDE];
    emptyHairGaps(
      matte,
      parts,
      picture([
        [all, wall],
        [HAIR, hair],
        [GAP, wall],
      ]),
      SIDE,
      HEAD,
    );
    return { gap: at(matte, 36, 28), beside: at(matte, 50, 20) };
  };

  test("are emptied where the network doubts them and they have the wall's colour", () => {
    expect(emptied(30, 220, 0)).toEqual({ gap: 0, beside: 1 });
    expect(emptied(200, 40, 0)).toEqual({ gap: 0, beside: 1 });
  });

  test("stay where the network is sure, or hair and wall are too much alike", () => {
    expect(emptied(30, 220, 5)).toEqual({ gap: 1, beside: 1 });
    expect(emptied(30, 60, 0)).toEqual({ gap: 1, beside: 1 });
  });
});

describe("the signs of a photo", () => {
  const matte = map([BODY]);

  test("count the people near, and say how far the masks agree with the matte", () => {
    expect(signsOf(matte, { core: matte, rgba: grey }, grid, player)).toMatchObject({ masks: 1, rivals: 0 });
    const half = map([[30, 8, 20, 92]]);
    expect(signsOf(matte, { core: half, rgba: grey }, grid, player).masks).toBe(0.5);
  });

  test("say how far the crown's edge lies where the photo has one", () => {
    const crownIn = (drawn: Box) =>
      signsOf(matte, { core: matte, rgba: picture([[drawn, 20]]) }, grid, player).crown ?? 0;
    expect(crownIn(BODY)).toBeGreaterThan(0.9);
    expect(crownIn([34, 12, 32, 88])).toBeLessThan(0.3);
  });
});
