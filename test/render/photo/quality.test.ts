import { expect, test } from "bun:test";
import type { Finding } from "../../../src/render/photo/page/find_player.js";
import { isDrawn } from "../../../src/render/photo/page/quality.js";

const SIDE = 300;
/** A picture of black and white stripes, two pixels wide each. */
const stripes = {
  width: SIDE,
  height: SIDE,
  getContext: () => ({
    getImageData: () => ({
      data: Uint8ClampedArray.from({ length: 4 * SIDE * SIDE }, (_, i) => ((i >> 3) % 2 ? 255 : 0)),
    }),
  }),
} as unknown as OffscreenCanvas;
/** Somebody all over that picture. */
const person = (detector: number, face: number) =>
  ({
    detector,
    face: { score: face },
    body: { height: SIDE },
    pose: {
      mask: {
        values: new Float32Array(4).fill(1),
        width: 2,
        height: 2,
        crop: { cx: SIDE / 2, cy: SIDE / 2, width: SIDE, height: SIDE, rotation: 0 },
      },
    },
  }) as unknown as Finding;

test("somebody full of hard lines is drawn, unless body and face are beyond doubt: striped shirts are", () => {
  expect(isDrawn(stripes, person(0.97, 0.81))).toBe(false);
  expect(isDrawn(stripes, person(0.76, 0.9))).toBe(true);
  expect(isDrawn(stripes, person(0.97, 0.46))).toBe(true);
});
