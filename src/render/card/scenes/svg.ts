/** Short SVG builders for the scenes. Numbers are rounded, so that equal scenes are equal text. */

export const n = (value: number): string => String(Math.round(value * 10) / 10);

export type Stop = [offset: number, colour: string, opacity?: number];

const stops = (list: Stop[]): string =>
  list
    .map(
      ([at, colour, opacity]) =>
        `<stop offset="${at}" stop-color="${colour}"${opacity === undefined ? "" : ` stop-opacity="${opacity}"`}/>`,
    )
    .join("");

/** A linear gradient from (x1, y1) to (x2, y2), in fractions of the shape it fills. */
export const linear = (id: string, list: Stop[], [x1, y1, x2, y2] = [0, 0, 0, 1]): string =>
  `<linearGradient id="${id}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}">${stops(list)}</linearGradient>`;

/** A radial gradient over the shape it fills. */
export const radial = (id: string, list: Stop[]): string =>
  `<radialGradient id="${id}">${stops(list)}</radialGradient>`;

export const rect = (x: number, y: number, w: number, h: number, fill: string, more = ""): string =>
  `<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${fill}"${more && ` ${more}`}/>`;

export const circle = (x: number, y: number, r: number, fill: string, more = ""): string =>
  `<circle cx="${n(x)}" cy="${n(y)}" r="${n(r)}" fill="${fill}"${more && ` ${more}`}/>`;

export const ellipse = (x: number, y: number, rx: number, ry: number, fill: string, more = ""): string =>
  `<ellipse cx="${n(x)}" cy="${n(y)}" rx="${n(rx)}" ry="${n(ry)}" fill="${fill}"${more && ` ${more}`}/>`;

export const path = (d: string, fill: string, more = ""): string =>
  `<path d="${d}" fill="${fill}"${more && ` ${more}`}/>`;

export const polygon = (points: [number, number][], fill: string, more = ""): string =>
  `<polygon points="${points.map(([x, y]) => `${n(x)},${n(y)}`).join(" ")}" fill="${fill}"${more && ` ${more}`}/>`;

export const stroke = (d: string, colour: string, width: number, more = ""): string =>
  `<path d="${d}" fill="none" stroke="${colour}" stroke-width="${n(width)}"${more && ` ${more}`}/>`;

/** Calls `draw` for 0..count-1 and joins what it returns. */
export const times = (count: number, draw: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => draw(i)).join("");
