import { expect, test } from "bun:test";
import { join } from "node:path";
import type { CutoutDescription, Framing } from "../../../src/core/card.ts";
import { checkedDescription } from "../../../src/render/photo/checked-description.ts";

const skier: CutoutDescription = await Bun.file(
  join(import.meta.dir, "../../fixtures/cutouts/skier.json"),
).json();
const framed = (framing: Partial<Framing>) => ({ ...skier, framing: { ...skier.framing, ...framing } });

test("a cutout that the page describes is taken as it is described, without a face and with empty strips too", () => {
  expect(checkedDescription(skier)).toBe(skier);
  const turnedAway = framed({ face: null, extents: [null, [0, skier.width]] });
  expect(checkedDescription(turnedAway)).toBe(turnedAway);
});

test("numbers that are none, or lie outside of the picture, fail the photo", () => {
  const box = skier.framing.body;
  const wrong = [
    ...[
      [-1, 10],
      [10, skier.width + 1],
      [20, 10],
      [Number.NaN, 10],
      [0, Number.POSITIVE_INFINITY],
      [null, 10],
      [10],
    ].map((extent) => framed({ extents: [extent] as Framing["extents"] & {} })),
    framed({ extents: "none" as never }),
    framed({ body: { ...box, x: skier.width - box.width + 1 } }),
    framed({ head: { ...box, y: -1 } }),
    framed({ head: { ...box, height: 0 } }),
    { ...skier, width: 0 },
    { ...skier, inPhoto: { ...skier.inPhoto, width: Number.NaN } },
    { ...skier, inPhoto: { ...skier.inPhoto, width: 0 } },
    {
      ...skier,
      tones: [
        [0, 300],
        [0, 255],
        [0, 255],
      ] as never,
    },
    { ...skier, outline: "https://elsewhere.example/outline.png" },
  ];
  for (const description of wrong) expect(() => checkedDescription(description)).toThrow("is not one");
});
