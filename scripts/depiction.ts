/**
 * Learns to tell pictures of people (drawn, painted, rendered, moulded) from photos of people, from what the body parts
 * network knows of head and shoulders, and writes src/render/photo/page/depiction_weights.js. Prints how often that is right for
 * photos of repositories it did not learn from.
 *
 *     bun scripts/depiction.ts --photos DIR                  DIR holds the listed photos, each named by its git blob
 *     bun scripts/depiction.ts --photos DIR --traits FILE    keeps what was read from photos in FILE, and reads only new ones
 *
 * scripts/depiction-photos.tsv lists public pictures by repository, path and blob ("git cat-file blob BLOB" gives the file);
 * only the learned weights are part of cardpress, not the pictures.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openNetworks } from "../src/render/photo/networks.ts";
import { packagedRuntime } from "../src/render/photo/onnx-runtime.ts";
import { readHeader } from "../src/render/photo/photo.ts";
import { openPhotoPage } from "../src/render/photo/photo_page.ts";
import { openBrowser } from "../test/render/card/cards.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const OUT = join(import.meta.dir, "../src/render/photo/page/depiction_weights.js");
const { values: options } = parseArgs({
  options: {
    photos: { type: "string" },
    list: { type: "string", default: join(import.meta.dir, "depiction-photos.tsv") },
    traits: { type: "string" },
  },
});
/** Strength of the ridge that keeps weights small, per example. */
const RIDGE = 1;
/** Examples of one kind from one repository count together at most as much as this many. */
const MAX_SHARE = 60;
/** The limit lies this far above the highest score of a photo whose repository was left out. */
const MARGIN = 0.05;

interface Example {
  blob: string;
  repository: string;
  isDepiction: boolean;
  traits: number[];
}

function readList() {
  const [, ...lines] = readFileSync(options.list, "utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [repository = "", , blob = "", kind] = line.split("\t");
    return { repository, blob, isDepiction: kind === "depiction" };
  });
}

/** The traits of every listed photo in which a player is found. */
async function readExamples(): Promise<Example[]> {
  const known = new Map<string, number[] | null>();
  if (options.traits && existsSync(options.traits))
    for (const line of readFileSync(options.traits, "utf8").trimEnd().split("\n")) {
      const { blob, traits } = JSON.parse(line) as { blob: string; traits: number[] | null };
      known.set(blob, traits);
    }
  const list = readList();
  const unread = list.filter(({ blob }) => !known.has(blob));
  if (unread.length > 0) {
    if (!options.photos) throw new Error(`Give the folder of the photos: ${unread.length} are to be read.`);
    const browser = await openBrowser();
    const page = await openPhotoPage(browser, openNetworks(packagedRuntime(), 1));
    for (const { blob } of unread) {
      const path = join(options.photos, blob);
      await page.givePhoto(path);
      const header = await readHeader(path);
      const isSeen = header && (await page.call("decode", header)) && (await page.call("find")) === "found";
      if (isSeen) await page.call("prepare");
      const traits = isSeen ? await page.call("traits") : null;
      await page.call("release");
      known.set(blob, traits);
      if (options.traits) appendFileSync(options.traits, `${JSON.stringify({ blob, traits })}\n`);
    }
    await page.close();
    await browser.close();
  }
  return list.flatMap((photo) => {
    const traits = known.get(photo.blob);
    return traits ? [{ ...photo, traits }] : [];
  });
}

/** Both kinds weigh the same, and no repository much more than others. */
function sharesOf(examples: Example[]): Float64Array {
  const counts = new Map<string, number>();
  const key = ({ repository, isDepiction }: Example) => `${repository} ${isDepiction}`;
  for (const example of examples) counts.set(key(example), (counts.get(key(example)) ?? 0) + 1);
  const shares = Float64Array.from(examples, (example) =>
    Math.min(1, MAX_SHARE / Number(counts.get(key(example)))),
  );
  const totals = [false, true].map((kind) =>
    shares.reduce((sum, share, i) => sum + (examples[i]?.isDepiction === kind ? share : 0), 0),
  );
  return shares.map(
    (share, i) => (share * examples.length) / (2 * Number(totals[examples[i]?.isDepiction ? 1 : 0])),
  );
}

/** Sums of products of what is learned from: the lower half of a symmetric matrix, and the products with what is wanted. */
interface Sums {
  matrix: Float64Array[];
  wanted: Float64Array;
}

/** Adds examples with a sign: minus takes them out again. */
function add({ matrix, wanted }: Sums, rows: Row[], sign: 1 | -1): Sums {
  for (const { values, share, isDepiction } of rows) {
    for (let a = 0; a < values.length; a++) {
      const scaled = sign * share * (values[a] as number);
      wanted[a] = (wanted[a] as number) + (isDepiction ? scaled : -scaled);
      const line = matrix[a] as Float64Array;
      for (let b = 0; b <= a; b++) line[b] = (line[b] as number) + scaled * (values[b] as number);
    }
  }
  return { matrix, wanted };
}

interface Row extends Example {
  /** The traits with mean 0 and spread 1, and a last 1 for the bias. */
  values: Float64Array;
  share: number;
}

/** Weights of the values by ridge regression on 1 for depictions and -1 for photos. */
function learn({ matrix, wanted }: Sums, ridge: number): Float64Array {
  const lines = matrix.map((line, a) => {
    const copy = line.slice();
    if (a < matrix.length - 1) copy[a] = (copy[a] as number) + ridge;
    return copy;
  });
  return solve(lines, wanted);
}

/** Solves a symmetric positive definite system, of which the lower half is given, by Cholesky's decomposition. */
function solve(matrix: Float64Array[], wanted: Float64Array): Float64Array {
  const n = wanted.length;
  const dot = (one: Float64Array, other: Float64Array, to: number) => {
    let sum = 0;
    for (let k = 0; k < to; k++) sum += (one[k] as number) * (other[k] as number);
    return sum;
  };
  for (let i = 0; i < n; i++) {
    const row = matrix[i] as Float64Array;
    for (let j = 0; j < i; j++) {
      const other = matrix[j] as Float64Array;
      row[j] = ((row[j] as number) - dot(row, other, j)) / (other[j] as number);
    }
    row[i] = Math.sqrt((row[i] as number) - dot(row, row, i));
  }
  const half = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    const row = matrix[i] as Float64Array;
    half[i] = ((wanted[i] as number) - dot(row, half, i)) / (row[i] as number);
  }
  const found = new Float64Array(n);
  for (let i = n - 1; i >= 0; i--) {
    let sum = half[i] as number;
    for (let k = i + 1; k < n; k++) sum -= ((matrix[k] as Float64Array)[i] as number) * (found[k] as number);
    found[i] = sum / ((matrix[i] as Float64Array)[i] as number);
  }
  return found;
}

const examples = await readExamples();
const size = examples[0]?.traits.length ?? 0;
const shares = sharesOf(examples);
const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const means = Array.from({ length: size }, (_, k) => mean(examples.map(({ traits }) => traits[k] as number)));
const spreads = means.map(
  (middle, k) => 1e-6 + Math.sqrt(mean(examples.map(({ traits }) => ((traits[k] as number) - middle) ** 2))),
);
const rows = examples.map((example, i): Row => {
  const values = example.traits.map((trait, k) => (trait - (means[k] as number)) / (spreads[k] as number));
  return { ...example, values: Float64Array.from([...values, 1]), share: shares[i] as number };
});
const scoreOf = (weights: Float64Array, { values }: Row) =>
  values.reduce((sum, value, k) => sum + value * (weights[k] as number), 0);

const all = add(
  {
    matrix: Array.from({ length: size + 1 }, () => new Float64Array(size + 1)),
    wanted: new Float64Array(size + 1),
  },
  rows,
  1,
);
const repositories = [...new Set(rows.map(({ repository }) => repository))];
const held: { score: number; example: Row }[] = [];
// Repositories with few photos are left out ten at a time.
const isLarge = (name: string) => rows.filter(({ repository }) => repository === name).length >= 20;
const small = repositories.filter((name) => !isLarge(name));
const groups = [
  ...repositories.filter(isLarge).map((name) => [name]),
  ...Array.from({ length: Math.ceil(small.length / 10) }, (_, i) => small.slice(10 * i, 10 * i + 10)),
];
for (const group of groups) {
  const left = rows.filter(({ repository }) => group.includes(repository));
  add(all, left, -1);
  const weights = learn(all, RIDGE * rows.length);
  add(all, left, 1);
  for (const example of left) held.push({ score: scoreOf(weights, example), example });
}
const photos = held.filter(({ example }) => !example.isDepiction).sort((a, b) => b.score - a.score);
const limit = Number(photos[0]?.score) + MARGIN;
const learned = learn(all, RIDGE * rows.length);
const weights = spreads.map((spread, k) => (learned[k] as number) / spread);
const bias =
  (learned[size] as number) - weights.reduce((sum, weight, k) => sum + weight * (means[k] as number), 0);
const part = (list: boolean[]) =>
  `${list.filter(Boolean).length} of ${list.length} (${((100 * list.filter(Boolean).length) / list.length).toFixed(1)} %)`;
for (const name of repositories) {
  const ofIt = held.filter(({ example }) => example.repository === name && example.isDepiction);
  if (ofIt.length > 0)
    console.log(`${name}: ${part(ofIt.map(({ score }) => score > limit))} depictions told, left out`);
}
console.log("highest photos, left out:");
for (const { score, example } of photos.slice(0, 12))
  console.log(`  ${score.toFixed(2)} ${example.blob} ${example.repository}`);
console.log(`photos: ${photos.length}; limit ${limit.toFixed(3)}`);
console.log(
  `depictions told, left out: ${part(held.filter(({ example }) => example.isDepiction).map(({ score }) => score > limit))}`,
);
console.log(
  `depictions told, learned from: ${part(rows.filter(({ isDepiction }) => isDepiction).map((row) => scoreOf(learned, row) > limit))}`,
);
console.log("at other limits, left out:");
for (const other of [0.3, 0.4, 0.5, 0.6, 0.7, 0.8])
  console.log(
    `  ${other.toFixed(1)}: photos refused ${part(photos.map(({ score }) => score > other))}, ` +
      `depictions told ${part(held.filter(({ example }) => example.isDepiction).map(({ score }) => score > other))}`,
  );
await Bun.write(
  OUT,
  `/** Written by scripts/depiction.ts from ${examples.length} pictures, which scripts/depiction-photos.tsv lists. @type {number[]} */
export const WEIGHTS = [${weights.map((weight) => Number(weight.toPrecision(4))).join(", ")}];
export const BIAS = ${Number(bias.toPrecision(6))};
/** A higher score is a depiction's; no photo whose repository was left out while learning reached it. */
export const LIMIT = ${limit.toFixed(2)};
`,
);
