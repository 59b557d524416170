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
  const head =
    "M500 52c74 0 126 54 128 138 1 22-1 42-4 58 14 2 20 18 14 42-5 22-16 36-30 36-6 22-18 46-34 64-2 40 4 92 14 130H412c10-38 16-90 14-130-16-18-28-42-34-64-14 0-25-14-30-36-6-24 0-40 14-42-3-16-5-36-4-58 2-84 54-138 128-138z";
  const shirt =
    "M404 436c30 44 62 62 96 62s66-18 96-62c22 20 60 36 112 54 84 28 136 66 164 134 30 74 52 206 64 376H64c12-170 34-302 64-376 28-68 80-106 164-134 52-18 90-34 112-54z";
  const collar = "M404 436c30 44 62 62 96 62s66-18 96-62l24 17c-34 56-74 80-120 80s-86-24-120-80z";
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1000" width="1000" height="1000">
<defs><linearGradient id="a" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="${palette.metal}"/><stop offset="0.5" stop-color="${palette.metalDark}"/><stop offset="1" stop-color="${palette.metalDeep}"/></linearGradient>
<linearGradient id="b" x1="0" y1="0" x2="1" y2="0.2"><stop offset="0" stop-color="${palette.metalLight}"/><stop offset="0.3" stop-color="${palette.metalLight}" stop-opacity="0"/><stop offset="0.7" stop-color="${palette.metalBright}" stop-opacity="0"/><stop offset="1" stop-color="${palette.metalBright}"/></linearGradient>
<linearGradient id="c" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${palette.metalDark}"/><stop offset="0.5" stop-color="${palette.slabFrom}"/><stop offset="1" stop-color="${palette.slabTo}"/></linearGradient></defs>
<path d="${head}" fill="url(#a)" stroke="url(#b)" stroke-width="6"/><path d="${shirt}" fill="url(#c)" stroke="url(#b)" stroke-width="7"/>
<path d="M300 486 262 1000h-62l50-495zM700 486l38 514h62l-50-495z" fill="${palette.metal}" opacity="0.22"/><path d="${collar}" fill="${palette.metal}" opacity="0.7"/></svg>`;
  return {
    bytes: new TextEncoder().encode(svg),
    contentType: "image/svg+xml",
    width: 1000,
    height: 1000,
    framing: {
      face: { x: 378, y: 160, width: 244, height: 268 },
      head: { x: 360, y: 52, width: 280, height: 376 },
      body: { x: 64, y: 52, width: 872, height: 948 },
      cutSides: { top: false, right: false, bottom: true, left: false },
    },
  };
}
