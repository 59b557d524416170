import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  contrast,
  difference,
  type Palette,
  paletteOf,
  READABLE_CONTRAST,
  tierOf,
  toHex,
  toOklch,
} from "../../../src/render/card/colours.ts";

const colour = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, "0")}`);

/** Every text of a card with every colour that can lie behind it. */
function texts(p: Palette): [text: string, ink: string, ground: string][] {
  return [
    ["name", p.plateInk, p.plateFrom],
    ["name", p.plateInk, p.plateTo],
    ["skill level", p.ratingInk, p.ratingFrom],
    ["skill level", p.ratingInk, p.ratingTo],
    ["position and number", p.chipInk, p.chipFrom],
    ["position and number", p.chipInk, p.chipTo],
  ];
}

function expectReadable(palette: Palette): void {
  for (const [text, ink, ground] of texts(palette)) {
    const ratio = contrast(ink, ground);
    if (ratio < READABLE_CONTRAST)
      throw new Error(`${text}: ${ink} on ${ground} is ${ratio.toFixed(2)} to 1`);
  }
}

describe("palettes", () => {
  test("every text is readable on any pair of brand colours", () => {
    fc.assert(
      fc.property(colour, colour, fc.integer({ min: 1, max: 99 }), (primaryColor, secondaryColor, skill) =>
        expectReadable(paletteOf({ primaryColor, secondaryColor }, skill)),
      ),
      { numRuns: 4000 },
    );
  });

  test("every text is readable with one brand colour, whichever it is, and with none", () => {
    fc.assert(
      fc.property(colour, (only) => {
        expectReadable(paletteOf({ primaryColor: only }, 50));
        expectReadable(paletteOf({ secondaryColor: only }, 50));
      }),
      { numRuns: 1500 },
    );
    for (let skill = 1; skill <= 99; skill++) expectReadable(paletteOf({}, skill));
  });

  test("every grey, alone or in pairs of equals, is readable", () => {
    for (let v = 0; v < 256; v++) {
      const grey = `#${v.toString(16).padStart(2, "0").repeat(3)}`;
      expectReadable(paletteOf({ primaryColor: grey, secondaryColor: grey }, 80));
    }
  });

  test("plate and panel differ, also when both brand colours are the same", () => {
    fc.assert(
      fc.property(colour, (same) => {
        const palette = paletteOf({ primaryColor: same, secondaryColor: same }, 70);
        expect(difference(palette.plateFrom, palette.panel)).toBeGreaterThan(0.08);
      }),
      { numRuns: 1000 },
    );
  });

  test("brand colours are shown as they are: white is white and neon is neon", () => {
    fc.assert(
      fc.property(colour, colour, (primaryColor, secondaryColor) => {
        fc.pre(difference(primaryColor, secondaryColor) > 0.13);
        const palette = paletteOf({ primaryColor, secondaryColor }, 80);
        expect([palette.panel, palette.chipFrom]).toEqual([primaryColor, primaryColor]);
        expect(palette.plateFrom).toBe(secondaryColor);
      }),
      { numRuns: 1500 },
    );
    const palette = paletteOf({ primaryColor: "#FFFFFF", secondaryColor: "#39FF14" }, 50);
    expect([palette.panel, palette.plateFrom]).toEqual(["#ffffff", "#39ff14"]);
  });

  test("the metal is the tier's, whatever the club's colours", () => {
    const metals = [45, 68, 82, 95].map(
      (skill) => paletteOf({ primaryColor: "#c8102e", secondaryColor: "#ffffff" }, skill).metal,
    );
    expect(new Set(metals).size).toBe(4);
    expect(paletteOf({ primaryColor: "#39ff14" }, 82).metal).toBe(metals[2] as string);
  });

  test("tiers follow the skill level", () => {
    expect([1, 59, 60, 74, 75, 89, 90, 99].map(tierOf)).toEqual([
      "bronze",
      "bronze",
      "silver",
      "silver",
      "gold",
      "gold",
      "elite",
      "elite",
    ]);
  });
});

describe("colour arithmetic", () => {
  test("OKLCH and back gives the same colour", () => {
    fc.assert(
      fc.property(colour, (hex) => expect(difference(hex, toHex(toOklch(hex)))).toBeLessThan(0.006)),
      { numRuns: 2000 },
    );
  });

  test("contrast matches the values WCAG publishes", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2);
  });
});
