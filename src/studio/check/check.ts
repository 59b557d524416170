import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { OperatorError } from "../../core/errors.ts";
import type { PreviewPool } from "../../render/pool.ts";
import type { Inspection } from "../../render/preview/messages.ts";
import { writeWhole } from "../../system/write-whole.ts";
import { examine, misnamed } from "../../templates/examine.ts";
import { type Fault, sortFaults } from "../../templates/fault.ts";
import { readTemplateFolder, TemplateFileError } from "../../templates/files.ts";
import { compositionsOf, type TemplateManifest } from "../../templates/manifest.ts";
import { type SampleBody, showsSet } from "../cases.ts";
import { CHANGED_FROM, changedFrom, type Difference, differenceOf } from "../difference.ts";
import { differencesFolder, goldenPath, readGolden } from "../goldens.ts";
import { readSamples, sampleFile, sampleFileNames } from "../sample-files.ts";
import { type SampleCard, sampleCard } from "../samples.ts";
import { testBadgeOf } from "../test-badges.ts";
import {
  backCase,
  type CardFault,
  type CheckCase,
  type CheckedFault,
  cardFaults,
  checkCases,
  chosenCases,
  faultKey,
  gather,
} from "./cards.ts";
import { checkStyles } from "./check-style.ts";
import { checkSvg } from "./check-svg.ts";
import { costOf } from "./cost.ts";
import { draw } from "./draw.ts";

export interface CheckOptions {
  dir: string;
  /** A folder for pictures. */
  scratch: string;
  pool: PreviewPool;
  /** Pictures to accept, as `SAMPLE@SIZE`; `all` accepts every one. */
  accept: readonly string[];
  /** Draw only the cards with these ids; null draws all. */
  only: ReadonlySet<string> | null;
  onProgress(done: number, all: number): void;
  /** Called with each fault as soon as it is found: of those of many cards with the first that has it. */
  onFault?(fault: CheckedFault): void;
}

export interface GoldenCheck {
  name: string;
  state: "same" | "changed" | "new" | "accepted";
  changed: number | null;
  /** A picture of the differences; null when there are none. */
  difference: string | null;
}

export interface CheckReport {
  template: string;
  folder: string;
  isGood: boolean;
  faults: CheckedFault[];
  goldens: GoldenCheck[];
  drawn: number;
  /** Time to lay out and capture a card, as a multiple of the built-in card's; null when not measured. */
  cost: number | null;
  /** Ids of the cards that have faults. */
  failed: string[];
}

/** The longer side of inspected cards: as small as possible while texts can still be judged. */
const LOOK_PX = 640;
/** The code of a fault of a card that cannot be drawn at all. */
const UNDRAWN = "drawing";
/** For a picture that was not accepted before. */
const ALL_CHANGED: Difference = { changed: 1, picture: null };
/** A costlier template would halve a service's throughput. */
const MAX_COST = 2;

/**
 * Checks a template's folder: its files, then hundreds of cards. Throws an OperatorError when it cannot be
 * read.
 */
export async function checkTemplate(options: CheckOptions): Promise<CheckReport> {
  const { dir, pool } = options;
  const files = await readTemplateFolder(dir);
  const text = (name: string) => new TextDecoder().decode(files.get(name));
  const { manifest, faults: own, ...read } = examine(files);
  const report: CheckReport = {
    template: manifest?.name ?? basename(dir),
    folder: dir,
    isGood: false,
    faults: [],
    goldens: [],
    drawn: 0,
    cost: null,
    failed: [],
  };
  const ofFiles = [
    ...own,
    ...(manifest ? misnamed(manifest, basename(dir)) : []),
    ...(await checkStyles(files, pool)),
    ...checkSvg(files),
  ];
  for (const fault of ofFiles) reportFault(options, report, fault);
  // Asked before hundreds of cards are drawn for nothing.
  const samples = await unlessReported(options, report, sampleFileNames(dir));
  const differences = await unlessReported(options, report, differencesFolder(dir));
  const makesCards = own.every(({ severity }) => severity !== "error") && samples && differences;
  const html = { card: text("card.html"), back: read.back && text("back.html") };
  if (manifest && makesCards) await checkCards(options, manifest, html, showsSet(read), report);
  sortFaults(report.faults);
  report.isGood =
    report.faults.every(({ severity }) => severity !== "error") &&
    report.goldens.every(({ state }) => state !== "changed");
  return report;
}

/** The markup of both sides. */
interface Sides {
  card: string;
  back: string | null;
}

/**
 * Records a fault that was not seen in a card's picture, and passes it on at once.
 * @param cases ids of the cards that have it, if only these have
 */
function reportFault(
  { onFault }: CheckOptions,
  report: CheckReport,
  fault: Fault,
  cases: string[] = [],
): void {
  const checked = { ...fault, cases };
  report.faults.push(checked);
  onFault?.(checked);
}

/** What was read, or undefined and a fault in the report for a file that cannot be used. */
async function unlessReported<T>(
  options: CheckOptions,
  report: CheckReport,
  reading: Promise<T>,
  cases?: string[],
): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof TemplateFileError)) throw error;
    const place = { file: error.file ?? "", line: 1, column: 1 };
    reportFault(options, report, { ...place, severity: "error", code: "file", message: error.fault }, cases);
    return undefined;
  }
}

/** What was drawn, or undefined and a fault in the report for a card that could not be drawn again. */
async function unlessUndrawn<T>(
  options: CheckOptions,
  report: CheckReport,
  { id, label, side }: CheckCase,
  drawing: Promise<T>,
): Promise<T | undefined> {
  try {
    return await drawing;
  } catch (error) {
    const place = { file: `${side ?? "card"}.html`, line: 1, column: 1 };
    const message = `${label} cannot be drawn: ${firstLine(error)}`;
    reportFault(options, report, { ...place, severity: "error", code: UNDRAWN, message }, [id]);
    return undefined;
  }
}

const firstLine = (error: unknown) => (error as Error).message.split("\n", 1)[0];

async function checkCards(
  options: CheckOptions,
  manifest: TemplateManifest,
  html: Sides,
  hasSet: boolean,
  report: CheckReport,
): Promise<void> {
  const bodies = await checkSamples(options, manifest, report);
  if (bodies.size === 0) return;
  const fronts = checkCases(bodies, manifest, compositionsOf(manifest), hasSet);
  const backs = html.back === null ? [] : fronts.map(backCase);
  const all = [...fronts, ...backs];
  checkAccepted(
    options.accept,
    all.filter(({ isSample }) => isSample),
  );
  const cases = chosenCases(all, options.only);
  const samples = cases.filter(({ isSample }) => isSample);
  const faults = await inspectAll(options, manifest, cases, html, report);
  report.faults.push(...faults);
  // What cannot be drawn is reported by now: it has no picture to compare, and no time to measure.
  const undrawn = new Set(faults.flatMap(({ code, cases: ids }) => (code === UNDRAWN ? ids : [])));
  const isDrawn = ({ id }: CheckCase) => !undrawn.has(id);
  await checkGoldens(options, manifest, samples.filter(isDrawn), report);
  const measured = cases === all ? cases.find(isDrawn) : undefined;
  if (measured) await checkCost(options, manifest, measured, report);
  const failed = report.faults.flatMap(({ severity, cases: ids }) => (severity === "error" ? ids : []));
  const changed = report.goldens.filter(({ state }) => state === "changed").map(({ name }) => name);
  report.failed = [...new Set([...failed, ...changed])];
}

/** Draws and inspects every card, on all workers of the pool at once. Returns the faults, each once. */
async function inspectAll(
  options: CheckOptions,
  manifest: TemplateManifest,
  cases: readonly CheckCase[],
  html: Sides,
  report: CheckReport,
): Promise<CheckedFault[]> {
  const gatherSide = (side: CheckCase["side"], all: { one: CheckCase; faults: CardFault[] }[]) =>
    side === "back" ? gather(all, html.back ?? "", "back.html") : gather(all, html.card);
  const inspected: { one: CheckCase; faults: CardFault[] }[] = [];
  const reported = new Set<string>();
  let done = 0;
  await inParallel(options.pool.health().wanted, cases, async (one, i) => {
    const faults = await faultsOf(options, manifest, one);
    inspected[i] = { one, faults };
    for (const fault of faults) {
      const key = `${one.side} ${faultKey(fault)}`;
      const [first] = reported.has(key) ? [] : gatherSide(one.side, [{ one, faults: [fault] }]);
      reported.add(key);
      if (first) options.onFault?.(first);
    }
    if (!faults.some(({ code }) => code === UNDRAWN)) report.drawn += 1;
    options.onProgress(++done, cases.length);
  });
  const of = (side: CheckCase["side"]) =>
    gatherSide(
      side,
      inspected.filter(({ one }) => one.side === side),
    );
  return [...of(undefined), ...of("back")];
}

/** What is wrong with one card; one that cannot be drawn has that as its fault. */
async function faultsOf(
  options: CheckOptions,
  manifest: TemplateManifest,
  one: CheckCase,
): Promise<CardFault[]> {
  try {
    const { inspection } = await draw(options, manifest, one, one.isPrint ? "print" : LOOK_PX, "contrast");
    return cardFaults(inspection as Inspection, one);
  } catch (error) {
    const text = `cannot be drawn: ${firstLine(error)}`;
    return [{ severity: "error", code: UNDRAWN, subject: "a card", text, weight: 1 }];
  }
}

/** Does all work, so many at a time, beginning with the first. */
async function inParallel<T>(
  atOnce: number,
  all: readonly T[],
  work: (one: T, index: number) => Promise<void>,
): Promise<void> {
  const rest = all.entries();
  const worker = async () => {
    for (const [index, one] of rest) await work(one, index);
  };
  await Promise.all(Array.from({ length: Math.max(1, atOnce) }, worker));
}

/** The content of the valid samples; invalid ones, and files that no sample uses, are reported as faults. */
async function checkSamples(
  options: CheckOptions,
  manifest: TemplateManifest,
  report: CheckReport,
): Promise<Map<string, SampleBody>> {
  const { dir } = options;
  const bodies = new Map<string, SampleBody>();
  const used = new Set<string>();
  const fault = (name: string, message: string, severity: Fault["severity"] = "error") => {
    reportFault(options, report, {
      file: `samples/${name}`,
      line: 1,
      column: 1,
      severity,
      code: "sample",
      message,
    });
  };
  const samples = await readSamples(dir);
  for (const { name, text, problem } of samples) {
    if (problem !== null) {
      fault(`${name}.json`, problem);
      continue;
    }
    try {
      const body = JSON.parse(text);
      const card = sampleCard(body, manifest, { width: 1024, height: 1024, format: "png" });
      for (const file of filesOf(card)) {
        await sampleFile(dir, file);
        used.add(file);
      }
      bodies.set(name, body);
    } catch (error) {
      fault(`${name}.json`, `makes no card: ${(error as Error).message.replaceAll("\n", " ")}`);
    }
  }
  if (samples.length === 0)
    fault(
      "",
      "holds no sample, so nothing was drawn. Add samples/NAME.json, a body of POST /v1/images.",
      "warning",
    );
  for (const file of await sampleFileNames(dir))
    if (!file.endsWith(".json") && !file.startsWith(".") && !used.has(file))
      fault(file, "no sample names this file. Remove it, or use it.", "warning");
  return bodies;
}

/** The files that a sample names beside it. */
const filesOf = ({ photo, badge, pictures }: SampleCard): string[] => [
  ...(photo === null ? [] : [photo]),
  ...[badge ?? "", ...Object.values(pictures)].filter((name) => name !== "" && !testBadgeOf(name)),
];

/** Before hundreds of cards are drawn. @throws an OperatorError for a picture that the template has not */
function checkAccepted(accept: readonly string[], samples: readonly CheckCase[]): void {
  const unknown = accept.filter((name) => name !== "all" && !samples.some(({ id }) => id === name));
  if (unknown.length > 0)
    throw new OperatorError(
      `There is no ${unknown.join(", ")} to accept. There are ${samples.map(({ id }) => id).join(", ")}.`,
    );
}

async function checkGoldens(
  options: CheckOptions,
  manifest: TemplateManifest,
  cases: CheckCase[],
  report: CheckReport,
): Promise<void> {
  const { dir, accept } = options;
  const differences = await differencesFolder(dir);
  for (const one of cases) {
    const before = await unlessReported(options, report, readGolden(dir, one.id), [one.id]);
    if (before === undefined) continue;
    const isWanted = accept.includes("all") || accept.includes(one.id);
    if (!before && !isWanted) {
      report.goldens.push({ name: one.id, state: "new", changed: null, difference: null });
      continue;
    }
    const drawing = draw(options, manifest, one, "golden", "no").then(({ bytesOf }) => bytesOf());
    const now = await unlessUndrawn(options, report, one, drawing);
    if (now === undefined) continue;
    const compared = before ? differenceOf(before, now) : Promise.resolve(ALL_CHANGED);
    const difference = await unlessReported(
      options,
      report,
      compared.catch(() => {
        if (isWanted) return ALL_CHANGED;
        const fault = `is no picture that can be read. Remove it, or keep what is drawn now by --accept ${one.id}.`;
        throw new TemplateFileError(dir, `golden/${one.id}.webp`, fault);
      }),
      [one.id],
    );
    if (!difference) continue;
    const { changed, picture } = difference;
    const differencePath = join(differences, `${one.id}.png`);
    const isAccepted = isWanted && changed > CHANGED_FROM;
    if (isAccepted) await writeWhole(goldenPath(dir, one.id), now);
    const differs = !isWanted && changed > changedFrom(one, compositionsOf(manifest));
    const shown = differs && picture ? differencePath : null;
    if (shown && picture) await writeWhole(shown, picture);
    else await rm(differencePath, { force: true });
    const state = isAccepted ? "accepted" : differs ? "changed" : "same";
    report.goldens.push({ name: one.id, state, changed: before ? changed : null, difference: shown });
  }
}

/** Measures what a card takes to draw, and reports a template that takes too long. */
async function checkCost(
  options: CheckOptions,
  manifest: TemplateManifest,
  one: CheckCase,
  report: CheckReport,
): Promise<void> {
  const cost = await unlessUndrawn(options, report, one, costOf(options, manifest, one));
  if (cost === undefined) return;
  report.cost = cost;
  if (cost <= MAX_COST) return;
  const message = `a card takes ${cost.toFixed(1)} times as long as the built-in card's. Blurs, blends and large masks cost most.`;
  reportFault(options, report, {
    file: "card.css",
    line: 1,
    column: 1,
    severity: "warning",
    code: "cost",
    message,
  });
}
