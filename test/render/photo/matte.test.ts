import { describe, expect, test } from "bun:test";
import { sortBelongings } from "../../../src/render/photo/page/belongings.ts";
import { readParts } from "../../../src/render/photo/page/body-parts.ts";
import { fuseMatte } from "../../../src/render/photo/page/matte.ts";
import { ownParts, rivalsOf } from "../../../src/render/photo/page/own-parts.ts";
import { refusalFromParts } from "../../../src/render/photo/page/parts-faults.ts";
import { signsOf } from "../../../src/render/photo/page/signs.ts";

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
  maskAgreement: 1,
};
const nobody = map([]);
const partsOf = (person: Box[], faces: Box[]) => ({
  logOdds: map(person, 4, -4),
  faces: map(faces),
  hair: nobody,
});
const grey = new Uint8ClampedArray(4 * SIDE * SIDE).fill(128);

/** A picture in which boxes have a grey of their own. */
function picture(boxes: [Box, number][]) {
  const rgba = new Uint8ClampedArray(grey);
  for (const [[bx, by, w, h], value] of boxes)
    for (let y = by; y < by + h; y++) rgba.fill(value, 4 * (y * SIDE + bx), 4 * (y * SIDE + bx + w));
  return rgba;
}

describe("things beside the body", () => {
  const sort = (thing: Box, salience: number, bodyBox = BODY) => {
    const [body, thingly] = [map([bodyBox]), map([thing])];
    const maps = {
      logOdds: map([bodyBox], 4, -4),
      own: body,
      salience: body.map((own, i) => Math.max(own, salience * Number(thingly[i]))),
      core: body,
      claimed: nobody,
      rivals: nobody,
    };
    const { held, dropped } = sortBelongings(maps, SIDE);
    const [x, y] = [thing[0] + thing[2] - 2, thing[1] + thing[3] - 2];
    return [at(held, x, y), at(dropped, x, y)];
  };

  test("a clearly salient thing is kept whole, what is hardly salient is dropped whole", () => {
    expect([sort([70, 50, 15, 15], 0.95), sort([70, 50, 15, 15], 0.6)]).toEqual([
      [1, 0],
      [0, 1],
    ]);
  });

  test("what is a third of the player or does not touch the body is dropped", () => {
    expect([sort([70, 20, 28, 60], 0.95), sort([73, 50, 15, 15], 0.95)]).toEqual([
      [0, 1],
      [0, 1],
    ]);
  });

  test("what runs along the upper or a side edge is dropped", () => {
    expect(sort([80, 0, 20, 20], 0.95)).toEqual([0, 1]);
  });

  test("a thing at one edge does not touch a body at the other", () => {
    expect(sort([0, 50, 15, 15], 0.95, [60, 8, 40, 92])).toEqual([0, 1]);
    expect(sort([85, 50, 15, 15], 0.95, [0, 8, 40, 92])).toEqual([0, 1]);
  });
});

describe("what a body encloses", () => {
  const LIMBS: Box[] = [
    [30, 12, 40, 28],
    [30, 40, 8, 20],
    [62, 40, 8, 20],
    [30, 60, 40, 40],
  ];
  const INSIDE: Box = [38, 40, 24, 20];
  const kept = (core: number, salience: number) => {
    const limbs = map(LIMBS);
    const inside = (value: number) => map([INSIDE], value).map((own, i) => Math.max(own, Number(limbs[i])));
    const maps = {
      logOdds: map(LIMBS, 4, -4),
      own: map([BODY]),
      salience: inside(salience),
      core: inside(core),
      claimed: nobody,
      rivals: nobody,
    };
    return at(sortBelongings(maps, SIDE).held, 50, 50);
  };

  test("is a thing before the body where it stands out, and a gap where it hardly does", () => {
    expect([kept(0, 0.9), kept(0, 0.6)]).toEqual([1, 0]);
  });

  test("is body where the masks see the player, however little it stands out", () => {
    expect(kept(0.6, 0.6)).toBe(1);
  });
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
  const fused = (legLogOdds: number, legSalience: number, rgba: Uint8ClampedArray<ArrayBuffer>) => {
    const legs = map([LEGS]);
    const logOdds = map([BODY], 4, -4).map((value, i) => (legs[i] ? legLogOdds : value));
    const salience = map([BODY]).map((value, i) => (legs[i] ? legSalience : value));
    const look = { logOdds: mask(logOdds), hair: mask(nobody), face: mask(map([FACE])) };
    const finding = { ...player, pose } as unknown as Parameters<typeof fuseMatte>[0];
    return fuseMatte(finding, look, mask(salience), rgba, grid).matte;
  };
  const dressed = picture([[BODY, 20]]);

  test("keeps legs that the body parts network does not see, where masks and salience do", () => {
    expect(at(fused(-1.8, 1, dressed), 50, 80)).toBe(1);
  });

  /**
   * The matte where body parts and salience see `person`, pose and person mask `posed`, and others `rivals`.
   */
  const matteOf = (person: Float32Array<ArrayBuffer>, posed = map([BODY]), rivals: Box[] = []) => {
    const parts = {
      logOdds: mask(person.map((seen) => (seen ? 4 : -4))),
      hair: mask(nobody),
      face: mask(nobody),
    };
    const finding = {
      ...player,
      people: mask(posed),
      pose: { ...pose, mask: mask(posed) },
      rivals: rivals.map((box) => mask(map([box]))),
    } as unknown as Parameters<typeof fuseMatte>[0];
    return fuseMatte(finding, parts, mask(person), dressed, grid).matte;
  };
  const without = (hole: Box) => {
    const holes = map([hole]);
    return map([BODY]).map((inside, i) => (holes[i] ? 0 : inside));
  };

  test("has small holes filled, and large ones only where pose and person mask claim them", () => {
    const small: Box = [50, 60, 3, 3];
    const large: Box = [44, 54, 12, 12];
    expect(at(matteOf(without(small), without(small)), 51, 61)).toBe(1);
    expect(at(matteOf(without(large), without(large)), 50, 60)).toBe(0);
    expect(at(matteOf(without(large)), 50, 60)).toBe(1);
  });

  test("has small pieces apart from the player dropped, and large ones kept", () => {
    expect(at(matteOf(map([BODY, [2, 50, 8, 8]])), 5, 53)).toBe(0);
    expect(at(matteOf(map([BODY, [0, 10, 20, 60]])), 10, 40)).toBe(1);
  });

  test("has nothing that somebody else claims more surely than the player", () => {
    const sleeve: Box = [70, 40, 4, 20];
    expect(at(matteOf(map([BODY, sleeve])), 71, 50)).toBe(1);
    expect(at(matteOf(map([BODY, sleeve]), map([BODY]), [[70, 30, 30, 70]]), 71, 50)).toBe(0);
  });
});

describe("whose parts they are", () => {
  const maps = {
    core: map([BODY]),
    salience: map([[0, 0, SIDE, SIDE]]),
    rivals: nobody,
  };

  test("a part that touches the body is the player's, one with a face of its own is not", () => {
    const sleeve: Box = [74, 40, 16, 10];
    const sleeved = ownParts(player, { ...maps, ...partsOf([BODY, [70, 40, 20, 10]], [FACE]) }, grid);
    expect(at(sleeved, 85, 45)).toBe(1);
    const headed = ownParts(player, { ...maps, ...partsOf([BODY, [70, 40, 20, 10]], [FACE, sleeve]) }, grid);
    expect(at(headed, 85, 45)).toBe(0);
  });

  test("a part that touches the body is dropped where it is large, or hardly stands out and is doubtful", () => {
    const owned = (part: Box, salience = maps.salience, partLogOdds = 4) => {
      const body = map([BODY], 4, -4);
      const logOdds = map([part], partLogOdds, -4).map((value, i) => Math.max(value, Number(body[i])));
      return at(
        ownParts(player, { ...maps, logOdds, faces: map([FACE]), hair: nobody, salience }, grid),
        85,
        45,
      );
    };
    const plate: Box = [70, 40, 20, 10];
    expect([owned(plate), owned([70, 12, 28, 80])]).toEqual([1, 0]);
    expect([owned(plate, nobody), owned(plate, nobody, 1)]).toEqual([1, 0]);
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
    const mask = (values: Float32Array<ArrayBuffer>) => ({ ...player.people, values });
    const claims = (faces: Box[]) =>
      rivalsOf({ ...player, rivals: [rival] }, grid, null, {
        logOdds: mask(map([BODY, hand], 4, -4)),
        hair: mask(nobody),
        face: mask(map([FACE, ...faces])),
      });
    expect(at(claims([]), 82, 17)).toBe(0);
    expect(at(claims([hand]), 82, 17)).toBeGreaterThan(0.9);
  });
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
      { rect: { x: 0, y: 0, width: side, height: side }, parts: look(faces, covers) } as never,
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
