import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { asCutout } from "../../../src/render/card/placement/player-place.ts";
import type { LayoutName } from "../../../src/render/card/placement/template-layout.ts";
import manifest from "../../photos/manifest.json" with { type: "json" };
import { openLab, photo } from "../photo/photo-lab.ts";
import { CLUB_CARD_ZONES } from "./club-card-zones.ts";

const CARDS: Record<LayoutName, { width: number; height: number }> = {
  portrait: { width: 1024, height: 1280 },
  square: { width: 1024, height: 1024 },
  landscape: { width: 1600, height: 900 },
};
/**
 * Across, of the card's width: a player moves aside only so far as arms or a photo's straight edge ask for
 * it.
 */
const MEAN_ACROSS = 0.065;
const WORST_ACROSS = 0.14;
/**
 * Down, of the card's height: crown or hands are at the top, so a close-up's middle lies lower than a small
 * face's, and lowest where hair and face fill the frame.
 */
const HIGHEST = -0.13;
const LOWEST = 0.4;

/**
 * Where the labelled face (its middle, as fractions of the photo) comes to lie, against the target: in card
 * widths across, in card heights down.
 */
interface Miss {
  file: string;
  layout: LayoutName;
  down: number;
  across: number;
}
const misses: Miss[] = [];
let lab: Awaited<ReturnType<typeof openLab>>;

beforeAll(async () => {
  lab = await openLab();
  for (const { file, face } of manifest) {
    if (!face) continue;
    const [faceX = 0, faceY = 0] = face;
    const result = await lab.cutOut(photo(file));
    if (!result.ok) throw new Error(`${file} was refused: ${result.reason}`);
    const cutout = { ...result.cutout, path: file };
    const { x, y, width, height } = cutout.inPhoto;
    const [inCutoutX, inCutoutY] = [(faceX - x) / width, (faceY - y) / height];
    for (const layout of ["portrait", "square", "landscape"] as const) {
      const card = { x: 0, y: 0, ...CARDS[layout] };
      const target = CLUB_CARD_ZONES[layout].face;
      const { place } = asCutout(cutout, cutout, CLUB_CARD_ZONES[layout], card);
      misses.push({
        file,
        layout,
        across: (place.x + inCutoutX * place.width - (target.x + target.width / 2) * card.width) / card.width,
        down: (place.y + inCutoutY * place.height) / card.height - (target.y + target.height / 2),
      });
    }
  }
  const worst = misses.reduce((a, b) => (Math.abs(b.across) > Math.abs(a.across) ? b : a));
  console.log(
    `face across the target: mean ${mean().toFixed(3)}, worst ${worst.across.toFixed(3)} of the card's width (${worst.file}, ${worst.layout}), ${misses.length} cards`,
  );
});
afterAll(() => lab?.close());

const mean = () => misses.reduce((sum, { across }) => sum + Math.abs(across), 0) / misses.length;

describe("the labelled faces lie where the template wants them", () => {
  test("on average, in every layout", () => {
    expect(misses.length).toBe(manifest.filter(({ expect: expected }) => expected === "cutout").length * 3);
    expect(mean()).toBeLessThan(MEAN_ACROSS);
  });

  test("each one near, also a close-up and a full-length photo", () => {
    const far = ({ across, down }: Miss) =>
      Math.abs(across) > WORST_ACROSS || down < HIGHEST || down > LOWEST;
    expect(misses.filter(far)).toEqual([]);
  });
});
