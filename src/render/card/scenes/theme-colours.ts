/**
 * Colours and countries in the words of a background theme. All words are without accents and in lower case.
 */

/** The colour a name stands for on a card, in English and the languages of many partners. */
const COLOUR_WORDS: Record<string, string> = {
  "#d3122a":
    "red rot rouge rojo roja vermelho vermelha rosso rossa czerwony kirmizi kizil scarlet crimson 红 赤 красный احمر",
  "#7a1026": "maroon burgundy claret bordeaux granate grena bordo",
  "#f47a12": "orange naranja laranja arancione pomaranczowy turuncu oranje 橙 оранжевый",
  "#ffd21c":
    "yellow gelb jaune amarillo amarilla amarelo amarela giallo gialla zolty sari geel 黄 жёлтый желтый اصفر",
  "#0f9144": "green grun gruen vert verde zielony yesil groen 绿 緑 зелёный зеленый اخضر",
  "#8ddc14": "lime neongreen limon",
  "#0f9c9c": "teal turquoise turkis tuerkis turquesa petrol cyan",
  "#1747b8": "blue blau bleu azul blu niebieski mavi blauw cobalt 蓝 青 синий ازرق",
  "#0c1f4d": "navy marine marino marinho granatowy lacivert",
  "#7cc4f2": "skyblue celeste himmelblau azzurro azzurra babyblue",
  "#6a22a8": "purple violet violeta lila viola morado roxo fioletowy mor paars 紫 фиолетовый",
  "#f03c96": "pink rosa rose magenta fuchsia fucsia rosado pembe rozowy 粉 ピンク розовый",
  "#7a4a24": "brown braun marron marrone castanho brazowy kahverengi bruin",
  "#ffffff":
    "white weiss blanc blanche blanco blanca branco branca bianco bianca bialy beyaz wit 白 белый ابيض",
  "#101114":
    "black schwarz noir noire negro negra preto preta nero nera czarny siyah zwart 黑 黒 чёрный черный اسود",
  "#808790": "grey gray grau gris cinza grigio szary gri grijs",
};

/** Countries by name, with their flags' colours; the one for a card's ground comes first. */
const FLAGS: [names: string, ...colours: string[]][] = [
  ["brazil brasil bresil brasilien", "#009739", "#fedd00", "#012169", "#ffffff"],
  ["argentina argentine argentinien", "#74acdf", "#ffffff", "#f6b40e"],
  ["germany deutschland allemagne alemania alemanha", "#111111", "#dd0000", "#ffce00"],
  ["france frankreich francia franca", "#0055a4", "#ffffff", "#ef4135"],
  ["italy italia italien italie", "#009246", "#ffffff", "#ce2b37"],
  ["spain espana spanien espagne spagna", "#c60b1e", "#ffc400"],
  ["portugal", "#006600", "#ff0000", "#ffff00"],
  ["england", "#ffffff", "#cf142b"],
  ["scotland schottland", "#005eb8", "#ffffff"],
  ["wales", "#c8102e", "#ffffff", "#00ad36"],
  ["ireland irland irlande", "#169b62", "#ffffff", "#ff883e"],
  ["uk britain british", "#012169", "#ffffff", "#c8102e"],
  ["netherlands holland nederland niederlande", "#ff6c00", "#ffffff", "#21468b"],
  ["belgium belgien belgique belgica", "#111111", "#fae042", "#ed2939"],
  ["croatia hrvatska kroatien", "#ff0000", "#ffffff", "#171796"],
  ["serbia srbija serbien", "#c6363c", "#ffffff", "#0c4076"],
  ["poland polska polen", "#dc143c", "#ffffff"],
  ["ukraine ukraina", "#0057b7", "#ffd700"],
  ["sweden sverige schweden", "#006aa7", "#fecc00"],
  ["norway norge norwegen", "#ba0c2f", "#ffffff", "#00205b"],
  ["denmark danmark danemark", "#c8102e", "#ffffff"],
  ["finland suomi", "#ffffff", "#003580"],
  ["switzerland schweiz suisse svizzera", "#d52b1e", "#ffffff"],
  ["austria osterreich", "#ed2939", "#ffffff"],
  ["greece hellas griechenland", "#0d5eaf", "#ffffff"],
  ["turkey turkiye turkei", "#e30a17", "#ffffff"],
  ["romania rumanien", "#002b7f", "#fcd116", "#ce1126"],
  ["hungary ungarn magyarorszag", "#ce2939", "#ffffff", "#477050"],
  ["morocco maroc marokko marruecos", "#c1272d", "#006233"],
  ["algeria algerie algerien", "#006233", "#ffffff", "#d21034"],
  ["egypt agypten egypte", "#ce1126", "#ffffff", "#111111"],
  ["nigeria", "#008751", "#ffffff"],
  ["ghana", "#006b3f", "#fcd116", "#ce1126"],
  ["senegal", "#00853f", "#fdef42", "#e31b23"],
  ["cameroon cameroun kamerun", "#007a5e", "#fcd116", "#ce1126"],
  ["usa america american", "#0a3161", "#ffffff", "#b31942"],
  ["canada kanada", "#d80621", "#ffffff"],
  ["mexico mexiko mexique", "#006847", "#ffffff", "#ce1126"],
  ["colombia kolumbien", "#fcd116", "#003893", "#ce1126"],
  ["uruguay", "#5cbfeb", "#ffffff", "#fcd116"],
  ["chile", "#d52b1e", "#ffffff", "#0039a6"],
  ["japan japon giappone nippon", "#ffffff", "#bc002d"],
  ["korea", "#ffffff", "#cd2e3a", "#0047a0"],
  ["china", "#de2910", "#ffde00"],
  ["india indien", "#ff9933", "#ffffff", "#138808"],
  ["australia australien", "#012169", "#ffffff", "#e4002b"],
  ["jamaica jamaika", "#009b3a", "#fed100", "#111111"],
  ["rainbow regenbogen arcoiris pride", "#e40303", "#ff8c00", "#ffed00", "#008026", "#24408e", "#732982"],
];

const colourOfWord = new Map(
  Object.entries(COLOUR_WORDS).flatMap(([hex, words]) =>
    words.split(" ").map((word) => [word, hex] as const),
  ),
);
const flagOfWord = new Map(
  FLAGS.flatMap(([names, ...colours]) => names.split(" ").map((name) => [name, colours] as const)),
);

/** Two-word colours such as "sky blue": the second word alone would be another colour. */
const PAIRS: Record<string, string> = {
  "sky blue": "skyblue",
  "navy blue": "navy",
  "neon green": "lime",
  "baby blue": "skyblue",
};

/**
 * The colours named in a text, as `#rrggbb` in the order they are named: those of a country, or the colours
 * themselves. `words` are normalised as in `themes.ts`. Empty when none is named.
 */
export function coloursNamed(words: string[]): string[] {
  const flag = words.map((word) => flagOfWord.get(word)).find(Boolean);
  if (flag) return flag;
  const named: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const pair = PAIRS[`${words[i]} ${words[i + 1]}`];
    const hex = colourOfWord.get(pair ?? (words[i] as string));
    if (pair) i++;
    if (hex && !named.includes(hex)) named.push(hex);
  }
  return named;
}
