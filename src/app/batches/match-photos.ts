import { foldedName, speltName } from "../../core/name.ts";

/** A player as a squad list names one. */
export interface NamedPlayer {
  externalId: string;
  name: string;
  /** As it stands in the list. */
  number: string;
}

/** A photo that was sent, by the path it had on its machine. */
export interface NamedPhoto {
  path: string;
  /**
   * The row that somebody chose for it, -1 for one yet to be chosen, or `null` for none; absent where nobody
   * chose.
   */
  row?: number | null;
}

/** What shows whose photo it is, the surest first. */
const MATCHED_BY = ["hand", "id", "name", "part", "number"] as const;
export type MatchedBy = (typeof MATCHED_BY)[number];

export interface PhotoMatches {
  /** By row: which photo it gets, and why. */
  matched: ReadonlyMap<number, { photo: number; by: MatchedBy }>;
  /** Photos that may be several players', or anybody's, with the rows they may belong to. */
  unsure: { photo: number; rows: number[] }[];
}

/** Words beside a number that say nothing about whose it is. */
const NUMBER_WORDS = new Set(["no", "nr", "num", "number", "shirt", "jersey", "player", "photo", "foto"]);
/** How cameras and phones begin names: the number behind is the camera's count, and no player's id. */
const CAMERA_WORDS = new Set(["img", "imgp", "dsc", "dscf", "dscn", "dcim", "pict", "pxl", "mvi", "p"]);
/** A shorter id, such as 9, is found only where it is the whole name of the file. */
const MIN_CONTAINED_ID_CHARS = 3;
/** How many letters of a name may be wrong for it to be offered. */
const MAX_TYPOS = 2;
const MIN_MISTYPED_CHARS = 6;
/** Photos whose misspelt names are looked for in the whole squad: more is a folder of other pictures. */
const MAX_GUESSED = 100;
const MAX_COMPARED = 50;
/** More choices than this are no help. */
const MAX_OFFERED = 5;

/** Longer names are no names: comparing them letter by letter would only take time. */
const MAX_MISTYPED_CHARS = 60;

/** A name's parts: letters and numbers without accents, capitals and whatever stands between them. */
function wordsOf(text: string, fold = foldedName): string[] {
  const apart = text.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2");
  return fold(apart.replaceAll(/[^\p{L}\p{M}\p{N}'’]+/gu, " "))
    .split(" ")
    .filter((word) => word !== "");
}

/** The name of a file without its endings, and of the folder it lies in. */
function namesOf(path: string): [file: string, folder: string] {
  const [file = "", folder = ""] = path.replaceAll("\\", "/").split("/").reverse();
  return [file.replace(/(\.(jpe?g|png|webp|avif|heic|heif|gif|tiff?|bmp)){1,2}$/i, ""), folder];
}

/** A player as every photo is compared with: the parts of id and name, and how they are written in one. */
interface Known {
  id: string[];
  idJoined: string;
  name: string[];
  namesJoined: string[];
  number: string;
}

/**
 * Whose photos these are: by external id, by name in whatever order, or by shirt number; a choice by hand is
 * right. Two photos that nothing tells apart, or one that may be several players', are unsure.
 */
export function matchPhotos(players: readonly NamedPlayer[], photos: readonly NamedPhoto[]): PhotoMatches {
  const squad = { plain: knownBy(players, foldedName), spelt: knownBy(players, speltName) };
  const claims = new Map<number, { photo: number; by: MatchedBy }[]>();
  const unsure = new Map<number, number[]>();
  let guessed = 0;
  for (const [photo, { path, row }] of photos.entries()) {
    if (row === null) continue;
    const mayGuess = guessed < MAX_GUESSED;
    const found =
      row === undefined
        ? likelyOwner(squad, path, mayGuess)
        : { by: "hand" as const, rows: row >= 0 && row < players.length ? [row] : [] };
    if (found.by === null) guessed += 1;
    const [only = -1, ...others] = found.rows;
    if (found.by === null || others.length > 0 || only < 0) unsure.set(photo, found.rows);
    else claims.set(only, [...(claims.get(only) ?? []), { photo, by: found.by }]);
  }
  const matched = new Map<number, { photo: number; by: MatchedBy }>();
  for (const [row, own] of claims) {
    const rank = ({ by }: { by: MatchedBy }) => MATCHED_BY.indexOf(by);
    const [best, next] = own.toSorted((one, other) => rank(one) - rank(other));
    if (!best) continue;
    // By hand the last choice counts, and nothing else is told apart.
    const isSure = !next || rank(next) > rank(best) || best.by === "hand";
    if (isSure)
      matched.set(row, best.by === "hand" ? (own.findLast(({ by }) => by === "hand") ?? best) : best);
    for (const { photo } of own) if (matched.get(row)?.photo !== photo) unsure.set(photo, [row]);
  }
  const inOrder = [...unsure].sort(([one], [other]) => one - other);
  return { matched, unsure: inOrder.map(([photo, rows]) => ({ photo, rows: rows.slice(0, MAX_OFFERED) })) };
}

function knownBy(players: readonly NamedPlayer[], fold: typeof foldedName): Known[] {
  return players.map((player) => {
    const [id, name] = [wordsOf(player.externalId, fold), wordsOf(player.name, fold)];
    return {
      id,
      idJoined: id.join(""),
      name,
      namesJoined: [name.join(""), name.toReversed().join("")],
      number: player.number.trim().replace(/^#?0*/, ""),
    };
  });
}

/** The rows a photo may belong to, and by what; null where it is a guess. */
interface Owner {
  by: MatchedBy | null;
  rows: number[];
}

/** The owner by names without marks; where these tell nobody for sure, by names with umlauts spelt out. */
function likelyOwner(
  { plain, spelt }: { plain: Known[]; spelt: Known[] },
  path: string,
  mayGuess: boolean,
): Owner {
  const sure = ownerOf(plain, path, { mayGuess: false });
  if (sure.by !== null) return sure;
  const bySpelling = ownerOf(spelt, path, { mayGuess: false, fold: speltName });
  // The others that the file may mean: one Muller beside a Müller, or another one's shirt number.
  if (bySpelling.by !== null && sure.rows.every((row) => bySpelling.rows.includes(row))) return bySpelling;
  const { rows } = ownerOf(plain, path, { mayGuess });
  return { by: null, rows: [...new Set([...rows, ...bySpelling.rows])] };
}

function ownerOf(
  known: Known[],
  path: string,
  { mayGuess, fold = foldedName }: { mayGuess: boolean; fold?: typeof foldedName },
): Owner {
  const [file, folder] = namesOf(path);
  const byFile = ownerNamed(known, wordsOf(file, fold), mayGuess);
  if (byFile.by !== null || folder === "") return byFile;
  // Some keep a folder for each player, and leave the files as the camera named them.
  const byFolder = ownerNamed(known, wordsOf(folder, fold), false);
  return byFolder.by === "id" || byFolder.by === "name" ? byFolder : byFile;
}

function ownerNamed(known: Known[], words: string[], mayGuess: boolean): Owner {
  const rowsWhere = (fits: (player: Known) => boolean) =>
    known.flatMap((one, row) => (fits(one) ? [row] : []));
  const letters = words.filter((word) => !/^\d+$/.test(word));
  const [joined, lettersJoined] = [words.join(""), letters.join("")];
  const names = largest(
    rowsWhere((one) => isNamed(one, words, lettersJoined)),
    (row) => known[row]?.name ?? [],
  );
  const numbers = words.filter((word) => /^\d{1,2}$/.test(word)).map((word) => word.replace(/^0/, ""));
  const numbered = rowsWhere(({ number }) => number !== "" && numbers.includes(number));
  const saysOnlyNumber = numbers.length === 1 && letters.every((word) => NUMBER_WORDS.has(word));
  const ids = largest(
    rowsWhere(
      (one) =>
        (one.id.length > 0 && (one.idJoined === joined || isContained(one, words))) ||
        (saysOnlyNumber && one.idJoined.replace(/^0+/, "") === numbers[0]),
    ),
    (row) => known[row]?.id ?? [],
  );
  if (ids.length > 0) {
    const [row = -1] = ids;
    const isCount = words.some((word) => CAMERA_WORDS.has(word)) && /^\d+$/.test(known[row]?.idJoined ?? "");
    // The others that the name, or a number that is all of it, may mean.
    const others = [...names, ...(saysOnlyNumber ? numbered : [])];
    const isOther = others.length > 0 && !others.includes(row);
    if (ids.length === 1 && !isCount && !isOther) return { by: "id", rows: ids };
    return { by: null, rows: [...new Set([...ids, ...others])] };
  }
  if (names.length > 1) {
    // Two of one name are told apart by their shirts.
    const both = names.filter((row) => numbered.includes(row));
    return both.length === 1 ? { by: "name", rows: both } : { by: null, rows: names };
  }
  if (names.length === 1) {
    // A picture of two is often named after one of them in full.
    const [row = -1] = names;
    const rest = letters.filter((word) => word.length > 2 && !known[row]?.name.includes(word));
    const others = rowsWhere((one) => one !== known[row] && one.name.some((part) => rest.includes(part)));
    const isJoined = known[row]?.namesJoined.includes(lettersJoined);
    if (others.length === 0 || isJoined) return { by: "name", rows: names };
    return { by: null, rows: [...names, ...others] };
  }
  const parts = rowsWhere(({ name }) => letters.length > 0 && letters.every((word) => name.includes(word)));
  if (parts.length > 0) {
    const both = parts.filter((row) => numbered.includes(row));
    if (both.length === 1) return { by: "part", rows: both };
    const isOther = numbers.length > 0 && numbered.length > 0;
    return {
      by: parts.length === 1 && !isOther ? "part" : null,
      rows: [...parts, ...(isOther ? numbered : [])],
    };
  }
  if (saysOnlyNumber && words.every((word) => !/^\d{3,}$/.test(word)) && numbered.length > 0)
    return { by: numbered.length === 1 ? "number" : null, rows: numbered };
  return { by: null, rows: [...new Set([...(mayGuess ? mistyped(known, letters) : []), ...numbered])] };
}

/** The rows but those whose id or name is a part of another one's, which says more. */
function largest(rows: number[], partsOf: (row: number) => string[]): number[] {
  // So many have the same name: nothing is sure, and comparing all with all would only take time.
  if (rows.length > MAX_COMPARED) return rows;
  const isWithin = (one: string[], other: string[]) =>
    one.length < other.length && one.every((part) => other.includes(part));
  return rows.filter((row) => !rows.some((other) => isWithin(partsOf(row), partsOf(other))));
}

/** Whether an id stands in the file's name, whole and in its order. */
function isContained({ id, idJoined }: Known, words: string[]): boolean {
  if (idJoined.length < MIN_CONTAINED_ID_CHARS) return false;
  return words.some((_, at) => id.every((part, n) => words[at + n] === part));
}

/** Whether all parts of a name are there, in any order, apart or written together. */
function isNamed({ name, namesJoined }: Known, words: string[], lettersJoined: string): boolean {
  if (name.length === 0) return false;
  return name.every((part) => words.includes(part)) || namesJoined.includes(lettersJoined);
}

/** Rows whose names differ from what is written in a letter or two, the closest first. */
function mistyped(known: Known[], letters: string[]): number[] {
  const written = letters.toSorted().join("");
  if (written.length < MIN_MISTYPED_CHARS || written.length > MAX_MISTYPED_CHARS) return [];
  return known
    .map(({ name }, row) => ({ row, typos: distance(name.toSorted().join(""), written) }))
    .filter(({ typos }) => typos <= MAX_TYPOS)
    .sort((one, other) => one.typos - other.typos)
    .map(({ row }) => row);
}

/** How many letters to change, add or drop, counted no further than MAX_TYPOS. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > MAX_TYPOS) return MAX_TYPOS + 1;
  let before = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [row, letter] of [...one].entries()) {
    const now = [row + 1];
    for (const [at, wanted] of [...other].entries())
      now.push(
        Math.min(
          (before[at] ?? 0) + (letter === wanted ? 0 : 1),
          (before[at + 1] ?? 0) + 1,
          (now[at] ?? 0) + 1,
        ),
      );
    if (Math.min(...now) > MAX_TYPOS) return MAX_TYPOS + 1;
    before = now;
  }
  return before.at(-1) ?? 0;
}
