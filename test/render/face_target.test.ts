import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { placeCutout } from "../../src/core/framing.ts";
import type { LayoutName } from "../../src/core/template-layout.ts";
import { loadTemplate } from "../../src/templates/load.ts";
import manifest from "../photos/manifest.json" with { type: "json" };
import { openLab, photo } from "./photo_lab.ts";

// Opening a browser with every network takes seconds on a busy machine.
setDefaultTimeout(60_000);

const { layouts } = (await loadTemplate("club_card")).manifest;
const CARDS: Record<LayoutName, { width: number; height: number }> = {
  portrait: { width: 1024, height: 1280 },
  square: { width: 1024, height: 1024 },
  landscape: { width: 1600, height: 900 },
};
/** A close-up fills the card with its face, so its middle lies lower; a full-length face is small and lies higher. */
const MEAN_LIMIT = 0.085;
const WORST_LIMIT = 0.23;

/** Where the labelled face (its middle, as fractions of the player) comes to lie, against the target, in card heights. */
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
    for (const layout of ["portrait", "square", "landscape"] as const) {
      const card = CARDS[layout];
      const target = layouts[layout].face;
      const place = placeCutout(result.cutout, result.cutout.framing, layouts[layout], card);
      misses.push({
        file,
        layout,
        across: (place.x + faceX * place.width - (target.x + target.width / 2) * card.width) / card.height,
        down: (place.y + faceY * place.height) / card.height - (target.y + target.height / 2),
      });
    }
  }
  const worst = misses.reduce((a, b) => (distance(b) > distance(a) ? b : a));
  console.log(
    `face in target: mean ${mean().toFixed(3)}, worst ${distance(worst).toFixed(3)} of the card's height (${worst.file}, ${worst.layout}), ${misses.length} cards`,
  );
});
afterAll(() => lab?.close());

const distance = ({ down, across }: Miss) => Math.hypot(down, across);
const mean = () => misses.reduce((sum, miss) => sum + distance(miss), 0) / misses.length;

describe("the labelled faces lie where the template wants them", () => {
  test("on average, in every layout", () => {
    expect(misses.length).toBe(manifest.filter(({ expect: expected }) => expected === "cutout").length * 3);
    expect(mean()).toBeLessThan(MEAN_LIMIT);
  });

  test("each one near, also a close-up and a full-length photo", () => {
    expect(misses.filter((miss) => distance(miss) > WORST_LIMIT)).toEqual([]);
  });
});
