/**
 * Print files of decks with backs: seconds, bytes, and the most memory of the processes that write them.
 *
 *     bun scripts/bench/print.ts [--cards 50,500] [--profile FILE] [--only sRGB] [--to DIR]
 *
 * Each file is written by a process of its own and read as fast as it comes; the second process, for inks,
 * counts too. The cards are club cards of 63 x 88 mm with foil, twelve different ones again and again.
 * Memory is the sum of what each process had resident at most, in megabytes, program files included; beside
 * it what a process that writes nothing has. Without --profile the one that Ghostscript brings, if it is
 * there, stands in for a press. --only measures one kind of file; --to keeps the files, to be looked at;
 * otherwise they go nowhere.
 */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Printed, printFile } from "../../src/app/print/print-file.ts";
import type { PrintRequest } from "../../src/app/print/print-request.ts";
import { folderBlobs } from "../../src/blobs/folder-blobs.ts";
import { quietLog } from "../../src/log.ts";
import { openCardPage } from "../../src/render/card/page.ts";
import { pressOf } from "../../src/service/press.ts";
import { DEFAULT_TEMPLATE } from "../../src/templates/built-in.ts";
import { backOf, loadTemplate } from "../../src/templates/load.ts";
import { CUTOUT_NAMES, cardInput, cutout, launchCardBrowser } from "../../test/render/card/cards.ts";
import { offerHelp } from "../help.ts";

offerHelp(import.meta);

const GHOSTSCRIPTS = "/usr/share/color/icc/ghostscript/default_cmyk.icc";
const { values: options } = parseArgs({
  options: {
    cards: { type: "string", default: "50,500" },
    profile: { type: "string", ...(existsSync(GHOSTSCRIPTS) && { default: GHOSTSCRIPTS }) },
    only: { type: "string" },
    to: { type: "string" },
    /** What a process of its own is to do. */
    job: { type: "string" },
  },
});

/** Different cards of a deck, which then begins again. */
const LOOKS = 12;
const PX = { width: 815, height: 1110 };
/** The most memory is asked for so often: each process's own highest mark, while it lives. */
const LOOK_MS = 20;

interface Job {
  folder: string;
  cards: number;
  asked: PrintRequest;
  profile?: string | undefined;
  /** Where the file is kept; nowhere unless given. */
  to?: string | undefined;
}

const nameOf = (n: number, side: string) => `img_${n % LOOKS}-${side}.png`;
const blobsIn = (dir: string) =>
  folderBlobs({ sources: dir, cutouts: dir, images: dir, placeholders: dir, templateFiles: dir });

if (options.job) await write(JSON.parse(options.job));
else await bench();
process.exit(0);

async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "cardpress-bench-print-"));
  try {
    await drawLooks(folder);
    const wishes: [string, PrintRequest][] = [
      ["sRGB", {}],
      ["sRGB on A4", { sheet: "a4" }],
      ["sRGB, foil", { foil: "Foil" }],
    ];
    if (options.profile) wishes.push(["CMYK", { colour: "cmyk" }]);
    const asked = wishes.filter(([what]) => options.only === undefined || what === options.only);
    if (asked.length === 0) throw new Error(`--only is one of ${wishes.map(([what]) => what).join("; ")}`);
    const idle = await measured({ folder, cards: 0, asked: {} });
    console.log(`nothing: ${idle.mb.toFixed(0)} MB`);
    for (const [what, request] of asked)
      for (const cards of options.cards.split(",").map(Number)) {
        const to = options.to && join(options.to, `${what.replace(/\W+/g, "-")}-${cards}.pdf`);
        const job = { folder, cards, asked: request, profile: options.profile, to };
        const { seconds, bytes, mb } = await measured(job);
        const size = `${(bytes / 1e6).toFixed(1)} MB, ${(bytes / cards / 2 / 1e3).toFixed(0)} KB a side`;
        const pace = `${seconds.toFixed(1)} s, ${((seconds * 1000) / cards / 2).toFixed(0)} ms a side`;
        console.log(
          `${what}, ${cards} cards with backs: ${pace}; ${size}; at most ${mb.toFixed(0)} MB; load ${loadavg()[0]?.toFixed(2)}`,
        );
      }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Both sides of the different cards, as a render keeps them. */
async function drawLooks(folder: string): Promise<void> {
  const browser = await launchCardBrowser();
  const template = await loadTemplate(DEFAULT_TEMPLATE);
  for (const side of ["front", "back"] as const) {
    const page = await openCardPage(browser, side === "front" ? template : backOf(template));
    for (let n = 0; n < LOOKS; n++) {
      const { style, ...input } = cardInput({ ...PX, number: n + 1, skill: 50 + 4 * n });
      const card = { ...input, style: { ...style, foil: true as const } };
      const player = side === "front" ? await cutout(CUTOUT_NAMES[n % CUTOUT_NAMES.length] ?? "yoga") : null;
      const { bytes } = await page.render({ card, cutout: player, badge: null });
      await blobsIn(folder).put("picture", nameOf(n, side), bytes);
    }
    await page.close();
  }
  await browser.close();
}

/** One file by a process of its own. */
async function measured(job: Job): Promise<{ seconds: number; bytes: number; mb: number }> {
  const child = Bun.spawn([process.execPath, import.meta.path, "--job", JSON.stringify(job)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const highest = new Map<number, number>();
  const timer = setInterval(() => look(child.pid, highest), LOOK_MS);
  const out = await new Response(child.stdout).text();
  clearInterval(timer);
  const mb = [...highest.values()].reduce((sum, kb) => sum + kb, 0) / 1024;
  return { ...JSON.parse(out), mb };
}

/** Notes the highest mark of a process and its children (proc(5), VmHWM). */
function look(pid: number, highest: Map<number, number>): void {
  const read = (path: string) => {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return "";
    }
  };
  const kb = Number(/VmHWM:\s+(\d+)/.exec(read(`/proc/${pid}/status`))?.[1] ?? 0);
  if (kb > 0) highest.set(pid, kb);
  for (const child of read(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean))
    look(Number(child), highest);
}

/** Writes a file, and prints how long it took and how long it is. */
async function write({ folder, cards, asked, profile, to }: Job): Promise<void> {
  const started = performance.now();
  let bytes = 0;
  if (cards > 0) {
    const images = Array.from({ length: cards }, (_, n) => ({
      outputName: nameOf(n, "front"),
      backOutputName: nameOf(n, "back"),
      outputWidth: PX.width,
      outputHeight: PX.height,
      purgedAt: null,
      forgottenAt: null,
      completedAt: 0,
    }));
    const printed = { field: "batch_id", id: "bat_bench", accountId: "acct_bench", title: "Deck", images };
    const deps = { blobs: blobsIn(folder), press: pressOf(profile), log: quietLog() };
    const file = to === undefined ? undefined : Bun.file(to).writer();
    for await (const part of await printFile(deps, printed as unknown as Printed, asked)) {
      bytes += part.length;
      file?.write(part);
      await file?.flush();
    }
    await file?.end();
  }
  console.log(JSON.stringify({ seconds: (performance.now() - started) / 1000, bytes }));
}
