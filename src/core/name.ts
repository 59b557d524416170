import { Refusal } from "./errors.ts";

/**
 * Control characters, line breaks and bidirectional overrides, with which one name can be made to look like
 * another.
 */
const DECEPTIVE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A trimmed name for people to read. `what` names it in the Refusal, such as "account name".
 */
export function checkedName(what: string, text: string, maxChars: number): string {
  const name = text.trim();
  const length = [...name].length;
  if (length < 1 || length > maxChars)
    throw new Refusal(
      "INVALID_REQUEST",
      `The ${what} must have 1 to ${maxChars} characters; it has ${length}.`,
    );
  if (isDeceptive(name))
    throw new Refusal(
      "INVALID_REQUEST",
      `The ${what} must be one line without control characters and without overrides of the writing direction.`,
    );
  return name;
}

/** Whether a text contains characters that no name may have. */
export function isDeceptive(text: string): boolean {
  return text.search(DECEPTIVE) >= 0;
}

/** A text made safe to print on one line with others, whatever it contains. */
export function inOneLine(text: string): string {
  return text.replace(DECEPTIVE, "\ufffd");
}

/** A player's name normalised for search: case, compatibility forms and surrounding spaces are ignored. */
export function searchedName(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}

/** Letters that Unicode does not take apart into a base and a mark. */
const BASE_LETTERS: Readonly<Record<string, string>> = {
  æ: "ae",
  œ: "oe",
  ß: "ss",
  þ: "th",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  ħ: "h",
  ı: "i",
};
const BASED = new RegExp(`[${Object.keys(BASE_LETTERS).join("")}]`, "gu");

/**
 * A name as people type it who look for it: without accents and apostrophes, so that "muller" finds Müller,
 * and "obrien" O'Brien.
 */
export function foldedName(name: string): string {
  return searchedName(name)
    .normalize("NFKD")
    .replaceAll(/[\p{M}'’‘ʼ`´′.]/gu, "")
    .replaceAll(BASED, (letter) => BASE_LETTERS[letter] ?? letter)
    .replaceAll(/[\p{Pd}\s]+/gu, " ");
}

/** How letters are written where a keyboard lacks them, besides without their marks. */
const SPELT: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" };

/** A folded name with its umlauts spelt out: Müller is "mueller", which foldedName makes "muller". */
export function speltName(name: string): string {
  return foldedName(searchedName(name).replaceAll(/[äöüøå]/g, (letter) => SPELT[letter] ?? letter));
}

/** Scripts that write whole names without a space. */
const UNSPACED = /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}]+$/u;

/**
 * A name that is not the whole one: its first word and the initial of its last, as "Maya O." for Maya Okafor.
 * A single word stays as it is, except in scripts that write whole names so, of which the first sign is left.
 */
export function shortName(name: string): string {
  const words = name.trim().split(/\s+/u);
  const initial = (word: string) => `${[...new Intl.Segmenter().segment(word)][0]?.segment ?? ""}.`;
  const [first = "", ...others] = words;
  const last = others.at(-1);
  if (last === undefined) return UNSPACED.test(first) ? initial(first) : first;
  return `${UNSPACED.test(first) ? initial(first) : first} ${initial(last)}`;
}
