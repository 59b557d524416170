import { describe, expect, test } from "bun:test";
import { bodyEnd, interruption } from "../../../src/render/photo/page/body-end.ts";
import type { Subject } from "../../../src/render/photo/page/examine.ts";

// A photo of 100 x 200 pixels, cut at its own resolution. The face is 10 wide and 14 high, the chin at 24.
const [WIDTH, HEIGHT] = [100, 200];
const cut = { width: WIDTH, rect: { x: 0, y: 0 }, zoom: 1 };

/** A player whose ankles are at `ankles`. */
function player(ankles: number): Subject {
  const points = Array.from({ length: 33 }, () => ({ x: 50, y: ankles }));
  const face = { x: 45, y: 10, width: 10, height: 14, score: 0.9, points: [] };
  const head = { centre: { x: 50, y: 16 }, height: 20 };
  return { face, head, pose: { points, presence: 1 } } as unknown as Subject;
}

/** Alpha that is solid in boxes of left, top, width and height. */
function solid(...boxes: [x: number, y: number, width: number, height: number][]) {
  const alpha = new Uint8ClampedArray(WIDTH * HEIGHT);
  for (const [x, y, width, height] of boxes)
    for (let row = y; row < y + height; row++) alpha.fill(255, row * WIDTH + x, row * WIDTH + x + width);
  return alpha;
}
const HEAD_AND_TRUNK: [number, number, number, number][] = [
  [45, 4, 10, 20],
  [35, 24, 30, 50],
];

describe("where a body ends", () => {
  test("nowhere before its feet, whether standing or leaping on one leg", () => {
    expect(bodyEnd(solid(...HEAD_AND_TRUNK, [38, 74, 8, 66], [54, 74, 8, 66]), cut, player(138))).toBeNull();
    expect(bodyEnd(solid(...HEAD_AND_TRUNK, [46, 74, 7, 40]), cut, player(112))).toBeNull();
  });

  test("nowhere when the photo's edge cuts it", () => {
    expect(bodyEnd(solid(...HEAD_AND_TRUNK, [35, 74, 30, 126]), cut, player(260))).toBeNull();
  });

  test("above a net, although the legs go on behind it", () => {
    const legs: [number, number, number, number][] = [
      [36, 84, 8, 50],
      [56, 84, 8, 50],
    ];
    expect(bodyEnd(solid(...HEAD_AND_TRUNK, ...legs), cut, player(132))).toBe(74);
  });

  test("nowhere where it only ends early, with ankles out of sight", () => {
    expect(bodyEnd(solid(...HEAD_AND_TRUNK), cut, player(150))).toBeNull();
  });

  test("a fold is no interruption, and neither are pointed toes", () => {
    expect(interruption([3, 3, 0.5, 3, 3], 3)).toBeNull();
    expect(interruption([3, 3, 1, 0.5, 0.5, 0.4, 0.2, 0], 3)).toBeNull();
    expect(interruption([3, 3, 0.5, 0.4, 0.4, 0.4, 1.4], 3)).toBe(2);
  });
});
