import { between, difference, type Palette, toHex, toOklch } from "../colours.ts";
import { drawFoil } from "./foils.ts";
import type { Canvas, SceneColours } from "./scene-canvas.ts";
import { drawPattern } from "./scene-patterns.ts";
import { n } from "./svg.ts";
import { coloursNamed } from "./theme-colours.ts";
import { THEME_LIST, type Theme } from "./theme-list.ts";

/**
 * What is drawn: a theme, "facets" when none was asked for or one colour, "sashes" for several colours,
 * "pattern" for unknown words.
 */
type SceneName = Theme | "facets" | "sashes" | "pattern";

export interface Scene {
  theme: SceneName;
  /** The theme, and the one layered over it if any. */
  themes: SceneName[];
  svg: string;
  colours: SceneColours;
}

/** Themes known by name; every other text gets a pattern of its own. */
export const THEMES = Object.keys(THEME_LIST) as Theme[];

const themeOfWord = new Map(
  THEMES.flatMap((theme) => THEME_LIST[theme].words.split(" ").map((word) => [plain(word), theme] as const)),
);

/** Longer texts would add nothing visible. */
const MAX_TEXT = 200;

function plain(text: string): string {
  return text.replace(/ß/g, "ss").normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

const wordsOf = (text: string) => plain(text.slice(0, MAX_TEXT)).match(/[\p{L}\p{N}]+/gu) ?? [];

function themeOfOne(word: string): Theme | undefined {
  const singular = [
    word,
    word.replace(/ies$/u, "y"),
    word.replace(/s$/u, ""),
    word.replace(/(es|en|y)$/u, ""),
  ];
  const theme = singular.map((form) => themeOfWord.get(form)).find(Boolean);
  if (theme) return theme;
  // Chinese and Japanese write no spaces between words.
  for (const [known, name] of themeOfWord)
    if (/\p{Script=Han}/u.test(known) && word.includes(known)) return name;
  return undefined;
}

/** Every theme a free text names, plurals included, each once, in the order of its words. */
export function themesOf(text: string): Theme[] {
  const named = wordsOf(text)
    .map(themeOfOne)
    .filter((theme) => theme !== undefined);
  return [...new Set(named)];
}

/** 32-bit FNV-1a (Fowler, Noll, Vo) of a text's UTF-16 units. */
function seedOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** mulberry32 (Tommy Ettinger): small, fast and the same everywhere. */
function sequence(seed: number): Canvas["random"] {
  let state = seed;
  return (low, high) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return low + (((t ^ (t >>> 14)) >>> 0) / 4294967296) * (high - low);
  };
}

/** What a text asks for: a scene, weather or light over it, and colours. */
interface ThemeRequest {
  theme: SceneName;
  over: Theme | undefined;
  /** As `#rrggbb`. */
  colours: string[];
}

function parseTheme(text: string): ThemeRequest {
  if (text === "") return { theme: "facets", over: undefined, colours: [] };
  const themes = themesOf(text);
  const colours = coloursNamed(wordsOf(text));
  // What can be layered over another scene is: a snowy forest is a forest in snow, in whichever order it is
  // written.
  const theme = themes.find((name) => !THEME_LIST[name].paintOver) ?? themes[0];
  const over = themes.find((name) => name !== theme && THEME_LIST[name].paintOver);
  if (theme) return { theme, over, colours };
  return {
    theme: colours.length > 1 ? "sashes" : colours.length === 1 ? "facets" : "pattern",
    over,
    colours,
  };
}

/**
 * How much scenes vary between players: how far they are shifted sideways, and how much they are enlarged.
 */
const MAX_PAN = 45;
const MAX_ZOOM = 1.12;

/** A number of 0..1 for a free text, so that a template can vary with it; equal for equal texts. */
export function seedOfTheme(text: string | undefined): number {
  return seedOf(plain((text ?? "").slice(0, MAX_TEXT)).trim()) / 2 ** 32;
}

/** The themes and colours of the background for a free text, without drawing it. */
export function sceneColoursOf(
  text: string | undefined,
  palette: Palette,
  branded: boolean,
): Pick<Scene, "themes" | "colours"> {
  const asked = parseTheme(plain((text ?? "").slice(0, MAX_TEXT)).trim());
  const themes = asked.over === undefined ? [asked.theme] : [asked.theme, asked.over];
  return { themes, colours: coloursOf(asked, palette, branded) };
}

/**
 * Draws the background for a free text (or none) as SVG of the given shape; equal input gives equal output.
 * The text itself never gets into the SVG. `branded` keeps the club's colours unless the scene has natural
 * colours of its own; `seed` varies the scene within one design.
 */
export function sceneOf(
  text: string | undefined,
  palette: Palette,
  size: { width: number; height: number; focus: { x: number; y: number } },
  branded: boolean,
  seed = 0,
): Scene {
  const words = plain((text ?? "").slice(0, MAX_TEXT)).trim();
  const { theme, over, colours: named } = parseTheme(words);
  const height = Math.round((1000 * size.height) / size.width);
  const random = sequence(seedOf(words) ^ seed);
  // Neighbouring seeds give similar first numbers, so the first is skipped.
  random(0, 1);
  const isMirrored = random(0, 1) < 0.5;
  const canvas: Canvas = {
    height,
    x: (isMirrored ? 1 - size.focus.x : size.focus.x) * 1000 + random(-70, 70),
    y: size.focus.y * height + random(0, 40),
    colours: coloursOf({ theme, over, colours: named }, palette, branded),
    tones: named.length > 1 ? named : [],
    random,
    shared: sequence(seedOf(words)),
  };
  const zoom = random(1.01, MAX_ZOOM);
  const pan = random(-1, 1) * Math.min(MAX_PAN, (zoom - 1) * 500);
  const art =
    drawTheme(theme, canvas) +
    ((over && THEME_LIST[over].paintOver?.(canvas)) ?? "") +
    drawFoil(palette.tier, canvas);
  const turn = `translate(${n(500 + pan)} ${n(height / 2)}) scale(${isMirrored ? -1 : 1} 1) scale(${Math.round(zoom * 1000) / 1000}) translate(-500 ${n(-height / 2)})`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 ${height}" width="1000" height="${height}" preserveAspectRatio="xMidYMid slice"><g transform="${turn}">${art}</g></svg>`;
  return { theme, themes: over === undefined ? [theme] : [theme, over], svg, colours: canvas.colours };
}

const isTheme = (scene: SceneName): scene is Theme => scene in THEME_LIST;

function drawTheme(scene: SceneName, canvas: Canvas): string {
  return isTheme(scene) ? THEME_LIST[scene].paint(canvas) : drawPattern(scene, canvas);
}

/**
 * A number for a player, so that a team's cards vary within one design; equal for equal names and numbers.
 */
export function seedOfPlayer(player: { name: string; number: number }): number {
  return seedOf(`${player.name}\n${player.number}`);
}

/**
 * How many scenes a theme has for one look. A squad's cards differ, but not all from each other, so that
 * scenes come again and need not be drawn anew: a page keeps all of a club with three tiers. A power of two.
 */
export const SCENE_VARIANTS = 4;

/** The `seed` of a player's scene: one of that many. */
export function sceneVariantOf(player: { name: string; number: number }): number {
  const seed = seedOfPlayer(player);
  // FNV's low bits alone depend on too little of the text; folded, they depend on all of it.
  const variant = (seed ^ (seed >>> 16)) & (SCENE_VARIANTS - 1);
  // Spread, since neighbouring seeds begin alike.
  return Math.imul(variant + 1, 0xc2b2ae35) >>> 0;
}

function coloursOf({ theme, over, colours }: ThemeRequest, palette: Palette, branded: boolean): SceneColours {
  const keepsColours = isTheme(theme) && (!branded || THEME_LIST[theme].keepsColours);
  let scene = keepsColours ? naturalOf(theme) : brandColours(palette);
  const light = over && naturalOf(over);
  if (light) scene = mixed(scene, light);
  return colours.length > 0 ? tinted(scene, colours, isTheme(theme)) : scene;
}

function naturalOf(theme: Theme): SceneColours {
  const [deep, mid, light, accent, glow] = THEME_LIST[theme].colours;
  return { deep, mid, light, accent, glow };
}

/** The midpoint of both grounds, with the second scene's lights. */
function mixed(base: SceneColours, over: SceneColours): SceneColours {
  return {
    deep: between(base.deep, over.deep),
    mid: between(base.mid, over.mid),
    light: between(base.light, over.light),
    accent: over.accent,
    glow: over.glow,
  };
}

/** The scene in the colours the text names: the first for its ground, the second for its lines. */
function tinted(
  scene: SceneColours,
  [first = "", second, third]: string[],
  isOfTheme: boolean,
): SceneColours {
  const c = toOklch(first);
  const isPale = c.l > 0.8;
  const lit = { ...c, l: Math.min(0.97, c.l + (isPale ? 0.06 : 0.16)) };
  const accent =
    second ?? (isOfTheme ? toHex({ ...c, l: Math.min(0.94, c.l + 0.3), c: c.c * 0.8 }) : scene.accent);
  return {
    deep: toHex({ ...c, l: isPale ? c.l - 0.22 : Math.max(0.06, c.l * 0.5), c: c.c * 0.9 }),
    mid: first,
    light: toHex(lit),
    accent: difference(accent, first) < 0.15 ? (isPale ? "#50555e" : "#ffffff") : accent,
    glow: third ?? toHex({ ...c, l: 0.94, c: c.c * 0.35 }),
  };
}

function brandColours(palette: Palette): SceneColours {
  const brand = {
    deep: palette.panelDeep,
    mid: palette.panel,
    light: palette.panelLight,
    accent: palette.accent,
    glow: palette.glow,
  };
  // A scene's accent must stand out from its ground; two dark brand colours would hide every line.
  const ground = toOklch(brand.mid);
  const line = toOklch(brand.accent);
  if (Math.abs(line.l - ground.l) < 0.18)
    brand.accent = toHex({ ...line, l: ground.l > 0.6 ? ground.l - 0.3 : ground.l + 0.32 });
  return brand;
}
