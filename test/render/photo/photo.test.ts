import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Box, Cutout } from "../../../src/core/card.ts";
import { above, alphaOf, type Bytes, below, patches } from "../../../src/render/photo/page/pixels.ts";
import type { CutOutResult } from "../../../src/render/photo/photo.ts";
import manifest from "../../photos/manifest.json" with { type: "json" };
import { openLab, type Pixels, photo, png16 } from "./photo-lab.ts";

let lab: Awaited<ReturnType<typeof openLab>>;
const results = new Map<string, CutOutResult>();

beforeAll(async () => {
  lab = await openLab();
});

afterAll(() => lab?.close());

/** The same photo is worked on once for all tests. */
async function resultOf(file: string): Promise<CutOutResult> {
  const result = results.get(file) ?? (await lab.cutOut(photo(file)));
  results.set(file, result);
  return result;
}

async function cutoutOf(file: string): Promise<Cutout> {
  const result = await resultOf(file);
  if (!result.ok) throw new Error(`${file} was refused: ${result.reason}`);
  return result.cutout;
}

const CUT_OUT = manifest.filter(({ expect }) => expect === "cutout").map(({ file }) => file);

describe("people are found, everything else is refused", () => {
  for (const { file, expect: expected } of manifest) {
    test(`${file}: ${expected}`, async () => {
      const result = await resultOf(file);
      expect(result.ok ? "cutout" : result.reason).toBe(expected);
      if (!result.ok) expect(result.message).toMatch(/Use one where/);
    });
  }
});

test("a face that the photo's edge cuts in two is refused with what to send instead, a cut ear is not", async () => {
  const bytes = photo("unsplash_man.jpg");
  const { width, height } = await lab.pixelsOf(bytes);
  const fromColumn = async (x: number) => {
    const cropped = await lab.draw([width - x, height], [{ bytes, at: [-x, 0] }]);
    return lab.cutOut(cropped);
  };
  const halved = await fromColumn(Math.round(width * 0.5));
  expect(halved).toMatchObject({ ok: false, reason: "face_cut" });
  expect("message" in halved && halved.message).toContain("Use a photo that shows the whole face");
  expect(await fromColumn(Math.round(width * 0.28))).toMatchObject({ ok: true });
});

describe("whether somebody is drawn is not judged, since real people are taken for drawings too", () => {
  const shadesOf = (pixels: Pixels, shades: number) => {
    const step = 255 / (shades - 1);
    const rgba = pixels.rgba.map((value, i) => (i % 4 === 3 ? value : step * Math.round(value / step)));
    return png16({ ...pixels, rgba }, 2);
  };

  test("a photo in three shades a colour, full of hard lines, is cut out", async () => {
    const pixels = await lab.pixelsOf(photo("unsplash_man.jpg"));
    expect(await lab.cutOut(shadesOf(pixels, 3))).toMatchObject({ ok: true });
  });

  test("a photo without detail in seven shades a colour, as if painted, is cut out", async () => {
    const soft = await lab.softened(photo("unsplash_man.jpg"), 900);
    expect(await lab.cutOut(shadesOf(soft, 7))).toMatchObject({ ok: true });
  });
});

test("somebody as large beside the player makes two, also where no face is seen", async () => {
  const man = photo("unsplash_man.jpg");
  const { width, height } = await lab.pixelsOf(man);
  const { framing, inPhoto } = await cutoutOf("unsplash_man.jpg");
  const face = framing.face as Box;
  // The other one's eyes and nose are behind bricks.
  const at = [
    width + face.x - 0.1 * face.width,
    inPhoto.y * height + face.y,
    1.2 * face.width,
    0.6 * face.height,
  ];
  const pictures = [
    { bytes: man, at: [0, 0] },
    { bytes: man, at: [width, 0] },
    { bytes: photo("brick.png"), at },
  ];
  const pair = await lab.draw([2 * width, height], pictures);
  expect(await lab.cutOut(pair)).toMatchObject({ ok: false, reason: "several_people" });
});

describe("a photo turned in its pixels", () => {
  for (const [file, degrees] of [
    ["astronaut.png", 90],
    ["astronaut.png", 180],
    ["astronaut.png", 270],
    ["yoga.jpg", 90],
  ] as const) {
    test(`${file}, turned by ${degrees} degrees, gives the same card as upright`, async () => {
      const { framing, width, height } = await cutoutOf(file);
      const turned = await lab.cutOut(await new Bun.Image(photo(file)).rotate(degrees).png().bytes());
      if (!turned.ok) throw new Error(turned.reason);
      expect(Math.abs(turned.cutout.width - width)).toBeLessThanOrEqual(3);
      expect(Math.abs(turned.cutout.height - height)).toBeLessThanOrEqual(3);
      for (const side of ["x", "y", "width", "height"] as const)
        expect(Math.abs(turned.cutout.framing.head[side] - framing.head[side])).toBeLessThanOrEqual(4);
    });
  }
});

describe("refused with a reason of its own", () => {
  const refusalOf = async (bytes: Uint8Array) => {
    const result = await lab.cutOut(bytes);
    return result.ok ? "accepted" : result.reason;
  };
  const bytes = photo("astronaut.png");
  /** The astronaut at the left, and once more where `at` says. */
  const beside = (at: number[]) =>
    lab.draw(
      [1024, 512],
      [
        { bytes, at: [0, 0, 512, 512] },
        { bytes, at },
      ],
    );

  test("two people of the same size: several_people", async () => {
    const twins = await beside([512, 0, 512, 512]);
    expect(await refusalOf(twins)).toBe("several_people");
    expect(await lab.cutOut(twins, { company: "smaller" })).toMatchObject({
      ok: false,
      reason: "several_people",
    });
  });

  describe("of several people, a focus", () => {
    /** The middle of the head in the photo, from the left. */
    const headAt = (result: CutOutResult) => {
      if (!result.ok) throw new Error(result.reason);
      const { inPhoto, framing, width } = result.cutout;
      return inPhoto.x + ((framing.head.x + framing.head.width / 2) / width) * inPhoto.width;
    };

    test("finds whose card it is, by the face or the body, also of the smaller one", async () => {
      const two = await beside([540, 102, 410, 410]);
      const at = async (x: number, y: number) => headAt(await lab.cutOut(two, { focus: { x, y } }));
      expect(await at(0.22, 0.25)).toBeWithin(0.18, 0.26);
      expect(await at(0.22, 0.8)).toBeWithin(0.18, 0.26);
      expect(await at(0.7, 0.4)).toBeWithin(0.66, 0.74);
    });

    test("where nobody is gets no card, and the field to correct", async () => {
      const nobody = await lab.cutOut(bytes, { focus: { x: 0.8, y: 0.1 } });
      expect(nobody).toMatchObject({
        ok: false,
        reason: "nobody_at_focus",
        message: expect.stringContaining("player.focus"),
      });
    });

    test("at somebody whom others overlap gets no card, whether or not the photo is cut out already", async () => {
      const { inPhoto, bytes: cutout } = await cutoutOf("astronaut.png");
      const at = [140 + 512 * inPhoto.x, 512 * inPhoto.y, 512 * inPhoto.width, 512 * inPhoto.height];
      const pictures = [
        { bytes, at: [0, 0] },
        { bytes: cutout, at },
      ];
      for (const jpeg of [0.95, undefined]) {
        const embraced = await lab.draw([768, 512], pictures, jpeg ? { jpeg } : {});
        const result = await lab.cutOut(embraced, { focus: { x: 0.29, y: 0.25 } });
        expect(result).toMatchObject({ ok: false, reason: "overlapped" });
      }
    });
  });

  test("a large and a smaller player: several_people, but welcome where the card shows the photo itself", async () => {
    const two = await beside([540, 102, 410, 410]);
    expect(await refusalOf(two)).toBe("several_people");
    const shown = await lab.cutOut(two, { company: "smaller" });
    if (!shown.ok) throw new Error(shown.reason);
    expect(shown.cutout.inCompany).toBe(true);
    // The large one, at the left.
    const { inPhoto, framing, width } = shown.cutout;
    const head = framing.head.x + framing.head.width / 2;
    expect(inPhoto.x + (head / width) * inPhoto.width).toBeLessThan(0.5);
  });

  test("a small copy, enlarged: too_blurred; three times as large is sharp enough", async () => {
    const enlarged = async (side: number) => {
      const small = await new Bun.Image(bytes).resize(side, side).png().bytes();
      return new Bun.Image(small).resize(512, 512).png().bytes();
    };
    expect(await refusalOf(await enlarged(64))).toBe("too_blurred");
    expect(await refusalOf(await enlarged(200))).toBe("accepted");
  });

  test("nearly black: too_dark; nearly white: too_bright", async () => {
    const pixels = await lab.pixelsOf(bytes);
    const shifted = (change: (value: number) => number) =>
      png16({ ...pixels, rgba: pixels.rgba.map((value, i) => (i % 4 === 3 ? value : change(value))) }, 2);
    expect(await refusalOf(shifted((value) => value * 0.04))).toBe("too_dark");
    expect(await refusalOf(shifted((value) => 45 + value * 0.12))).toBe("too_dark");
    expect(await refusalOf(shifted((value) => 255 - (255 - value) * 0.05))).toBe("too_bright");
  });

  test("a small figure in a small photo: player_too_small", async () => {
    const pitch = await lab.draw(
      [400, 300],
      [
        { bytes: photo("road.jpg"), at: [0, 0, 400, 300] },
        { bytes, at: [150, 175, 125, 125] },
      ],
    );
    expect(await refusalOf(pitch)).toBe("player_too_small");
  });
});

test("a body whose head is out of the picture never is the player, however large", async () => {
  const bytes = photo("astronaut.png");
  const png = await lab.draw(
    [900, 512],
    [
      { bytes: photo("yoga.jpg"), at: [-150, -260, 1800, 1200] },
      { bytes, at: [0, 232, 280, 280] },
    ],
  );
  const result = await lab.cutOut(png);
  expect(result.ok && result.cutout.framing.face?.width).toBeWithin(40, 90);
});

const inside = (inner: Box, outer: { width: number; height: number }) =>
  inner.x >= 0 &&
  inner.y >= 0 &&
  inner.x + inner.width <= outer.width &&
  inner.y + inner.height <= outer.height;

describe("framing lies within the cutout", () => {
  for (const file of CUT_OUT) {
    test(file, async () => {
      const { framing, ...cutout } = await cutoutOf(file);
      const { face, head, body } = framing;
      expect([head, body, ...(face ? [face] : [])].every((box) => inside(box, cutout))).toBe(true);
      if (face) {
        expect(face.x + face.width / 2).toBeWithin(head.x, head.x + head.width);
        expect(face.height).toBeLessThanOrEqual(head.height);
      }
      // The head is in the upper half of a player, and the trim leaves only a small margin.
      expect(head.y + head.height / 2).toBeLessThan(cutout.height * 0.55);
      expect(body.width).toBeGreaterThan(cutout.width * 0.9);
    });
  }

  test("the sides at which the photo cuts the player are named", async () => {
    expect((await cutoutOf("astronaut.png")).framing.cutSides).toMatchObject({ top: false, bottom: true });
    expect((await cutoutOf("unsplash_man.jpg")).framing.cutSides).toMatchObject({ top: false, bottom: true });
    const none = { top: false, right: false, bottom: false, left: false };
    expect((await cutoutOf("yoga.jpg")).framing.cutSides).toEqual(none);
  });
});

/** Parts of the player's solid area: outside the largest patch, and in holes without a way out. */
function faults({ rgba, width }: Pixels) {
  const cells = rgba.length / 4;
  const alpha = alphaOf(rgba as Bytes);
  const solid = patches(above(alpha, 128), width).sizes.slice(1);
  const area = solid.reduce((sum, size) => sum + size, 0);
  const open = patches(below(alpha, 64), width);
  const atBorder = new Set<number>();
  for (let i = 0; i < cells; i++) {
    const x = i % width;
    if (x === 0 || x === width - 1 || i < width || i >= cells - width) atBorder.add(open.labels[i]);
  }
  const holes = open.sizes.reduce(
    (sum, size, label) => sum + (label > 0 && !atBorder.has(label) ? size : 0),
    0,
  );
  return { islands: 1 - Math.max(...solid) / area, holes: holes / area };
}

test("the rider beside and behind the cyclist is left out of the cutout", async () => {
  const { rgba, width } = await lab.pixelsOf((await cutoutOf("cyclists.jpg")).bytes);
  const { framing } = await cutoutOf("cyclists.jpg");
  const { face } = framing;
  if (!face) throw new Error("the cyclist has a face");
  // That rider's head is two and a half face widths to the left of the cyclist's face, three face heights
  // lower.
  const [left, top] = [face.x - 3.2 * face.width, face.y + 2.2 * face.height];
  let solid = 0;
  for (let i = 0; i < rgba.length / 4; i++) {
    const [x, y] = [i % width, Math.floor(i / width)];
    const isThere = x >= left && x < face.x - 2.1 * face.width && y >= top && y < face.y + 3.2 * face.height;
    if (isThere && (rgba[4 * i + 3] ?? 0) > 128) solid++;
  }
  expect(solid).toBeLessThan(0.05 * face.width * face.height);
});

describe("a cutout is one player without holes", () => {
  // The photographer's tripod shows the lawn between its legs; the cyclist's frame shows the road; curls the
  // wall.
  const SEE_THROUGH = new Map([
    ["camera.png", 0.02],
    ["cyclists.jpg", 0.02],
    ["unsplash_man.jpg", 0.02],
    // Between arm, body, leg and pole; between arms and body.
    ["skier.jpg", 0.07],
    ["market_street.jpg", 0.03],
  ]);
  for (const file of CUT_OUT) {
    test(file, async () => {
      const { islands, holes } = faults(await lab.pixelsOf((await cutoutOf(file)).bytes));
      console.log(`${file}: islands ${(100 * islands).toFixed(2)} %, holes ${(100 * holes).toFixed(2)} %`);
      expect(islands).toBeLessThan(0.01);
      expect(holes).toBeLessThan(SEE_THROUGH.get(file) ?? 0.005);
    });
  }
});

describe("one player of several", () => {
  test("the most prominent one is taken, and only that one", async () => {
    const bytes = photo("astronaut.png");
    const two = await lab.draw(
      [900, 512],
      [
        { bytes, at: [0, 0, 512, 512] },
        { bytes, at: [600, 212, 300, 300] },
      ],
    );
    const result = await lab.cutOut(two);
    const alone = await cutoutOf("astronaut.png");
    expect(result.ok && result.cutout.width).toBeWithin(alone.width - 70, alone.width + 60);
    expect(result.ok && result.cutout.framing.face?.width).toBeWithin(90, 130);
  });

  test("the cyclist in front is taken, not the bunch", async () => {
    const { width } = await cutoutOf("cyclists.jpg");
    expect(width).toBeLessThan(0.36 * 956);
  });
});

describe("a player far away in a large photo", () => {
  test("is found at a fifth of its height", async () => {
    const { bytes, width, height } = await cutoutOf("skier.jpg");
    const tall = 400;
    const pitch = await lab.draw(
      [3000, 2000],
      [
        { bytes: photo("road.jpg"), at: [0, 0, 3000, 2000] },
        { bytes, at: [600, 800, (tall * width) / height, tall] },
      ],
    );
    const result = await lab.cutOut(pitch);
    expect(result).toMatchObject({ ok: true });
    expect(result.ok && result.cutout.height).toBeWithin(tall * 0.9, tall * 1.1);
  });

  test("is refused in a crowd, whose arms would be on the card too", async () => {
    const large = await new Bun.Image(photo("ship.jpg")).resize(3000, 2041).jpeg({ quality: 92 }).bytes();
    expect(await lab.cutOut(large)).toMatchObject({ ok: false, reason: "no_player" });
  });
});

describe("an edge", () => {
  test("is soft, and free of the old background's colour", async () => {
    // Before black: whatever brightness is left at the edge is the player's own.
    const { rgba } = await lab.pixelsOf((await cutoutOf("yoga.jpg")).bytes);
    let soft = 0;
    let solid = 0;
    let blueish = 0;
    for (let i = 0; i < rgba.length; i += 4) {
      const [r = 0, , b = 0, a = 0] = rgba.subarray(i, i + 4);
      if (a >= 250) solid++;
      if (a < 40 || a > 215) continue;
      soft++;
      if (b > r + 25) blueish++; // The sky behind the skin.
    }
    console.log(`soft ${soft}, solid ${solid}, blueish ${blueish}`);
    expect(soft).toBeWithin(solid * 0.005, solid * 0.2);
    expect(blueish / soft).toBeLessThan(0.1);
  });
});

test("the same bytes give the same cutout, also in another browser", async () => {
  const first = await cutoutOf("skier.jpg");
  const other = await openLab();
  try {
    const again = await other.cutOut(photo("skier.jpg"));
    expect(again.ok && again.cutout).toEqual(first);
  } finally {
    await other.close();
  }
});

test("a cutout is the same when memory was freed between finding its player and asking for it", async () => {
  const found = await lab.cutter.describe(join(import.meta.dir, "../../photos/skier.jpg"));
  await lab.cutter.tidy();
  expect(found.ok && (await found.pixels())).toEqual((await cutoutOf("skier.jpg")).bytes);
});
