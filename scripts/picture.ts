/**
 * Measures picture quality: cuts out every labelled photo and makes its card, prints the measurements beside
 * the last release's, and writes sheets (photo and card) into ./picture for judges, who have the last word:
 * people who have seen neither the code nor which release made a card. Their grades are summed afterwards.
 *
 *     bun run picture                                        the photos of test/photos
 *     bun run picture --photos DIR --list FILE.tsv --tag core  your own photos (file, expect, tags, ...)
 *     bun run picture --save FILE / --against FILE           keep the figures / compare with kept ones
 *     bun run picture --only WORD --size 1024x1280 --out DIR  one size; otherwise seven are mixed
 *     bun run picture --composition photo                     all in one composition; company is then welcome
 *     bun run picture --beside DIR                            also the cards of another release
 *     bun run picture --grades FILE.tsv --out DIR             sums what a judge wrote of DIR's sheets
 *     bun run picture --matte FILE.onnx                       with the network of CARDPRESS_MATTE_MODEL
 */

import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ASKED_COMPOSITIONS, type Composition, type Cutout, type Framing } from "../src/core/card.ts";
import { sha256 } from "../src/core/sha256.ts";
import { openCardPage } from "../src/render/card/page.ts";
import { isPhotoOnly } from "../src/render/card/placement/composition.ts";
import { placeCutout } from "../src/render/card/placement/framing.ts";
import type { Zones } from "../src/render/card/placement/template-layout.ts";
import { saveCutout } from "../src/render/card-renderer.ts";
import { checkMatteModel } from "../src/render/photo/matte-model.ts";
import { packagedRuntime } from "../src/render/photo/onnx-runtime.ts";
import { openPhotoCutter } from "../src/render/photo/photo.ts";
import { tidying } from "../src/render/tidying.ts";
import { loadTemplate } from "../src/templates/load.ts";
import { compositionsOf } from "../src/templates/manifest.ts";
import { type CardSpec, cardInput, launchCardBrowser } from "../test/render/card/cards.ts";
import { offerHelp } from "./help.ts";
import { acceptedByTag, printAcceptedByTag, printGrades, writeJudgesSheets } from "./picture-judging.ts";
import { type CutoutMeasures, openMeasurer } from "./picture-measures.ts";

offerHelp(import.meta);

const ROOT = join(import.meta.dir, "..");
const { values: options } = parseArgs({
  options: {
    photos: { type: "string", default: join(ROOT, "test/photos") },
    list: { type: "string", default: join(ROOT, "test/photos/manifest.json") },
    tag: { type: "string" },
    only: { type: "string" },
    size: { type: "string" },
    composition: { type: "string", default: "auto" },
    beside: { type: "string" },
    grades: { type: "string" },
    out: { type: "string", default: join(ROOT, "picture") },
    save: { type: "string" },
    matte: { type: "string" },
    against: { type: "string", default: join(ROOT, "scripts/picture-0.1.0.json") },
  },
});
const SHEETS = join(options.out, "sheets");
const SIZES = ["1024x1280", "1080x1920", "2048x1024", "1024x1024", "1200x630", "512x512", "815x1110"];
const COMPOSITION = ASKED_COMPOSITIONS.find((one) => one === options.composition);

/** The size of a photo's card: the same in every release, whatever else is in the list. */
function sizeOf(file: string): { width: number; height: number } {
  const size = options.size ?? SIZES[Bun.hash.crc32(file) % SIZES.length] ?? "";
  const [width = 1024, height = 1280] = size.split("x").map(Number);
  return { width, height };
}

/** A photo's label: `expect` is "person", "company" (other people are in it), "refuse", or "unclear". */
interface Label {
  file: string;
  expect: string;
  tags: string[];
  /** The middle of the player's face, in fractions of the upright photo's sides. */
  player?: [number, number];
  /** Points on other people. */
  others?: [number, number][];
}

/** The result for one photo. */
interface Row extends Label {
  refusal: string | null;
  rightPerson: boolean | null;
  measures: CutoutMeasures | null;
  /**
   * Distance of the face's middle from its target in target heights, and its height relative to the target's.
   */
  faceOff: number | null;
  faceSize: number | null;
  /** Fraction of the card that the player covers, from the cutout's placement and cover. */
  share: number | null;
  findAndCutMs: number;
  composition: Composition | null;
}

async function readLabels(): Promise<Label[]> {
  const text = await readFile(options.list, "utf8");
  const all: Label[] = options.list.endsWith(".json")
    ? (JSON.parse(text) as (Omit<Label, "tags"> & { shows: string })[]).map(({ expect, ...label }) => ({
        ...label,
        expect: expect === "cutout" ? "person" : "refuse",
        tags: [],
      }))
    : readTable(text);
  return all.filter(
    ({ file, tags }) =>
      existsSync(join(options.photos, file)) &&
      (!options.tag || tags.includes(options.tag)) &&
      (!options.only || file.includes(options.only) || tags.includes(options.only)),
  );
}

function readTable(text: string): Label[] {
  const [head = "", ...lines] = text.trimEnd().split("\n");
  const names = head.split("\t");
  return lines.map((line) => {
    const cells = Object.fromEntries(line.split("\t").map((cell, i) => [names[i], cell]));
    return {
      file: cells.file ?? "",
      expect: cells.expect ?? "",
      tags: (cells.tags ?? "").split(","),
      ...(cells.player ? { player: cells.player.split(" ").map(Number) as [number, number] } : {}),
    };
  });
}

/** A league's variety of cards: every tier, with and without club colours, several scenes. */
function specOf(file: string): CardSpec {
  const i = Bun.hash.crc32(file) >>> 8;
  const clubs = [
    {},
    { primary: "#c8102e", secondary: "#ffffff" },
    { primary: "#0b3d91", secondary: "#ffcc00" },
  ];
  return {
    ...sizeOf(file),
    name: ["Maya Okafor", "Łukasz Wójcik", "Pierre-Emerick Aubameyang", "Xi"][i % 4] as string,
    skill: [58, 71, 84, 93][i % 4] as number,
    ...(COMPOSITION && { composition: COMPOSITION }),
    number: 1 + ((i * 7) % 40),
    ...clubs[i % 3],
    ...(i % 5 === 0 ? {} : { theme: ["stadium night", "fire", "ice", "city"][i % 4] as string }),
  };
}

function placed(cutout: Cutout, zones: Zones, cover: number, card: { width: number; height: number }) {
  const at = placeCutout(cutout, cutout.framing, zones, card);
  const scale = at.width / cutout.width;
  const visible =
    Math.max(0, Math.min(card.width, at.x + at.width) - Math.max(0, at.x)) *
    Math.max(
      0,
      Math.min((zones.body.y + zones.body.height) * card.height, at.y + at.height) - Math.max(0, at.y),
    );
  const share = (cover * visible) / (card.width * card.height);
  const { face } = cutout.framing satisfies Framing;
  if (!face) return { faceOff: null, faceSize: null, share };
  const target = zones.face;
  const targetHeight = target.height * card.height;
  const x = at.x + (face.x + face.width / 2) * scale - (target.x + target.width / 2) * card.width;
  const y = at.y + (face.y + face.height / 2) * scale - (target.y + target.height / 2) * card.height;
  return { faceOff: Math.hypot(x, y) / targetHeight, faceSize: (face.height * scale) / targetHeight, share };
}

function isRightPerson({ player }: Label, { framing, inPhoto, width, height }: Cutout): boolean | null {
  if (!player) return null;
  const x = ((player[0] - inPhoto.x) / inPhoto.width) * width;
  const y = ((player[1] - inPhoto.y) / inPhoto.height) * height;
  const { head } = framing;
  return (
    x > head.x - head.width * 0.25 &&
    x < head.x + head.width * 1.25 &&
    y > head.y - head.height * 0.25 &&
    y < head.y + head.height * 1.25
  );
}

const mean = (values: number[]) =>
  values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : Number.NaN;
const part = <T>(of: T[], test: (row: T) => boolean) =>
  of.length ? of.filter(test).length / of.length : Number.NaN;

/** The page's figures: fractions of the usable photos unless noted otherwise. */
function figuresOf(rows: Row[]): Record<string, number> {
  const people = rows.filter(({ expect }) => expect === "person");
  const company = rows.filter(({ expect }) => expect === "company");
  const refuse = rows.filter(({ expect }) => expect === "refuse");
  const made = [...people, ...company].filter((row) => row.measures !== null);
  const of = (name: keyof CutoutMeasures) => made.map(({ measures }) => measures?.[name] ?? Number.NaN);
  const labelled = made.filter(({ rightPerson }) => rightPerson !== null);
  const faced = made.filter(({ faceOff }) => faceOff !== null);
  return {
    photos: rows.length,
    "single players accepted": part(people, ({ refusal }) => refusal === null),
    "players in company accepted": part(company, ({ refusal }) => refusal === null),
    "unusable photos refused": part(refuse, ({ refusal }) => refusal !== null),
    "right person, where labelled": part(labelled, ({ rightPerson }) => rightPerson === true),
    "head whole (over 98 % opaque)": part(of("head"), (value) => value > 0.98),
    "holes over 0.5 % of the player": part(of("holes"), (value) => value > 0.005),
    "islands over 0.5 % of the player": part(of("islands"), (value) => value > 0.005),
    "bright rim, part of the edge": mean(of("rim")),
    "stained edge, part of the edge": mean(of("stain")),
    "other people's labelled points on the card": of("company").reduce((sum, value) => sum + value, 0),
    "face within 0.35 of its target": part(faced, ({ faceOff }) => (faceOff ?? 9) < 0.35),
    "face size within 0.7 to 1.4 of its target": part(
      faced,
      ({ faceSize }) => (faceSize ?? 0) > 0.7 && (faceSize ?? 9) < 1.4,
    ),
    "player's share of the card": mean(made.map(({ share }) => share ?? Number.NaN)),
    "find and cut out, ms on the clock": mean(made.map(({ findAndCutMs }) => findAndCutMs)),
  };
}

function printFigures(figures: Record<string, number>, before: Record<string, number | null> | null): void {
  const shown = (value: number | null | undefined) =>
    value === undefined || value === null || Number.isNaN(value)
      ? "-"
      : value.toFixed(Math.abs(value) >= 2 ? 0 : 3);
  console.log(`${"".padEnd(46)}${"now".padStart(9)}${"before".padStart(9)}`);
  for (const [name, value] of Object.entries(figures))
    console.log(`${name.padEnd(46)}${shown(value).padStart(9)}${shown(before?.[name]).padStart(9)}`);
}

if (!COMPOSITION) {
  console.error(`--composition is one of ${ASKED_COMPOSITIONS.join(", ")}, not "${options.composition}".`);
  process.exit(2);
}
if (options.grades) {
  await printGrades(`${SHEETS}.key.json`, options.grades);
  process.exit(0);
}
const labels = await readLabels();
if (labels.length === 0) {
  console.error(`No labelled photo of ${options.list} is in ${options.photos}.`);
  process.exit(2);
}
await mkdir(join(options.out, "cards"), { recursive: true });
const browser = await launchCardBrowser();
const rows: Row[] = [];
try {
  const runtime = packagedRuntime();
  const matte = options.matte ? await checkMatteModel(options.matte, runtime) : null;
  const cutter = await openPhotoCutter(browser, runtime, matte);
  const tidied = tidying(() => void cutter.tidy());
  const template = await loadTemplate("club_card");
  const company = isPhotoOnly(COMPOSITION, compositionsOf(template.manifest)) ? "smaller" : "background";
  const page = await openCardPage(browser, template);
  const measurer = await openMeasurer(browser);
  const cards: Parameters<typeof writeJudgesSheets>[1] = [];
  for (const label of labels) {
    const path = join(options.photos, label.file);
    const startedAt = performance.now();
    const result = await tidied(() => cutter.cutOut(path, { company }));
    const findAndCutMs = performance.now() - startedAt;
    const row: Row = {
      ...label,
      refusal: result.ok ? null : result.reason,
      rightPerson: result.ok ? isRightPerson(label, result.cutout) : null,
      measures: null,
      faceOff: null,
      faceSize: null,
      share: null,
      findAndCutMs,
      composition: null,
    };
    if (result.ok) {
      const { cutout } = result;
      const { inPhoto } = cutout;
      const others = (label.others ?? []).map(([x, y]) => ({
        x: ((x - inPhoto.x) / inPhoto.width) * cutout.width,
        y: ((y - inPhoto.y) / inPhoto.height) * cutout.height,
      }));
      row.measures = await measurer.measure(cutout, others);
      const size = sizeOf(label.file);
      const { cutout: zones } = await page.zones({ card: cardInput(size), cutout: null, badge: null });
      Object.assign(row, placed(cutout, zones, row.measures.cover, size));
      const saved = await saveCutout(join(options.out, "cutouts", label.file), cutout);
      const picture = await page.render({
        card: cardInput(specOf(label.file)),
        cutout: saved,
        badge: null,
        photo: path,
      });
      row.composition = picture.composition;
      const card = join(options.out, "cards", `${label.file}.png`);
      await writeFile(card, picture.bytes);
      const { file, tags } = label;
      cards.push({ file, photo: path, card, composition: picture.composition, tags });
    }
    rows.push(row);
    console.log(`${label.file}  ${row.refusal ? `refused: ${row.refusal}` : row.composition}`);
  }
  const { beside } = options;
  await writeJudgesSheets(browser, cards, { folder: SHEETS, beside, random: Math.random });
} finally {
  await browser.close();
}
const figures = figuresOf(rows);
const before = existsSync(options.against)
  ? (JSON.parse(await readFile(options.against, "utf8")) as {
      list: string;
      figures: Record<string, number | null>;
    })
  : null;
const sameList = `${labels.map(({ file }) => file).join(" ")}`;
const list = sha256(sameList).slice(0, 16);
printFigures(figures, before?.list === list ? before.figures : null);
printAcceptedByTag(acceptedByTag(rows));
await writeFile(join(options.out, "rows.json"), JSON.stringify(rows, null, 1));
if (options.save) await writeFile(options.save, `${JSON.stringify({ list, figures }, null, 2)}\n`);
