import type { Browser } from "puppeteer-core";
import type { Badge } from "../../../src/core/card.ts";
import type { CardSpec, CUTOUT_NAMES } from "./cards.ts";

/**
 * The cards that are kept as pictures: name, details, player, whether there is a badge, and the photo of a
 * card that shows it.
 */
export const GOLDENS: [string, CardSpec, (typeof CUTOUT_NAMES)[number] | null, boolean, string?][] = [
  ["portrait-gold", { skill: 81, name: "Jonas Ødegaard", position: "CAM", number: 8 }, "man", false],
  [
    "portrait-branded-badge",
    { primary: "#0b3d91", secondary: "#ffcc00", theme: "stadium" },
    "astronaut",
    true,
  ],
  [
    "square-full-length",
    { width: 560, height: 560, primary: "#c8102e", secondary: "#ffffff", name: "Łukasz Piątek" },
    "yoga",
    false,
  ],
  [
    "landscape-arabic",
    { width: 800, height: 450, skill: 93, name: "محمد صلاح", theme: "neon" },
    "skier",
    true,
  ],
  [
    "portrait-in-photo",
    { skill: 71, primary: "#034694", secondary: "#ffffff", composition: "photo" },
    "astronaut",
    true,
    "astronaut.png",
  ],
  [
    "landscape-in-photo",
    { width: 800, height: 450, skill: 95, name: "Łukasz Piątek", composition: "photo", theme: "fire" },
    "yoga",
    false,
    "yoga.jpg",
  ],
  // The rating is at the right, and the photo narrower than the window.
  [
    "square-in-photo",
    { width: 560, height: 560, skill: 64, primary: "#00843d", secondary: "#ffffff", composition: "photo" },
    "man",
    true,
    "unsplash_man.jpg",
  ],
  ["portrait-silhouette", { skill: 58, name: "孙兴慜" }, null, false],
];
const BADGE_SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="96" height="96"><circle cx="48" cy="48" r="44" fill="#c8102e" stroke="#fff" stroke-width="6"/></svg>`;

/** A round badge, drawn by the browser. */
export async function badge(browser: Browser): Promise<Badge> {
  const drawing = await browser.newPage();
  await drawing.setViewport({ width: 96, height: 96 });
  await drawing.setContent(`<style>body{margin:0}</style>${BADGE_SVG}`);
  const bytes = await drawing.screenshot({ omitBackground: true });
  await drawing.close();
  return { bytes, contentType: "image/png" };
}
