/** What a card prints for a partner's text: safe and drawable. Upper or lower case is up to the template. */
export interface DisplayText {
  text: string;
  /** BCP 47, as far as the script reveals it; selects letter forms, and fonts for Han characters. */
  lang: string;
  direction: "ltr" | "rtl";
  /** "latin" means any script with capitals, Cyrillic and Greek included. */
  script: "latin" | "vietnamese" | "cjk" | "other";
}

/** No orthography stacks more marks on one letter; more would spill over its neighbours. */
const MAX_MARKS_PER_LETTER = 4;

// Joiners shape Persian, Indic scripts and emoji; no other invisible character belongs on a card.
const INVISIBLE =
  /\p{Cc}|\p{Cs}|\p{Co}|\p{Zl}|\p{Zp}|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\uffff]|[\u{e0000}-\u{e0fff}]|\u034f|\u17b4|\u17b5/gu;

/** Only these scripts have capitals that every bundled font draws. */
const CASED =
  /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Common}\p{Script=Inherited}]*$/u;

/** Cleans a name of 1 to 100 characters; returns a dash when nothing of it is left. */
export function displayName(raw: string, isDrawable: (codePoint: number) => boolean): DisplayText {
  const name = displayText(raw, isDrawable);
  return name.text === "" ? { ...name, text: "–" } : name;
}

/**
 * Cleans a text. `isDrawable` tells whether some font has a character; characters that no font has are
 * dropped rather than shown as empty boxes.
 */
export function displayText(raw: string, isDrawable: (codePoint: number) => boolean): DisplayText {
  const text = kept(raw, isDrawable);
  const lang = languageOf(text);
  return { text, lang, direction: directionOf(text), script: scriptOf(text, lang) };
}

/** A letter, a mark on one, or a digit: without it the name would be a different name. */
const SPELLING = /[\p{L}\p{M}\p{N}]/u;

/**
 * What keeps a name off the card: the letters, marks and digits that no font has, each once; or, when nothing
 * else would be left to show, every other visible character. Empty for a name that can be drawn.
 */
export function undrawable(raw: string, isDrawable: (codePoint: number) => boolean): string[] {
  const missing = [...new Set(cleaned(raw))].filter(
    (character) => character !== " " && !isDrawable(character.codePointAt(0) as number),
  );
  const spelling = missing.filter((character) => SPELLING.test(character));
  return spelling.length > 0 || kept(raw, isDrawable) !== "" ? spelling : missing;
}

function kept(raw: string, isDrawable: (codePoint: number) => boolean): string {
  const drawable = [...cleaned(raw)].filter((character) => isDrawable(character.codePointAt(0) as number));
  return tidy(drawable.join(""));
}

function cleaned(raw: string): string {
  return limitMarks(raw.toWellFormed().replace(/\s+/gu, " ").replace(INVISIBLE, "").normalize("NFC"));
}

/** A joiner or mark without a letter before it draws a dotted circle or nothing at all. */
function tidy(text: string): string {
  return text
    .replace(/(^|\s)(?:\p{M}|\u200c|\u200d)+/gu, "$1")
    .replace(/(?:\u200c|\u200d)+(?=\s|$)/gu, "")
    .replace(/\s+/gu, " ")
    .trim();
}

function limitMarks(text: string): string {
  return text.replace(/(\p{M}+)/gu, (marks) => [...marks].slice(0, MAX_MARKS_PER_LETTER).join(""));
}

function languageOf(text: string): string {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return "ja";
  if (/\p{Script=Hangul}/u.test(text)) return "ko";
  if (/\p{Script=Han}/u.test(text)) return "zh-Hans";
  if (/\p{Script=Greek}/u.test(text)) return "el";
  if (/[ığşİĞŞ]/u.test(text) && !/[ăâîțș]/u.test(text)) return "tr";
  if (/[əƏ]/u.test(text)) return "az";
  if (
    /[ơưđ]|[ạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]/iu.test(text) &&
    /[\u1ea0-\u1ef9ơư]/iu.test(text)
  )
    return "vi";
  return "und";
}

function scriptOf(text: string, lang: string): DisplayText["script"] {
  if (lang === "vi") return "vietnamese";
  if (lang === "ja" || lang === "ko" || lang === "zh-Hans") return "cjk";
  return CASED.test(text) ? "latin" : "other";
}

/** The first strong character decides, as in the Unicode bidirectional algorithm (rules P2 and P3). */
function directionOf(text: string): "ltr" | "rtl" {
  const strong = /\p{L}/u.exec(text)?.[0] ?? "";
  return /[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u.test(strong)
    ? "rtl"
    : "ltr";
}
