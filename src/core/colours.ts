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
  /** The scene behind the player, from the darkest edge to the light behind the head. */
  panelDeep: string;
  panel: string;
  panelLight: string;
  /** A second hue for rays, particles and lines of the scene. */
  accent: string;
  glow: string;
  /** The frame's metal from specular highlight to shadow. */
  metalBright: string;
  metalLight: string;
  metal: string;
  metalDark: string;
  metalDeep: string;
  /** The name plate and its text. */
  plateFrom: string;
  plateTo: string;
  plateInk: string;
  /** White or black, whichever strengthens the plate's contrast with its ink. */
  plateSheen: string;
  /** The dark block with skill level and position. */
  slabFrom: string;
  slabTo: string;
  slabInk: string;
  slabInkTo: string;
  slabAccent: string;
  /** The chip of the position, in the accent colour. */
  chipFrom: string;
  chipTo: string;
  chipInk: string;
}

/** WCAG 2.2, success criterion 1.4.3 (AA). */
export const READABLE_CONTRAST = 4.5;

/** Lower bounds of skill level; what a partner without colours gets. */
const TIERS: { from: number; tier: Tier; primary: string; secondary: string }[] = [
  { from: 90, tier: "elite", primary: "#2a1a5e", secondary: "#8fe9ff" },
  { from: 75, tier: "gold", primary: "#b27a12", secondary: "#f6cf63" },
  { from: 60, tier: "silver", primary: "#465365", secondary: "#d6e0ea" },
  { from: 0, tier: "bronze", primary: "#58301a", secondary: "#d58c55" },
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

/** Dark yellow looks like mud, so a yellow turns towards amber as it gets darker, as gold does in shadow. */
function hueAt(base: Oklch, l: number): number {
  return base.h > 70 && base.h < 118 ? Math.max(58, base.h - Math.max(0, base.l - l) * 70) : base.h;
}

/** The colour with another lightness and its chroma scaled and capped. */
function shade(base: Oklch, l: number, chroma = 1, cap = 0.3): string {
  return toHex({ l, c: Math.min(base.c * chroma, cap), h: hueAt(base, l) });
}

/** A ground of two close colours and the ink that is readable on both; the ground moves away from the ink. */
function groundAndInk(base: Oklch): { from: string; to: string; ink: string } {
  const light = shade(base, 0.985, 0.18, 0.02);
  const dark = shade(base, 0.16, 0.5, 0.05);
  const centre = toHex(base);
  const darkInk = contrast(dark, centre) >= contrast(light, centre);
  const ink = darkInk ? dark : light;
  const step = darkInk ? 0.015 : -0.015;
  let l = base.l;
  // A mid grey carries neither ink well: the ground steps away from its ink until it does, with something to spare.
  for (let i = 0; i < 40 && contrast(ink, toHex({ ...base, l })) < READABLE_CONTRAST + 0.6; i++)
    l = clamp(l + step, 0, 1);
  const far = clamp(l + (darkInk ? 0.07 : -0.1), 0.08, 0.985);
  return { from: toHex({ ...base, l }), to: toHex({ ...base, l: far, c: base.c * 0.96 }), ink };
}

/** Moves a colour lighter or darker until it is readable on every given ground. */
function readableOn(colour: Oklch, grounds: string[], target = READABLE_CONTRAST + 0.3): string {
  const up = grounds.every((ground) => luminance(ground) < 0.18);
  let l = colour.l;
  for (let i = 0; i < 60; i++) {
    const hex = toHex({ ...colour, l });
    if (grounds.every((ground) => contrast(hex, ground) >= target)) return hex;
    l = clamp(l + (up ? 0.02 : -0.02), 0, 1);
  }
  return up ? "#ffffff" : "#000000";
}

/** How different two colours look; 0.1 is a clear difference (Euclidean distance in OKLab). */
export function difference(a: string, b: string): number {
  const [p, q] = [toOklch(a), toOklch(b)];
  const angle = ((p.h - q.h) * Math.PI) / 180;
  const chroma = Math.sqrt(Math.max(0, p.c ** 2 + q.c ** 2 - 2 * p.c * q.c * Math.cos(angle)));
  return Math.hypot(p.l - q.l, chroma);
}

export function tierOf(skillLevel: number): Tier {
  return (TIERS.find((tier) => skillLevel >= tier.from) ?? TIERS[TIERS.length - 1])?.tier as Tier;
}

/** A partner for a lone brand colour: white with a breath of its hue, or its own hue as dark as ink. */
function companionOf(primary: string): string {
  const p = toOklch(primary);
  return p.l < 0.6 ? shade(p, 0.96, 0.08, 0.012) : shade(p, clamp(p.l - 0.5, 0.16, 0.34), 0.7, 0.12);
}

/**
 * Derives the card's colours. No brand colours: the tier of `skillLevel` (1 to 99) gives them; one: its companion
 * is derived; two: both are kept, and only lightness is adjusted where a text would not be readable.
 */
export function paletteOf(
  branding: { primaryColor?: string; secondaryColor?: string },
  skillLevel: number,
): Palette {
  const tier = tierOf(skillLevel);
  const branded = branding.primaryColor ?? branding.secondaryColor;
  const preset = TIERS.find((row) => row.tier === tier) as (typeof TIERS)[number];
  const primary = branded ?? preset.primary;
  let secondary = branded
    ? (branding.primaryColor && branding.secondaryColor) || companionOf(primary)
    : preset.secondary;
  if (difference(primary, secondary) < 0.12) secondary = companionOf(primary);
  const p = toOklch(primary);
  const s = toOklch(secondary);
  return {
    tier,
    ...panelColours(p, s),
    ...metalColours(s, p, branded ? undefined : tier),
    ...textColours(p, s),
  };
}

function panelColours(p: Oklch, s: Oklch) {
  // A white or pastel club keeps a bright panel; the rest get depth around the player.
  const mid = clamp(p.l, 0.3, 0.86);
  const pale = mid > 0.78;
  // A red that is lightened as far as a blue turns pink, and no club plays in pink by accident.
  const lift = p.c > 0.14 && (p.h < 45 || p.h > 345) ? 0.09 : 0.2;
  return {
    panelDeep: shade(p, pale ? 0.72 : Math.max(0.13, mid * 0.37), pale ? 0.9 : 0.75, 0.16),
    panel: shade(p, pale ? 0.86 : mid * 0.88, 1.02),
    panelLight: shade(p, clamp(mid + lift, 0.5, 0.97), 1),
    accent: shade(s, clamp(s.l, 0.3, 0.94)),
    glow: s.l > 0.55 ? shade(s, clamp(s.l + 0.08, 0.8, 0.97), 0.85) : shade(p, 0.88, 0.6),
  };
}

function metalColours(s: Oklch, p: Oklch, tier?: Tier) {
  // Strong chroma makes plastic of metal; a colourless secondary takes a breath of the primary.
  const tint = s.c > 0.03 ? s : { ...s, h: p.h, c: Math.min(p.c, 0.018) };
  const c = Math.min(tint.c, tier === "gold" ? 0.125 : tier === "bronze" ? 0.105 : 0.1);
  const dark = !tier && s.l < 0.36;
  const of = (l: number, chroma: number) =>
    toHex({ l: dark ? l * 0.86 : l, c: c * chroma, h: hueAt({ ...tint, l: 0.9 }, l) });
  return {
    metalBright: of(0.985, 0.25),
    metalLight: of(0.88, 0.8),
    metal: of(0.7, 1),
    metalDark: of(0.45, 0.85),
    metalDeep: of(0.24, 0.6),
  };
}

function textColours(p: Oklch, s: Oklch) {
  const plate = groundAndInk(s);
  // The chip must differ from the slab it lies on, so a dark secondary gives way to a light primary.
  const chip = groundAndInk(s.l > 0.45 ? s : p.l > 0.45 ? p : { ...s, l: 0.82, c: s.c * 0.6 });
  const slabFrom = shade(p, 0.2, 0.5, 0.075);
  const slabTo = shade(p, 0.12, 0.45, 0.05);
  const warm = s.c > 0.03 && s.l > 0.4 ? s : { ...p, c: Math.min(p.c, 0.05) };
  return {
    plateFrom: plate.from,
    plateTo: plate.to,
    plateInk: plate.ink,
    plateSheen: luminance(plate.ink) < 0.2 ? "#ffffff" : "#000000",
    slabFrom,
    slabTo,
    slabInk: shade(warm, 0.985, 0.15, 0.025),
    slabInkTo: readableOn({ ...warm, l: 0.82, c: Math.min(warm.c, 0.13) }, [slabFrom, slabTo], 7),
    slabAccent: readableOn({ ...warm, l: Math.max(warm.l, 0.72) }, [slabFrom, slabTo]),
    chipFrom: chip.from,
    chipTo: chip.to,
    chipInk: chip.ink,
  };
}
