import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { paletteOf } from "../../../src/render/card/colours.ts";
import { coloursNamed } from "../../../src/render/card/scenes/theme-colours.ts";
import {
  SCENE_VARIANTS,
  sceneOf,
  sceneVariantOf,
  THEMES,
  themesOf,
} from "../../../src/render/card/scenes/themes.ts";
import drawn from "../../fixtures/themes-drawn.json" with { type: "json" };

const palette = paletteOf({ primaryColor: "#0b3d91", secondaryColor: "#ffcc00" }, 80);
const size = { width: 1000, height: 1250, focus: { x: 0.55, y: 0.2 } };
const scene = (text?: string) => sceneOf(text, palette, size, true);

describe("themes", () => {
  test("there are at least sixteen and each draws a scene of its own", () => {
    expect(THEMES.length).toBeGreaterThanOrEqual(16);
    expect(new Set(THEMES.map((theme) => scene(theme).svg)).size).toBe(THEMES.length);
    for (const theme of THEMES) expect(scene(theme).theme).toBe(theme);
  });

  test("the documentation's sheet of themes shows every one", () => {
    // `bun scripts/docs-pictures.ts themes` draws the sheet and writes this list.
    expect(drawn).toEqual(THEMES);
  });

  test("words in sentences, plurals, other languages and scripts find their theme", () => {
    const specs: Record<string, string> = {
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
    for (const [spec, theme] of Object.entries(specs))
      expect([spec, themesOf(spec)[0]]).toEqual([spec, theme]);
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

  test("fire stays fire under blue club colours, a stadium takes the club's", () => {
    for (const branded of [true, false])
      expect(sceneOf("fire", palette, size, branded).colours.light).toBe("#e24a05");
    expect(scene("stadium").colours.mid).toBe(palette.panel);
    expect(sceneOf("stadium", palette, size, false).colours.mid).toBe("#0d3a33");
  });

  test("unknown words stay in the card's own colours", () => {
    for (const branded of [true, false])
      expect(sceneOf("bananas", palette, size, branded).colours.mid).toBe(palette.panel);
  });

  test("words for colours give that colour, with or without a theme and club colours", () => {
    for (const branded of [true, false]) {
      expect(sceneOf("red", palette, size, branded).colours.mid).toBe("#d3122a");
      expect(sceneOf("a PINK background", palette, size, branded).colours.mid).toBe("#f03c96");
      expect(sceneOf("blaues Stadion", palette, size, branded).theme).toBe("stadium");
      expect(sceneOf("green stadium", palette, size, branded).colours.mid).toBe("#0f9144");
      expect(sceneOf("weiß", palette, size, branded).colours.mid).toBe("#ffffff");
    }
    expect(coloursNamed(["sky", "blue", "black"])).toEqual(["#7cc4f2", "#101114"]);
  });

  test("a flag gives its country's colours, each of them in the picture", () => {
    const { svg, theme } = scene("Brazil flag");
    expect(theme).toBe("sashes");
    for (const colour of ["#009739", "#fedd00", "#012169"]) expect(svg).toContain(colour);
    expect(scene("Deutschland").colours.accent).toBe("#dd0000");
  });

  test("two themes at once are both drawn, in whichever order they are said", () => {
    expect(themesOf("snowy forest at night")).toEqual(["snow", "forest", "night"]);
    for (const spec of ["snowy forest", "forest in the snow"]) {
      const both = scene(spec);
      expect(both.theme).toBe("forest");
      expect(both.svg.length).toBeGreaterThan(scene("forest").svg.length + 5000);
    }
  });

  test("a squad's scenes come in a few variants that all differ, the same one for the same player", () => {
    const team = Array.from({ length: 40 }, (_, i) => ({ name: `Player ${i}`, number: i + 1 }));
    const drawn = (player: { name: string; number: number }) =>
      sceneOf(undefined, palette, size, true, sceneVariantOf(player)).svg;
    expect(new Set(team.map(drawn)).size).toBe(SCENE_VARIANTS);
    expect(drawn(team[7] ?? { name: "", number: 0 })).toBe(drawn({ name: "Player 7", number: 8 }));
  });

  test("a scene stays small enough to draw quickly", () => {
    for (const theme of [undefined, ...THEMES, "unknown"])
      expect(scene(theme).svg.length).toBeLessThan(120_000);
  });
});
