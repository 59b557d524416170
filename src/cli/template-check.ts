import { readFile } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative, resolve } from "node:path";
import { Command } from "commander";
import { readConfig } from "../config.ts";
import { OperatorError } from "../core/errors.ts";
import { sha256 } from "../core/sha256.ts";
import { quietLog } from "../log.ts";
import { untilSignal } from "../service/stop-signal.ts";
import type { CheckedFault } from "../studio/check/cards.ts";
import { type CheckOptions, type CheckReport, checkTemplate } from "../studio/check/check.ts";
import { findTemplates } from "../studio/template-folder.ts";
import { writeWhole } from "../system/write-whole.ts";
import { faultLine } from "../templates/fault.ts";
import { printResult } from "./output.ts";
import { openPreviewPool } from "./preview-pool.ts";

interface CheckFlags {
  accept?: string[];
  onlyFailed?: boolean;
  json?: boolean | undefined;
  /** A person waits for it. Off for `publish`, which may run beside a live service. */
  normalPriority?: boolean;
}

/** A card is drawn by one process and looked at by another: more workers than cores gain nothing. */
const MAX_WORKERS = 4;

export function templateCheckCommand(): Command {
  return new Command("check")
    .description("draw a template with every edge case, and report what is wrong; exit 1 on an error")
    .argument("[dir]", "a template's folder, or one that holds some; otherwise this folder")
    .option("--accept <names...>", "accept pictures as they are drawn now: SAMPLE@SIZE, or all")
    .option("--only-failed", "draw only the cards that failed the last time")
    .option("--json", "print JSON")
    .action(async (dir: string | undefined, flags: CheckFlags) => {
      const root = resolve(dir ?? ".");
      const found = await findTemplates(root);
      if (found.size === 0)
        throw new OperatorError(
          `${root} holds no template: a folder with template.json. "cardpress template new NAME" starts one.`,
        );
      if (found.size > 1 && flags.accept?.some((name) => name !== "all"))
        throw new OperatorError(
          `${root} holds ${found.size} templates. Give the folder of the one whose pictures --accept names.`,
        );
      const reports = await checkFolders([...found.values()], { ...flags, normalPriority: true });
      printResult(flags.json, reports.length === 1 ? reports[0] : reports, () =>
        reports.map(reportText).join("\n\n"),
      );
      process.exitCode = reports.every(({ isGood }) => isGood) ? 0 : 1;
    });
}

/**
 * Checks folders one after the other, sharing the browsers. Without --json what is found is printed at once,
 * on stderr.
 */
export async function checkFolders(dirs: string[], flags: CheckFlags): Promise<CheckReport[]> {
  const workers = Math.min(availableParallelism(), MAX_WORKERS);
  const previews = await openPreviewPool(readConfig(process.env), quietLog(), flags.normalPriority, workers);
  const stopped = untilSignal().then(async (signal) => {
    await previews.close();
    throw new OperatorError(`${signal} came before the check was done.`);
  });
  const work = async () => {
    const reports: CheckReport[] = [];
    for (const dir of dirs) {
      const report = await checkTemplate({
        dir,
        scratch: join(previews.scratch, "pictures"),
        pool: previews.pool,
        accept: flags.accept ?? [],
        only: flags.onlyFailed ? await lastFailed(dir) : null,
        ...(flags.json ? { onProgress: () => {} } : running(dir, process.stderr)),
      });
      // A folder that could not be read says nothing of its cards.
      if (report.drawn > 0) await writeWhole(failedFile(dir), JSON.stringify(report.failed));
      reports.push(report);
    }
    return reports;
  };
  try {
    return await Promise.race([work(), stopped]);
  } finally {
    await previews.close();
  }
}

/** Cards from one line of the log to the next, where it is no terminal that shows a number running. */
const CARDS_A_LINE = 25;

/** The log of a check: every fault as soon as it is found, and how far it is. */
function running(
  dir: string,
  stream: NodeJS.WriteStream,
): Required<Pick<CheckOptions, "onProgress" | "onFault">> {
  const { isTTY } = stream;
  const write = (text: string) => void stream.write(text);
  const name = relative(".", dir) || ".";
  const clear = isTTY ? "\r\x1b[K" : "";
  write(`${name}: starting to draw${isTTY ? "" : "\n"}`);
  return {
    onFault: (fault) => write(`${clear}${faultText(fault, dir)}\n`),
    onProgress: (done, all) => {
      const text = `${name}: ${done} of ${all} cards`;
      if (isTTY) write(done < all ? `\r${text}` : clear);
      else if (done % CARDS_A_LINE === 0 || done === all) write(`${text}\n`);
    },
  };
}

const placeIn = (folder: string) => (name: string) => relative(".", join(folder, name)) || name;

const faultText = (fault: CheckedFault, folder: string) =>
  `${fault.severity === "error" ? "error  " : "warning"} ${faultLine(fault, placeIn(folder))}`;

/** Remembers which cards failed on this machine; of no use elsewhere. */
const failedFile = (dir: string) => join(tmpdir(), `cardpress-check-${sha256(dir).slice(0, 16)}.json`);

async function lastFailed(dir: string): Promise<ReadonlySet<string> | null> {
  const ids = await readFile(failedFile(dir), "utf8")
    .then((text) => JSON.parse(text) as string[])
    .catch(() => []);
  return ids.length > 0 ? new Set(ids) : null;
}

/** The report for people: one line per fault, then a summary. */
export function reportText(report: CheckReport): string {
  const place = placeIn(report.folder);
  const lines = report.faults.map((fault) => faultText(fault, report.folder));
  for (const { name, state, changed, difference } of report.goldens) {
    if (state === "changed")
      lines.push(
        `error   ${place(`golden/${name}.webp`)}: ${((changed ?? 0) * 100).toFixed(2)} % of the pixels changed${difference ? `: ${relative(".", difference)}` : ""}. Right? Then --accept ${name}.`,
      );
    if (state === "accepted") lines.push(`        ${place(`golden/${name}.webp`)}: accepted.`);
  }
  const fresh = report.goldens.filter(({ state }) => state === "new").length;
  if (fresh > 0)
    lines.push(
      `        ${fresh} pictures are not accepted yet: --accept all keeps them, and every later change is reported.`,
    );
  const errors =
    report.faults.filter(({ severity }) => severity === "error").length +
    report.goldens.filter(({ state }) => state === "changed").length;
  const cost = report.cost === null ? "" : `, ${report.cost.toFixed(1)} times the time of the built-in card`;
  const warnings = report.faults.length - report.faults.filter(({ severity }) => severity === "error").length;
  lines.push(
    `${report.template}: ${errors} errors, ${warnings} warnings; ${report.drawn} cards drawn${cost}.`,
  );
  return lines.join("\n");
}
