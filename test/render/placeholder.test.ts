import { describe, expect, test } from "bun:test";
import { placeholder } from "../../src/render/placeholder.ts";

describe("placeholders", () => {
  const sizes: [number, number][] = [
    [512, 512],
    [1024, 1280],
    [2048, 512],
    [512, 2048],
    [1279, 721],
  ];
  for (const [width, height] of sizes) {
    test(`${width}x${height} is answered in every format at exactly that size`, async () => {
      for (const format of ["png", "webp", "jpeg"] as const) {
        const { bytes, contentType } = await placeholder(width, height, format);
        expect(contentType).toBe(`image/${format}`);
        expect(await new Bun.Image(bytes).metadata()).toMatchObject({ width, height, format });
      }
    });
  }

  test("the same request is drawn once", async () => {
    expect(await placeholder(640, 800, "jpeg")).toBe(await placeholder(640, 800, "jpeg"));
  });
});
