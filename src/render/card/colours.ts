/**
 * Every colour of a card, derived from at most two brand colours. Work happens in OKLCH, where equal steps of
 * lightness look equal for every hue (Björn Ottosson, "A perceptual color space for image processing", 2020).
 */

/** Lightness 0..1, chroma 0..about 0.37, hue in degrees. */
export interface Oklch {
  l: number;
  c: number;
  h: number;
}

export type Tier = "bronze" | "silver" | "gold" | "elite";

/** Colours as `#rrggbb`. A `...From`/`...To` pair is a gradient whose every colour carries the named ink. */
export interface Palette {
  tier: Tier;
  /**
   * The brand's two colours unchanged, or the tier's; one that is missing or too similar to the other is
   * derived.
   */
  primary: string;
  secondary: string;
  /** The scene behind the player, from the darkest edge to the light behind the head. */
  panelDeep: string;
  panel: string;
  panelLight: string;
  /** A second hue for the scene's rays, particles and lines. */
  accent: string;
  glow: string;
  /** The tier's metal, from specular highlight to shadow, independent of the club's colours. */
  metalBright: string;
  metalLight: string;
  metal: string;
  metalDark: string;
  metalDeep: string;
  /** The name plate and its text. */
  plateFrom: string;
  plateTo: string;
  plateInk: string;
  /** White or black, whichever increases the plate's contrast with its ink. */
  plateSheen: string;
  /** The plate with the skill level, in the tier's metal, and the ink on it. */
  ratingFrom: string;
  ratingTo: string;
  ratingInk: string;
  /** Dark grounds in the club's hue. */
  darkFrom: string;
  darkTo: string;
  /** The chips with position and number, in the first brand colour. */
  chipFrom: string;
  chipTo: string;
  chipInk: string;
}

/** WCAG 2.2, success criterion 1.4.3 (AA). */
export const READABLE_CONTRAST = 4.5;

type Metal = Pick<
  Palette,
  "metalBright" | "metalLight" | "metal" | "metalDark" | "metalDeep" | "ratingFrom" | "ratingTo" | "ratingInk"
>;

const metalOf = ([metalBright, metalLight, metal, metalDark, metalDeep]: [
  string,
  string,
  string,
  string,
  string,
]) => ({ metalBright, metalLight, metal, metalDark, metalDeep });

/** For each tier: the lowest skill level, its metal, and the colours used when the partner has none. */
const TIERS: { from: number; tier: Tier; primary: string; secondary: string; metal: Metal }[] = [
  {
    from: 90,
    tier: "elite",
    primary: "#2a1a5e",
    secondary: "#8fe9ff",
    metal: {
      ...metalOf(["#ffffff", "#c3d4ff", "#6f63c9", "#2b2166", "#0c0824"]),
      ratingFrom: "#1d1447",
      ratingTo: "#080514",
      ratingInk: "#f4fbff",
    },
  },
  {
    from: 75,
    tier: "gold",
    primary: "#1d2f55",
    secondary: "#f6cf63",
    metal: {
      ...metalOf(["#fffbe0", "#f7d774", "#cf9f2c", "#7f560a", "#3b2603"]),
      ratingFrom: "#ffeeb0",
      ratingTo: "#d9a62e",
      ratingInk: "#2a1b02",
    },
  },
  {
    from: 60,
    tier: "silver",
    primary: "#465365",
    secondary: "#d6e0ea",
    metal: {
      ...metalOf(["#ffffff", "#e3e9ef", "#a7b2bd", "#5b6672", "#242a31"]),
      ratingFrom: "#fbfdff",
      ratingTo: "#b3bec9",
      ratingInk: "#12181f",
    },
  },
  {
    from: 0,
    tier: "bronze",
    primary: "#1f4346",
    secondary: "#e39a62",
    metal: {
      ...metalOf(["#ffdcc2", "#d98e5c", "#a2592c", "#5f2e12", "#2c1305"]),
      ratingFrom: "#dd9a68",
      ratingTo: "#b26a38",
      ratingInk: "#1d0b02",
    },
  },
];

const clamp = (value: number, low: number, high: number) => Math.min(high, Math.max(low, value));

function linearOf(channel: number): number {
  const v = channel / 255;
  return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
}

function rgbOf(hex: string): [number, number, number] {
  const n = Number.parseInt(hex.slice(1), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
}

/** `#rrggbb` to OKLCH; matrices from Ottosson's reference implementation. */
export function toOklch(hex: string): Oklch {
  const [r, g, b] = rgbOf(hex).map(linearOf) as [number, number, number];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  const a = 1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s;
  const bb = 0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s;
  const h = (Math.atan2(bb, a) * 180) / Math.PI;
  return {
    l: 0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    c: Math.hypot(a, bb),
    h: (h + 360) % 360,
  };
}

function linearRgb({ l, c, h }: Oklch): [number, number, number] {
  const a = c * Math.cos((h * Math.PI) / 180);
  const b = c * Math.sin((h * Math.PI) / 180);
  const ll = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const mm = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const ss = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * ll - 3.3077115913 * mm + 0.2309699292 * ss,
    -1.2684380046 * ll + 2.6097574011 * mm - 0.3413193965 * ss,
    -0.0041960863 * ll - 0.7034186147 * mm + 1.707614701 * ss,
  ];
}

/** OKLCH to `#rrggbb`; chroma is lowered until the colour exists in sRGB, so lightness and hue are kept. */
export function toHex(colour: Oklch): string {
  const l = clamp(colour.l, 0, 1);
  let c = Math.max(0, colour.c);
  const inside = (chroma: number) =>
    linearRgb({ l, c: chroma, h: colour.h }).every((v) => v >= -0.0005 && v <= 1.0005);
  for (let step = 0; step < 24 && !inside(c); step++) c *= 0.9;
  if (!inside(c)) c = 0;
  const channels = linearRgb({ l, c, h: colour.h }).map((v) => {
    const x = clamp(v, 0, 1);
    const s = x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055;
    return Math.round(s * 255);
  });
  return `#${channels.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

/** WCAG 2.2 relative luminance of `#rrggbb`, 0..1. */
export function luminance(hex: string): number {
  const [r, g, b] = rgbOf(hex).map(linearOf) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG 2.2 contrast ratio of two colours, 1..21. */
export function contrast(a: string, b: string): number {
  const [la, lb] = [luminance(a), luminance(b)];
  return (Math.max(la, lb) + 0.05) / (Math.min(la, lb) + 0.05);
}

/** Dark yellow looks like mud, so yellow shifts towards amber as it darkens, as gold does in shadow. */
function hueAt(base: Oklch, l: number): number {
  return base.h > 70 && base.h < 118 ? Math.max(58, base.h - Math.max(0, base.l - l) * 70) : base.h;
}

/** The colour with another lightness and its chroma scaled and capped. */
function shade(base: Oklch, l: number, chroma = 1, cap = 0.3): string {
  return toHex({ l, c: Math.min(base.c * chroma, cap), h: hueAt(base, l) });
}

/**
 * A brand colour unchanged, a similar one further from the ink to pair with it, and the ink. Black or white
 * is readable on every colour (at least 4.58 to 1); a tinted ink is used when it is readable too.
 */
function groundAndInk(from: string): { from: string; to: string; ink: string } {
  const base = toOklch(from);
  const onDark = contrast("#ffffff", from) > contrast("#000000", from);
  const inks = onDark
    ? [shade(base, 0.985, 0.18, 0.02), "#ffffff"]
    : [shade(base, 0.16, 0.5, 0.05), "#000000"];
  const ink = inks.find((one) => contrast(one, from) >= READABLE_CONTRAST + 0.6) ?? (inks[1] as string);
  const to = toHex({ ...base, l: clamp(base.l + (onDark ? -0.07 : 0.05), 0, 1), c: base.c * 0.98 });
  return { from, to: contrast(ink, to) >= contrast(ink, from) ? to : from, ink };
}

/** How different two colours look; 0.1 is a clear difference (Euclidean distance in OKLab). */
export function difference(a: string, b: string): number {
  const [p, q] = [toOklch(a), toOklch(b)];
  const angle = ((p.h - q.h) * Math.PI) / 180;
  const chroma = Math.sqrt(Math.max(0, p.c ** 2 + q.c ** 2 - 2 * p.c * q.c * Math.cos(angle)));
  return Math.hypot(p.l - q.l, chroma);
}

/** The perceptual midpoint of two colours (in OKLab). */
export function between(a: string, b: string): string {
  const [p, q] = [toOklch(a), toOklch(b)];
  const at = (colour: Oklch, turn: (angle: number) => number) => colour.c * turn((colour.h * Math.PI) / 180);
  const [x, y] = [(at(p, Math.cos) + at(q, Math.cos)) / 2, (at(p, Math.sin) + at(q, Math.sin)) / 2];
  return toHex({ l: (p.l + q.l) / 2, c: Math.hypot(x, y), h: (Math.atan2(y, x) * 180) / Math.PI });
}

export function tierOf(skillLevel: number): Tier {
  return (TIERS.find((tier) => skillLevel >= tier.from) ?? TIERS[TIERS.length - 1])?.tier as Tier;
}

/** A partner for a single brand colour: white with a hint of its hue, or its own hue as dark as ink. */
function companionOf(primary: string): string {
  const p = toOklch(primary);
  return p.l < 0.6 ? shade(p, 0.96, 0.08, 0.012) : shade(p, clamp(p.l - 0.5, 0.16, 0.34), 0.7, 0.12);
}

/**
 * Derives the card's colours. The tier of `skillLevel` (1 to 99) gives the metal and, for clubs without
 * colours, everything else; a single brand colour gets a companion; two are both kept. Brand colours are
 * never altered: the ink is chosen to be readable on them.
 */
export function paletteOf(
  branding: { primaryColor?: string; secondaryColor?: string },
  skillLevel: number,
): Palette {
  const tier = tierOf(skillLevel);
  const branded = branding.primaryColor ?? branding.secondaryColor;
  const preset = TIERS.find((row) => row.tier === tier) as (typeof TIERS)[number];
  const primary = (branded ?? preset.primary).toLowerCase();
  let secondary = branded
    ? (branding.primaryColor && branding.secondaryColor?.toLowerCase()) || companionOf(primary)
    : preset.secondary;
  if (difference(primary, secondary) < 0.12) secondary = companionOf(primary);
  const p = toOklch(primary);
  const plate = groundAndInk(secondary);
  const chip = groundAndInk(primary);
  return {
    tier,
    primary,
    secondary,
    ...panelColours(primary, toOklch(secondary)),
    ...preset.metal,
    plateFrom: plate.from,
    plateTo: plate.to,
    plateInk: plate.ink,
    plateSheen: luminance(plate.ink) < 0.2 ? "#ffffff" : "#000000",
    darkFrom: shade(p, 0.2, 0.5, 0.075),
    darkTo: shade(p, 0.12, 0.45, 0.05),
    chipFrom: chip.from,
    chipTo: chip.to,
    chipInk: chip.ink,
  };
}

function panelColours(primary: string, s: Oklch) {
  const p = toOklch(primary);
  // Red lightened as far as blue turns pink, which no club has chosen.
  const lift = p.c > 0.14 && (p.h < 45 || p.h > 345) ? 0.07 : 0.15;
  // Depth comes from the dark side, except that a white club keeps a bright panel.
  const depth = p.l > 0.8 ? p.l - 0.19 : Math.max(0.06, p.l * 0.5);
  return {
    panelDeep: shade(p, depth, 0.9, 0.2),
    panel: primary,
    panelLight: shade(p, clamp(Math.max(p.l + lift, 0.24), 0, 0.99), 1),
    accent: shade(s, s.l),
    glow: s.l > 0.55 ? shade(s, clamp(s.l + 0.08, 0.8, 0.97), 0.85) : shade(p, 0.9, 0.6),
  };
}
