import type { Painter } from "./scene-canvas.ts";
import { OVERLAYS } from "./scene-layers.ts";
import { NATURE } from "./scenes-nature.ts";
import { PLACES } from "./scenes-places.ts";
import { WEATHER } from "./scenes-weather.ts";

interface ThemeEntry {
  /** Words in several languages, without accents; one such word in a longer text is enough. */
  words: string;
  /** The natural colours, used when the club has none: [deep, mid, light, accent, glow]. */
  colours: readonly [string, string, string, string, string];
  /**
   * Whether it keeps its colours beside the club's: fire is not blue and a forest not red just because a club
   * is.
   */
  keepsColours: boolean;
  paint: Painter;
  /** Draws it over another scene, of themes that can be: a snowy forest is a forest in snow. */
  paintOver?: Painter;
}

/** All there is to say of each theme; the order is that of the documentation and the console. */
const LIST = {
  stadium: {
    words:
      "stadium arena crowd fans floodlight floodlights estadio stade stadion estadi stadio matchday stadyum 体育场 スタジアム стадион ملعب",
    colours: ["#04140f", "#0d3a33", "#3fa07c", "#bff5d8", "#eafff4"],
    keepsColours: false,
    paint: PLACES.stadium,
  },
  night: {
    words:
      "night midnight moon moonlight dark noche nuit nacht noite notte noc gece luna lune mond 夜 ночь ليل",
    colours: ["#030717", "#0d1c46", "#33508f", "#f4e7b8", "#dbe6ff"],
    keepsColours: true,
    paint: NATURE.night,
    paintOver: OVERLAYS.night,
  },
  neon: {
    words:
      "neon cyber cyberpunk synthwave vaporwave glow laser lasers led neón futuristic future 霓虹 ネオン неон نيون",
    colours: ["#0b0320", "#2a0a5e", "#8a1fd1", "#22f3ff", "#ff5bd8"],
    keepsColours: false,
    paint: PLACES.neon,
    paintOver: OVERLAYS.neon,
  },
  fire: {
    words:
      "fire flame flames inferno hot heat burning lava volcano fuego feu feuer fogo fuoco ogien ates magma 火 炎 огонь نار",
    colours: ["#1c0300", "#7a1200", "#e24a05", "#ffb52b", "#fff0b0"],
    keepsColours: true,
    paint: WEATHER.fire,
    paintOver: OVERLAYS.fire,
  },
  ice: {
    words:
      "ice icy frozen frost freeze glacier crystal crystals hielo glace eis gelo ghiaccio lod buz 冰 氷 лед ثلج",
    colours: ["#06202f", "#1f6f95", "#7fcdea", "#e2f8ff", "#ffffff"],
    keepsColours: true,
    paint: WEATHER.ice,
    paintOver: OVERLAYS.ice,
  },
  gold: {
    words: "gold golden luxury trophy champion champions oro or dore ouro zloto altin premium 金 золото ذهب",
    colours: ["#2a1a02", "#7d5509", "#d8a32c", "#ffe28a", "#fff6cf"],
    keepsColours: true,
    paint: PLACES.gold,
    paintOver: OVERLAYS.gold,
  },
  galaxy: {
    words:
      "galaxy space cosmos cosmic universe stars star nebula planet galaxia espacio espace weltraum galassia spazio uzay 银河 宇宙 космос فضاء",
    colours: ["#0a0526", "#341a86", "#8a45e0", "#ff7ccc", "#dbe8ff"],
    keepsColours: true,
    paint: NATURE.galaxy,
    paintOver: OVERLAYS.galaxy,
  },
  rain: {
    words: "rain rainy drizzle wet lluvia pluie regen chuva pioggia deszcz yagmur 雨 дождь مطر",
    colours: ["#060d14", "#1e3242", "#557489", "#b8d8ea", "#e3f2fa"],
    keepsColours: true,
    paint: WEATHER.rain,
    paintOver: OVERLAYS.rain,
  },
  city: {
    words:
      "city urban skyline downtown street streets metropolis ciudad ville stadt cidade citta miasto sehir 城市 街 город مدينة",
    colours: ["#07080f", "#1b2340", "#50608f", "#ffc76a", "#ffe4b4"],
    keepsColours: false,
    paint: PLACES.city,
  },
  forest: {
    words:
      "forest wood woods jungle trees tree nature bosque foret wald floresta foresta las orman selva 森林 森 лес غابة",
    colours: ["#04110a", "#12401f", "#4c8a45", "#cfe88a", "#f1ffd0"],
    keepsColours: true,
    paint: NATURE.forest,
  },
  storm: {
    words:
      "storm stormy lightning thunder thunderstorm bolt electric tormenta orage sturm gewitter tempestade tempesta burza firtina rayo blitz 雷 嵐 шторм عاصفة",
    colours: ["#05060d", "#1c2238", "#535e83", "#b9c9ff", "#f2f4ff"],
    keepsColours: true,
    paint: WEATHER.storm,
    paintOver: OVERLAYS.storm,
  },
  sunset: {
    words:
      "sunset sunrise dusk dawn evening sun summer atardecer coucher sonnenuntergang tramonto zachod alba 日落 夕日 закат غروب",
    colours: ["#2a0a2e", "#9c2a4c", "#f3823c", "#ffd166", "#fff0c2"],
    keepsColours: true,
    paint: NATURE.sunset,
    paintOver: OVERLAYS.sunset,
  },
  ocean: {
    words:
      "ocean sea wave waves water beach mar mer meer oceano mare morze deniz playa coast aqua 海 океан море بحر",
    colours: ["#021c2e", "#05598a", "#2aa7cc", "#a9f0ee", "#e8ffff"],
    keepsColours: true,
    paint: NATURE.ocean,
  },
  desert: {
    words: "desert dune dunes sand sahara desierto wuste deserto pustynia col 沙漠 砂漠 пустыня صحراء",
    colours: ["#3a1806", "#a5541b", "#e3a35a", "#ffdc9a", "#fff3d6"],
    keepsColours: true,
    paint: NATURE.desert,
  },
  carbon: {
    words: "carbon fibre fiber tech kevlar weave karbon carbono carbone matte stealth 碳 カーボン карбон",
    colours: ["#050607", "#16191d", "#3a4149", "#aab4bf", "#e4eaf0"],
    keepsColours: false,
    paint: PLACES.carbon,
  },
  retro: {
    words:
      "retro vintage classic oldschool seventies eighties 70s 80s 90s nostalgia throwback klassisch clasico classique 复古 レトロ ретро",
    colours: ["#2b120c", "#a63d22", "#e58a2e", "#f4d58d", "#fff1cc"],
    keepsColours: false,
    paint: PLACES.retro,
  },
  mountain: {
    words:
      "mountain mountains alps peak peaks summit rock montana montagne berg berge alpen montanha montagna gora dag 山 гора جبل",
    colours: ["#0a1420", "#2c4a68", "#7fa0bd", "#f0f6fb", "#ffffff"],
    keepsColours: true,
    paint: NATURE.mountain,
  },
  pitch: {
    words:
      "pitch grass field lawn turf green cesped pelouse rasen gramado campo prato boisko saha 球场 芝生 поле",
    colours: ["#03200c", "#0d5c25", "#3aa14b", "#dff7d8", "#f5fff0"],
    keepsColours: true,
    paint: PLACES.pitch,
  },
  smoke: {
    words:
      "smoke smoky fog mist misty haze steam humo fumee rauch fumo dym duman niebla nebel 烟 煙 дым دخان",
    colours: ["#141418", "#43454f", "#9496a1", "#dcdde4", "#f8f8fa"],
    keepsColours: false,
    paint: WEATHER.smoke,
    paintOver: OVERLAYS.smoke,
  },
  confetti: {
    words:
      "confetti party celebration celebrate victory winner carnival fiesta fete feier festa swieto kutlama festival 庆祝 праздник احتفال",
    colours: ["#1c0838", "#5a1c8a", "#b04ad0", "#ffd23f", "#fff3c4"],
    keepsColours: false,
    paint: PLACES.confetti,
    paintOver: OVERLAYS.confetti,
  },
  aurora: {
    words: "aurora borealis northern polar lights nordlicht aurore polarlicht 极光 オーロラ сияние",
    colours: ["#02101c", "#06344a", "#16806f", "#6dffb0", "#d6ffe9"],
    keepsColours: true,
    paint: WEATHER.aurora,
    paintOver: OVERLAYS.aurora,
  },
  circuit: {
    words:
      "circuit digital matrix computer cyberspace data robot robotic code technology technologie tecnologia 电路 デジタル цифровой",
    colours: ["#010f0e", "#053b3a", "#0f8a7e", "#5fffe0", "#d5fff6"],
    keepsColours: false,
    paint: PLACES.circuit,
  },
  royal: {
    words:
      "royal king queen crown palace regal majestic prince real rey roi konig rei re krol kral 王 король ملك",
    colours: ["#160628", "#431573", "#7c3fb8", "#f3cf72", "#fff0c9"],
    keepsColours: false,
    paint: PLACES.royal,
  },
  snow: {
    words:
      "snow snowy winter snowfall blizzard christmas nieve neige schnee neve snieg kar invierno hiver 雪 снег شتاء",
    colours: ["#1a2a3d", "#5c7f9f", "#b4cfe2", "#ffffff", "#ffffff"],
    keepsColours: true,
    paint: WEATHER.snow,
    paintOver: OVERLAYS.snow,
  },
} satisfies Record<string, ThemeEntry>;

export type Theme = keyof typeof LIST;

export const THEME_LIST: Readonly<Record<Theme, ThemeEntry>> = LIST;
