/**
 * What clubs call their colours in German, French, Spanish and Italian, by the names that CSS has for them.
 * Written without accents; forms of the feminine stand beside those of the masculine.
 */
const WORDS: Readonly<Record<string, string>> = {
  black: "schwarz noir noire negro negra nero nera",
  white: "weiss blanc blanche blanco blanca bianco bianca",
  red: "rot rouge rojo roja rosso rossa",
  darkred: "dunkelrot weinrot bordeaux bordo granate granata",
  orange: "naranja arancione",
  yellow: "gelb jaune amarillo amarilla giallo gialla",
  gold: "golden dore doree dorado dorada oro",
  silver: "silber silbern argent argente plata plateado argento",
  green: "grun vert verte verde",
  lightgreen: "hellgrun vertclair verdeclaro verdechiaro",
  darkgreen: "dunkelgrun vertfonce verdeoscuro verdescuro",
  blue: "blau bleu bleue azul blu",
  lightblue: "hellblau bleuclair azulclaro celeste azzurro azzurra",
  skyblue: "himmelblau bleuciel azulcielo",
  darkblue: "dunkelblau marineblau bleufonce bleumarine azuloscuro azulmarino bluscuro blunavy",
  royalblue: "konigsblau bleuroi azulrey bluroyal",
  purple: "lila violett violet violette morado morada viola",
  pink: "rosa rose",
  brown: "braun brun brune marron marrone",
  gray: "grau gris grigio grigia",
  turquoise: "turkis turquesa turchese",
};

const CSS_NAMES = new Map(
  Object.entries(WORDS).flatMap(([name, words]) => words.split(" ").map((word) => [word, name] as const)),
);

/**
 * #RRGGBB of a colour by its name: CSS's, such as red, or what it is called in German, French, Spanish or
 * Italian. Null for anything else.
 */
export function colourNamed(text: string): string | null {
  const word = text
    .normalize("NFD")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replaceAll(/[\p{M}\s-]/gu, "");
  const name = CSS_NAMES.get(word) ?? word;
  // "transparent" and "currentcolor" are no colours that a kit can have.
  if (!/^[a-z]{3,24}$/.test(name) || /^(transparent|currentcolor)$/.test(name)) return null;
  return Bun.color(name, "HEX");
}
