import { afterAll, describe, expect, test } from "bun:test";
import { curveOf } from "../../../src/render/photo/page/exposure.ts";
import { openLab, photo, png16 } from "./photo-lab.ts";

describe("the tone curve", () => {
  test("none for players in ordinary light, of light and dark skin, in light and dark clothes", () => {
    expect(curveOf(0.02, 0.92, 0.74)).toBeNull();
    expect(curveOf(0.27, 0.94, 0.72)).toBeNull();
    expect(curveOf(0.0, 0.65, 0.65)).toBeNull();
    expect(curveOf(0.02, 0.95, 0.4)).toBeNull();
  });

  test("takes haze out: dark becomes nearly black, bright stays", () => {
    const curve = curveOf(0.4, 0.91, 0.75);
    expect(curve?.(0.4)).toBeLessThan(0.12);
    expect(curve?.(0.91)).toBeCloseTo(0.91, 5);
  });

  test("raises a dim player's face, and keeps white white", () => {
    const curve = curveOf(0.07, 0.6, 0.4);
    expect(curve?.(0.4)).toBeGreaterThan(0.5);
    expect(curve?.(0.4)).toBeLessThanOrEqual(0.57 + 1e-6);
    expect(curve?.(1)).toBeCloseTo(1, 5);
  });

  test("never turns tones around, whatever is measured", () => {
    for (let dark = 0; dark <= 1; dark += 0.1)
      for (let bright = dark; bright <= 1; bright += 0.1)
        for (const face of [0, dark, bright, 1]) {
          const curve = curveOf(dark, bright, face);
          if (!curve) continue;
          const tones = Array.from({ length: 101 }, (_, i) => curve(i / 100));
          expect(tones).toEqual(tones.toSorted((a, b) => a - b));
        }
  });
});

const lab = await openLab();
afterAll(lab.close);

test("a player photographed through fog comes out with black and white again", async () => {
  const pixels = await lab.pixelsOf(photo("astronaut.png"));
  const foggy = pixels.rgba.map((value, i) => (i % 4 === 3 ? value : 140 + 0.4 * value));
  const result = await lab.cutOut(png16({ ...pixels, rgba: foggy }, 2));
  if (!result.ok) throw new Error(result.message);
  const { rgba } = await lab.pixelsOf(result.cutout.bytes);
  const greens = Array.from({ length: rgba.length / 4 }, (_, i) => i)
    .filter((i) => Number(rgba[4 * i + 3]) > 230)
    .map((i) => Number(rgba[4 * i + 1]))
    .sort((a, b) => a - b);
  expect(Number(greens[Math.floor(0.02 * greens.length)])).toBeLessThan(90);
  expect(Number(greens[Math.floor(0.98 * greens.length)])).toBeGreaterThan(215);
});
