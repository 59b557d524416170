import { between, difference, type Palette, toHex, toOklch } from "./colours.ts";
import { drawFoil } from "./foils.ts";
import { drawLayer, LAYERS } from "./scene-layers.ts";
import { drawPattern } from "./scene-patterns.ts";
import { drawNature, NATURE } from "./scenes-nature.ts";
import { drawPlace, PLACES } from "./scenes-places.ts";
import { drawWeather, WEATHER } from "./scenes-weather.ts";
import { n } from "./svg.ts";
import { coloursNamed } from "./theme-colours.ts";

/**
 * The colours of one scene, `#rrggbb`: from the darkest edge to the light behind the head, and a second hue.
 */
export interface SceneColours {
  deep: string;
  mid: string;
  light: string;
  accent: string;
  glow: string;
}

/** What a painter works on: 1000 units wide, `height` high, the player's head at (`x`, `y`). */
export interface Canvas {
  height: number;
  x: number;
  y: number;
  colours: SceneColours;
  /** Two or more colours that the text names, such as a flag's; otherwise empty. */
  tones: string[];
  /** The next number of a sequence, from `low` to `high`; the sequence differs for each variant. */
  random: (low: number, high: number) => number;
  /** Likewise, but equal for each text: what all cards of one theme share. */
  shared: (low: number, high: number) => number;
}

export interface Scene {
  /** A known theme's name, "facets" when none was asked for, "pattern" for unknown words. */
  theme: string;
  /** The theme, and the one layered over it if any. */
  themes: string[];
  svg: string;
  colours: SceneColours;
}

/** Words for each theme, without accents, in several languages; one such word in a longer text is enough. */
const WORDS: Record<string, string> = {
  stadium:
    "stadium arena crowd fans floodlight floodlights estadio stade stadion estadi stadio matchday stadyum 体育场 スタジアム стадион ملعب",
  night:
    "night midnight moon moonlight dark noche nuit nacht noite notte noc gece luna lune mond 夜 ночь ليل",
  neon: "neon cyber cyberpunk synthwave vaporwave glow laser lasers led neón futuristic future 霓虹 ネオン неон نيون",
  fire: "fire flame flames inferno hot heat burning lava volcano fuego feu feuer fogo fuoco ogien ates magma 火 炎 огонь نار",
  ice: "ice icy frozen frost freeze glacier crystal crystals hielo glace eis gelo ghiaccio lod buz 冰 氷 лед ثلج",
  gold: "gold golden luxury trophy champion champions oro or dore ouro zloto altin premium 金 золото ذهب",
  galaxy:
    "galaxy space cosmos cosmic universe stars star nebula planet galaxia espacio espace weltraum galassia spazio uzay 银河 宇宙 космос فضاء",
  rain: "rain rainy drizzle wet lluvia pluie regen chuva pioggia deszcz yagmur 雨 дождь مطر",
  city: "city urban skyline downtown street streets metropolis ciudad ville stadt cidade citta miasto sehir 城市 街 город مدينة",
  forest:
    "forest wood woods jungle trees tree nature bosque foret wald floresta foresta las orman selva 森林 森 лес غابة",
  storm:
    "storm stormy lightning thunder thunderstorm bolt electric tormenta orage sturm gewitter tempestade tempesta burza firtina rayo blitz 雷 嵐 шторм عاصفة",
  sunset:
    "sunset sunrise dusk dawn evening sun summer atardecer coucher sonnenuntergang tramonto zachod alba 日落 夕日 закат غروب",
  ocean:
    "ocean sea wave waves water beach mar mer meer oceano mare morze deniz playa coast aqua 海 океан море بحر",
  desert: "desert dune dunes sand sahara desierto wuste deserto pustynia col 沙漠 砂漠 пустыня صحراء",
  carbon: "carbon fibre fiber tech kevlar weave karbon carbono carbone matte stealth 碳 カーボン карбон",
  retro:
    "retro vintage classic oldschool seventies eighties 70s 80s 90s nostalgia throwback klassisch clasico classique 复古 レトロ ретро",
  mountain:
    "mountain mountains alps peak peaks summit rock montana montagne berg berge alpen montanha montagna gora dag 山 гора جبل",
  pitch:
    "pitch grass field lawn turf green cesped pelouse rasen gramado campo prato boisko saha 球场 芝生 поле",
  smoke: "smoke smoky fog mist misty haze steam humo fumee rauch fumo dym duman niebla nebel 烟 煙 дым دخان",
  confetti:
    "confetti party celebration celebrate victory winner carnival fiesta fete feier festa swieto kutlama festival 庆祝 праздник احتفال",
  aurora: "aurora borealis northern polar lights nordlicht aurore polarlicht 极光 オーロラ сияние",
  circuit:
    "circuit digital matrix computer cyberspace data robot robotic code technology technologie tecnologia 电路 デジタル цифровой",
  royal:
    "royal king queen crown palace regal majestic prince real rey roi konig rei re krol kral 王 король ملك",
  snow: "snow snowy winter snowfall blizzard christmas nieve neige schnee neve snieg kar invierno hiver 雪 снег شتاء",
};

/** Themes known by name; every other text gets a pattern of its own. */
export const THEMES = Object.keys(WORDS);

const themeOfWord = new Map(
  Object.entries(WORDS).flatMap(([theme, words]) =>
    words.split(" ").map((word) => [plain(word), theme] as const),
  ),
);

/** The natural colours of each theme, used when the club has none: [deep, mid, light, accent, glow]. */
const NATURAL: Record<string, [string, string, string, string, string]> = {
  stadium: ["#04140f", "#0d3a33", "#3fa07c", "#bff5d8", "#eafff4"],
  night: ["#030717", "#0d1c46", "#33508f", "#f4e7b8", "#dbe6ff"],
  neon: ["#0b0320", "#2a0a5e", "#8a1fd1", "#22f3ff", "#ff5bd8"],
  fire: ["#1c0300", "#7a1200", "#e24a05", "#ffb52b", "#fff0b0"],
  ice: ["#06202f", "#1f6f95", "#7fcdea", "#e2f8ff", "#ffffff"],
  gold: ["#2a1a02", "#7d5509", "#d8a32c", "#ffe28a", "#fff6cf"],
  galaxy: ["#0a0526", "#341a86", "#8a45e0", "#ff7ccc", "#dbe8ff"],
  rain: ["#060d14", "#1e3242", "#557489", "#b8d8ea", "#e3f2fa"],
  city: ["#07080f", "#1b2340", "#50608f", "#ffc76a", "#ffe4b4"],
  forest: ["#04110a", "#12401f", "#4c8a45", "#cfe88a", "#f1ffd0"],
  storm: ["#05060d", "#1c2238", "#535e83", "#b9c9ff", "#f2f4ff"],
  sunset: ["#2a0a2e", "#9c2a4c", "#f3823c", "#ffd166", "#fff0c2"],
  ocean: ["#021c2e", "#05598a", "#2aa7cc", "#a9f0ee", "#e8ffff"],
  desert: ["#3a1806", "#a5541b", "#e3a35a", "#ffdc9a", "#fff3d6"],
  carbon: ["#050607", "#16191d", "#3a4149", "#aab4bf", "#e4eaf0"],
  retro: ["#2b120c", "#a63d22", "#e58a2e", "#f4d58d", "#fff1cc"],
  mountain: ["#0a1420", "#2c4a68", "#7fa0bd", "#f0f6fb", "#ffffff"],
  pitch: ["#03200c", "#0d5c25", "#3aa14b", "#dff7d8", "#f5fff0"],
  smoke: ["#141418", "#43454f", "#9496a1", "#dcdde4", "#f8f8fa"],
  confetti: ["#1c0838", "#5a1c8a", "#b04ad0", "#ffd23f", "#fff3c4"],
  aurora: ["#02101c", "#06344a", "#16806f", "#6dffb0", "#d6ffe9"],
  circuit: ["#010f0e", "#053b3a", "#0f8a7e", "#5fffe0", "#d5fff6"],
  royal: ["#160628", "#431573", "#7c3fb8", "#f3cf72", "#fff0c9"],
  snow: ["#1a2a3d", "#5c7f9f", "#b4cfe2", "#ffffff", "#ffffff"],
};

/** Longer texts would add nothing visible. */
const MAX_TEXT = 200;

function plain(text: string): string {
  return text.replace(/ß/g, "ss").normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

const wordsOf = (text: string) => plain(text.slice(0, MAX_TEXT)).match(/[\p{L}\p{N}]+/gu) ?? [];

function themeOfOne(word: string): string | undefined {
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

/** The theme a free text asks for: the first word that a theme knows, plurals included; undefined if none. */
export function themeOf(text: string): string | undefined {
  return themesOf(text)[0];
}

/** Every theme a free text names, each once, in the order of its words. */
export function themesOf(text: string): string[] {
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
  theme: string;
  over: string | undefined;
  /** As `#rrggbb`. */
  colours: string[];
}

function parseTheme(text: string): ThemeRequest {
  if (text === "") return { theme: "facets", over: undefined, colours: [] };
  const themes = themesOf(text);
  const colours = coloursNamed(wordsOf(text));
  // What can be layered over another scene is: a snowy forest is a forest in snow, in whichever order it is
  // written.
  const theme = themes.find((name) => !LAYERS.has(name)) ?? themes[0];
  const over = themes.find((name) => name !== theme && LAYERS.has(name));
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
    drawTheme(theme, canvas) + (over ? drawLayer(over, canvas) : "") + drawFoil(palette.tier, canvas);
  const turn = `translate(${n(500 + pan)} ${n(height / 2)}) scale(${isMirrored ? -1 : 1} 1) scale(${Math.round(zoom * 1000) / 1000}) translate(-500 ${n(-height / 2)})`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 ${height}" width="1000" height="${height}" preserveAspectRatio="xMidYMid slice"><g transform="${turn}">${art}</g></svg>`;
  return { theme, themes: over === undefined ? [theme] : [theme, over], svg, colours: canvas.colours };
}

function drawTheme(theme: string, canvas: Canvas): string {
  if (NATURE.has(theme)) return drawNature(theme, canvas);
  if (WEATHER.has(theme)) return drawWeather(theme, canvas);
  return PLACES.has(theme) ? drawPlace(theme, canvas) : drawPattern(theme, canvas);
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

/**
 * Fire is not blue and a forest not red just because a club is: these keep their own colours beside the
 * club's.
 */
const OWN_COLOURS = new Set(
  "fire ice gold galaxy forest sunset ocean desert mountain pitch aurora snow rain night storm".split(" "),
);

function coloursOf({ theme, over, colours }: ThemeRequest, palette: Palette, branded: boolean): SceneColours {
  const own = !branded || OWN_COLOURS.has(theme) ? naturalOf(theme) : undefined;
  let scene = own ?? brandColours(palette);
  const light = over && naturalOf(over);
  if (light) scene = mixed(scene, light);
  return colours.length > 0 ? tinted(scene, colours, theme) : scene;
}

function naturalOf(theme: string): SceneColours | undefined {
  const natural = NATURAL[theme];
  if (!natural) return undefined;
  const [deep, mid, light, accent, glow] = natural;
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
function tinted(scene: SceneColours, [first = "", second, third]: string[], theme: string): SceneColours {
  const c = toOklch(first);
  const isPale = c.l > 0.8;
  const lit = { ...c, l: Math.min(0.97, c.l + (isPale ? 0.06 : 0.16)) };
  const accent =
    second ?? (NATURAL[theme] ? toHex({ ...c, l: Math.min(0.94, c.l + 0.3), c: c.c * 0.8 }) : scene.accent);
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
