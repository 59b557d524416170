import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { paletteOf } from "../../src/core/colours.ts";
import { sceneOf, THEMES, themeOf } from "../../src/core/themes.ts";

const palette = paletteOf({ primaryColor: "#0b3d91", secondaryColor: "#ffcc00" }, 80);
const size = { width: 1000, height: 1250, focus: { x: 0.55, y: 0.2 } };
const scene = (text?: string) => sceneOf(text, palette, size, true);

describe("themes", () => {
  test("there are at least sixteen and each draws a scene of its own", () => {
    expect(THEMES.length).toBeGreaterThanOrEqual(16);
    expect(new Set(THEMES.map((theme) => scene(theme).svg)).size).toBe(THEMES.length);
    for (const theme of THEMES) expect(scene(theme).theme).toBe(theme);
  });

  test("words in sentences, plurals, other languages and scripts find their theme", () => {
    const wishes: Record<string, string> = {
      "A packed STADIUM under floodlights": "stadium",
      "burning flames!": "fire",
      Estádio: "stadium",
      "la nuit": "night",
      galaxies: "galaxy",
      eis: "ice",
      Gewitter: "storm",
      夜の街: "night",
      огонь: "fire",
      waves: "ocean",
      "neon-city": "neon",
      "cœur de l'océan": "ocean",
    };
    for (const [wish, theme] of Object.entries(wishes)) expect([wish, themeOf(wish)]).toEqual([wish, theme]);
  });

  test("unknown words give repeatable patterns that differ from each other", () => {
    const words = Array.from({ length: 60 }, (_, i) => `word${i}`);
    const drawn = words.map((word) => scene(word));
    expect(drawn.every(({ theme }) => theme === "pattern")).toBe(true);
    expect(new Set(drawn.map(({ svg }) => svg)).size).toBe(words.length);
    expect(words.map((word) => scene(word).svg)).toEqual(drawn.map(({ svg }) => svg));
  });

  test("no text, however hostile, gets into the picture, and every picture is well-formed", () => {
    const hostile = `"><script>alert(1)</script><image href="https://example.com/x">`;
    expect(scene(hostile).svg).not.toContain("example");
    expect(scene(hostile).svg).not.toContain("script");
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        expect(scene(text).svg).not.toMatch(/NaN|undefined|Infinity|href|<script|url\((?!#)/);
      }),
      { numRuns: 300 },
    );
  });

  test("without brand colours a theme brings its own, with them it keeps them", () => {
    expect(sceneOf("fire", palette, size, false).colours.light).toBe("#e24a05");
    expect(scene("fire").colours.mid).toBe(palette.panel);
  });

  test("a scene stays small enough to draw quickly", () => {
    for (const theme of [undefined, ...THEMES, "unknown"])
      expect(scene(theme).svg.length).toBeLessThan(120_000);
  });
});
