import { expect, test } from "bun:test";
import { maskBelow } from "../../../src/render/photo/page/by-face.ts";
import type { Crop } from "../../../src/render/photo/page/rects.ts";

const SIDE = 64;
const face = { x: 400, y: 100, width: 100, height: 100, score: 0.95, points: [] };

/** What a person mask network sees of a body below the face that ends at a line. */
const bodyDownTo =
  (end: number, width = 300) =>
  async (crop: Crop) => {
    const values = Float32Array.from({ length: SIDE * SIDE }, (_, i) => {
      const x = crop.cx + crop.width * (((i % SIDE) + 0.5) / SIDE - 0.5);
      const y = crop.cy + crop.height * ((Math.floor(i / SIDE) + 0.5) / SIDE - 0.5);
      return Math.abs(x - 450) < width / 2 && y > 100 && y < end ? 1 : 0;
    });
    return { values, width: SIDE, height: SIDE, crop };
  };
const lowerEdge = (crop: Crop) => crop.cy + crop.height / 2;

test("the person mask of somebody found by the face alone goes down as far as the body does", async () => {
  const { crop } = await maskBelow(face, 800, bodyDownTo(700));
  expect(lowerEdge(crop)).toBeGreaterThanOrEqual(700);
  expect(crop.cy - crop.height / 2).toBeLessThanOrEqual(0);
});

test("where a close portrait's body ends the mask is taken from nearby, where it is finer", async () => {
  const { crop } = await maskBelow(face, 800, bodyDownTo(330));
  expect(lowerEdge(crop)).toBe(400);
});

test("so it is where the photo ends, even if the network sees the body go on", async () => {
  const { crop } = await maskBelow(face, 420, bodyDownTo(700));
  expect(lowerEdge(crop)).toBe(400);
});

test("two people beside each other are not taken for one body", async () => {
  const { crop } = await maskBelow(face, 800, bodyDownTo(700, 600));
  expect(lowerEdge(crop)).toBe(400);
});
