import type { CutoutDescription } from "../../core/card.ts";
import type { Palette } from "./colours.ts";

/** The stand-in for a missing photo: head and shoulders in the card's metal colours, lit from above. */
export function silhouette(palette: Palette): Pick<
  CutoutDescription,
  "width" | "height" | "framing" | "outline"
> & {
  bytes: Uint8Array;
  contentType: string;
} {
  const head =
    "M500 56c82 0 134 52 132 138 0 8 0 14-1 20 16-2 23 16 17 44-5 22-17 36-31 34-8 38-28 72-51 92-2 22 4 60 14 90v64H420v-64c10-30 16-68 14-90-23-20-43-54-51-92-14 2-26-12-31-34-6-28 1-46 17-44-1-6-1-12-1-20-2-86 50-138 132-138z";
  const hair =
    "M368 224c-26-96 16-186 128-190 40-2 74 10 96 30 50 18 66 82 44 160-8-6-8-34-14-58-8-22-20-36-30-46-50 14-114 16-166-8-24 16-38 38-42 62-4 22-8 44-16 50z";
  const shirt =
    "M404 436c30 44 62 62 96 62s66-18 96-62c22 20 60 36 112 54 84 28 136 66 164 134 30 74 52 206 64 376H64c12-170 34-302 64-376 28-68 80-106 164-134 52-18 90-34 112-54z";
  const collar = "M404 436c30 44 62 62 96 62s66-18 96-62l24 17c-34 56-74 80-120 80s-86-24-120-80z";
  // The shirt is drawn for a square; on a taller picture it is stretched down to the hips.
  const longer = `transform="translate(0 436) scale(1 1.36) translate(0 -436)"`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 1200" width="1000" height="1200">
<defs><linearGradient id="a" gradientUnits="userSpaceOnUse" x1="300" y1="40" x2="560" y2="520"><stop offset="0" stop-color="${palette.metalDark}"/><stop offset="0.8" stop-color="${palette.metalDeep}"/><stop offset="1" stop-color="${palette.darkTo}"/></linearGradient>
<linearGradient id="b" x1="0" y1="0" x2="1" y2="0.2"><stop offset="0" stop-color="${palette.metalLight}"/><stop offset="0.3" stop-color="${palette.metalLight}" stop-opacity="0"/><stop offset="0.7" stop-color="${palette.metalBright}" stop-opacity="0"/><stop offset="1" stop-color="${palette.metalBright}"/></linearGradient>
<linearGradient id="c" x1="0" y1="0" x2="1" y2="1"><stop offset="0" stop-color="${palette.metalDark}"/><stop offset="0.5" stop-color="${palette.darkFrom}"/><stop offset="1" stop-color="${palette.darkTo}"/></linearGradient></defs>
<g fill="none" stroke="url(#b)" stroke-width="12"><path d="${head}"/><path d="${hair}"/><path d="${shirt}" ${longer}/></g>
<path d="${head}" fill="url(#a)"/><g ${longer}><path d="${shirt}" fill="url(#c)"/><path d="M300 486 262 1000h-62l50-495zM700 486l38 514h62l-50-495z" fill="${palette.metal}" opacity="0.22"/></g><path d="${hair}" fill="url(#a)"/><path d="${collar}" fill="${palette.metal}"/></svg>`;
  return {
    bytes: new TextEncoder().encode(svg),
    contentType: "image/svg+xml",
    width: 1000,
    height: 1200,
    outline: `data:image/svg+xml,${encodeURIComponent(svg)}`,
    framing: {
      face: { x: 383, y: 170, width: 234, height: 262 },
      head: { x: 352, y: 34, width: 296, height: 394 },
      body: { x: 64, y: 52, width: 872, height: 1148 },
      cutSides: { top: false, right: false, bottom: true, left: false },
    },
  };
}
