import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Browser } from "puppeteer-core";
import { openSealedPage, type PageFile } from "../src/render/browser/browser.ts";

/** What a judge sees on one sheet: the photo, and its cards in an order that only the key knows. */
export interface Sheet {
  file: string;
  /** What the sheet's cards are, from left to right: "new", or the folder of the others. */
  cards: string[];
  composition: string | null;
  tags: string[];
}

/** Sheets by their number, as `key.json` keeps them. */
export type Key = Record<string, Sheet>;

/**
 * For judges, what they are to do; printed into the folder of the sheets.
 */
const RUBRIC = `Judge football player cards as a demanding buyer at a club: would I print this and sell it for money?
Each sheet shows the photo that was sent, and the card or cards (A, B) made of it. Names, numbers, ratings and colours are placeholders.
Look at edges, hair, hands, feet and gaps between arms and body, at other people, at the framing, and whether photo, frame and colours
come together. Zoom in where in doubt. Be strict and consistent.
For every card: Y = sell as it is; B = a tolerant club would; N = no.
Write a TSV file, one row a sheet: sheet, grade of A, (grade of B, the better one: A, B or =,) the worst fault in at most 12 words.
`;

/**
 * Writes one sheet a photo into `folder`, numbered in random order, with the rubric and, beside the folder,
 * the key. With `beside`, the folder of another release's cards, both are shown in random order; photos of
 * which that release made no card are left out.
 */
export async function writeJudgesSheets(
  browser: Browser,
  cards: { file: string; photo: string; card: string; composition: string | null; tags: string[] }[],
  { folder, beside, random }: { folder: string; beside: string | undefined; random: () => number },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const key: Key = {};
  const places = shuffled(cards, random);
  for (const { file, photo, card, composition, tags } of places) {
    const other = beside && join(beside, `${file}.png`);
    if (other && !existsSync(other)) continue;
    const shown = shuffled(
      [{ of: "new", path: card }, ...(other ? [{ of: basename(beside), path: other }] : [])],
      random,
    );
    const number = String(Object.keys(key).length + 1).padStart(3, "0");
    key[number] = { file, cards: shown.map(({ of }) => of), composition, tags };
    await drawSheet(browser, [photo, ...shown.map(({ path }) => path)], join(folder, `${number}.jpg`));
  }
  await writeFile(join(folder, "RUBRIC.txt"), RUBRIC);
  await writeFile(`${folder}.key.json`, JSON.stringify(key, null, 1));
  console.log(`${Object.keys(key).length} sheets for judges in ${folder}, their key in ${folder}.key.json`);
}

async function drawSheet(browser: Browser, paths: string[], out: string): Promise<void> {
  const files = new Map<string, PageFile>();
  for (const [i, path] of paths.entries())
    files.set(`/${i}`, { body: await readFile(path), contentType: "image/*" });
  files.set("/", {
    contentType: "text/html; charset=utf-8",
    body: `<style>body{margin:0;padding:10px;display:inline-flex;gap:10px;align-items:center;background:#9a9a9a}img{display:block;max-width:900px;max-height:760px}img:first-child{max-width:640px}</style>${paths.map((_, i) => `<img src="/${i}">`).join("")}`,
  });
  const page = await openSealedPage(browser, (path) => files.get(path), "/");
  await page.setViewport({ width: 2520, height: 790 });
  await page.evaluate("Promise.all([...document.images].map((image) => image.decode().catch(() => {})))");
  const body = await page.$("body");
  await body?.screenshot({ path: out as `${string}.jpg`, type: "jpeg", quality: 90 });
  await page.close();
}

/** A copy in random order (Fisher and Yates). */
function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const copy = [...values];
  for (let i = copy.length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [copy[i], copy[k]] = [copy[k] as T, copy[i] as T];
  }
  return copy;
}

type Grades = Record<"Y" | "B" | "N", number>;

/**
 * Prints what a judge graded, for each release, by the new cards' composition and by the photos' tags, and
 * how often which was preferred. Throws for a row that names no sheet or grade.
 */
export async function printGrades(keyFile: string, tsv: string): Promise<void> {
  const key = JSON.parse(await readFile(keyFile, "utf8")) as Key;
  const sums = new Map<string, Grades>();
  const better = new Map<string, number>();
  for (const line of (await readFile(tsv, "utf8")).trim().split("\n")) {
    const [number = "", ...cells] = line.split("\t");
    const sheet = key[number];
    if (!sheet) throw new Error(`${tsv}: there is no sheet ${number}.`);
    for (const [i, of] of sheet.cards.entries()) {
      const grade = cells[i] as keyof Grades;
      if (!"YBN".includes(grade)) throw new Error(`${tsv}: sheet ${number} has no grade Y, B or N.`);
      const rows = [
        of,
        ...(of === "new" ? [`  ${sheet.composition}`, ...sheet.tags.map((tag) => `  ${tag}`)] : []),
      ];
      for (const row of rows) {
        const sum = sums.get(row) ?? { Y: 0, B: 0, N: 0 };
        sum[grade]++;
        sums.set(row, sum);
      }
    }
    if (sheet.cards.length === 1) continue;
    const choice = cells[sheet.cards.length] ?? "";
    const preferred = sheet.cards["AB".indexOf(choice)] ?? "neither";
    better.set(preferred, (better.get(preferred) ?? 0) + 1);
  }
  console.log(tsv);
  for (const [name, { Y, B, N }] of [...sums].toSorted(
    ([a], [b]) => Number(a[0] === " ") - Number(b[0] === " "),
  ))
    console.log(
      `${name.padEnd(28)} Y ${String(Y).padStart(3)}  B ${String(B).padStart(3)}  N ${String(N).padStart(3)}  saleable ${((100 * Y) / (Y + B + N)).toFixed(0)} %`,
    );
  for (const [name, times] of better) console.log(`preferred: ${name} ${times}`);
}

/** What a photo shows that must not decide whether its player gets a card. */
const FAIRNESS_TAGS = /^(skin|hair|light)_|^(headwear|dark_on_dark)$/;

/**
 * Of how many photos of one person a card was made, and how many were refused, by what must not decide it.
 * @param rows each photo's tags, and why it was refused; null where it was not
 */
export function acceptedByTag(
  rows: readonly { expect: string; tags: readonly string[]; refusal: string | null }[],
): { tag: string; accepted: number; refused: number }[] {
  const people = rows.filter(({ expect }) => expect === "person");
  const tags = new Set(people.flatMap(({ tags }) => tags).filter((tag) => FAIRNESS_TAGS.test(tag)));
  return [...tags].toSorted().map((tag) => {
    const tagged = people.filter(({ tags }) => tags.includes(tag));
    const refused = tagged.filter(({ refusal }) => refusal !== null).length;
    return { tag, accepted: tagged.length - refused, refused };
  });
}

/** Prints those counts; nothing where no photo has such a tag. */
export function printAcceptedByTag(counts: ReturnType<typeof acceptedByTag>): void {
  if (counts.length > 0)
    console.log(`\n${"single players, by tag".padEnd(46)}${"accepted".padStart(9)}${"refused".padStart(9)}`);
  for (const { tag, accepted, refused } of counts)
    console.log(`${tag.padEnd(46)}${String(accepted).padStart(9)}${String(refused).padStart(9)}`);
}
