import type { Framing } from "../core/card.ts";
import type { Palette } from "../core/colours.ts";

/** A player without a photo: head and shoulders in the card's own metal, lit from above. */
export function silhouette(palette: Palette): {
  bytes: Uint8Array;
  contentType: string;
  width: number;
  height: number;
  framing: Framing;
} {
  const figure =
    "M500 40c88 0 150 62 156 168 3 46-4 92-20 132-10 26-18 44-22 66-6 34 6 62 44 82 76 38 178 52 232 130 44 64 66 190 82 382H28c16-192 38-318 82-382 54-78 156-92 232-130 38-20 50-48 44-82-4-22-12-40-22-66-16-40-23-86-20-132C350 102 412 40 500 40z";
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000" width="1000" height="1000">
<defs><linearGradient id="a" x1="0.2" y1="0" x2="0.8" y2="1"><stop offset="0" stop-color="${palette.metalDark}"/><stop offset="0.4" stop-color="${palette.metalDeep}"/><stop offset="1" stop-color="${palette.slabTo}"/></linearGradient>
<linearGradient id="b" x1="0" y1="0" x2="1" y2="0.3"><stop offset="0" stop-color="${palette.metalBright}"/><stop offset="0.35" stop-color="${palette.metalBright}" stop-opacity="0"/><stop offset="0.8" stop-color="${palette.metalBright}" stop-opacity="0"/><stop offset="1" stop-color="${palette.metalLight}"/></linearGradient></defs>
<path d="${figure}" fill="url(#a)"/><path d="${figure}" fill="none" stroke="url(#b)" stroke-width="7" stroke-linejoin="round"/></svg>`;
  return {
    bytes: new TextEncoder().encode(svg),
    contentType: "image/svg+xml",
    width: 1000,
    height: 1000,
    framing: {
      face: { x: 385, y: 175, width: 230, height: 235 },
      head: { x: 345, y: 40, width: 310, height: 370 },
      body: { x: 28, y: 40, width: 944, height: 960 },
      cutSides: { top: false, right: false, bottom: true, left: false },
    },
  };
}
