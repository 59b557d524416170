/**
 * The memory of one render worker and its browser over many cards: what each process holds, after every
 * hundred, and the most they held after any card since the line before.
 *
 *     bun scripts/bench/memory.ts [--cards 1000] [--photos FOLDER]
 *
 * The cards are mixed: two of three show a photo that is new to the worker, one of which in thirty has 13
 * million pixels; the third shows one seen before. Cards have four sizes and three formats. Photos without a
 * player are refused, and count. Memory is Pss, anonymous and shared, in megabytes; program files are left
 * out.
 */

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findChromium } from "../../src/render/browser/chromium.ts";
import { offerHelp } from "../help.ts";
import { card, largePhoto, openWorker, PHOTOS } from "./one-worker.ts";
import { memoryMbByKind, memoryMbOf, processorMsOf } from "./processes.ts";

offerHelp(import.meta);

const { values: options } = parseArgs({
  options: { cards: { type: "string", default: "1000" }, photos: { type: "string", default: PHOTOS } },
});

/** How many cards lie between two lines. */
const STEP = 100;
/** The first lines come sooner: most of the memory is there after a few cards. */
const FIRST = [0, 10, 50];
const SIZES = [
  [1024, 1280],
  [512, 512],
  [1080, 1920],
  [1200, 630],
] as const;
const FORMATS = ["png", "jpeg", "webp"] as const;

const scratch = mkdtempSync(join(tmpdir(), "cardpress-memory-"));
const cacheDir = join(tmpdir(), "cardpress-test-cache");
mkdirSync(cacheDir, { recursive: true });

try {
  const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
  const photos = readdirSync(options.photos)
    .filter((name) => /\.(jpe?g|png|webp)$/.test(name))
    .sort()
    .map((name) => join(options.photos, name));
  const large = await largePhoto(scratch);
  const worker = await openWorker(chromium, scratch);
  const path = (n: number) => (n % 45 === 0 ? large : (photos[n % photos.length] as string));
  const hashOf = (n: number) => String(n).padStart(64, "0");
  let [refused, most] = [0, 0];
  for (let n = 0; n <= Number(options.cards); n++) {
    most = Math.max(most, memoryMbOf(worker.pid));
    if (n % STEP === 0 || FIRST.includes(n)) {
      printLine(n, worker.pid, refused, most);
      most = 0;
    }
    // Every third card shows the photo of the card before it.
    const photo = n % 3 === 2 ? n - 1 : n;
    const [width, height] = SIZES[n % SIZES.length] as (typeof SIZES)[number];
    const one = card(n, FORMATS[n % FORMATS.length] as (typeof FORMATS)[number]);
    const sized = { ...one, style: { ...one.style, width, height } };
    const made = await worker.tryRender(sized, { path: path(photo), sha256: hashOf(photo) });
    if (!made) refused++;
  }
  await worker.close();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(0);

/** Prints one line: after how many cards, the memory of all processes, the most of it, and of each kind. */
function printLine(cards: number, pid: number, refused: number, most: number): void {
  const kinds = memoryMbByKind(pid);
  const sum = [...kinds.values()].reduce((total, mb) => total + mb, 0);
  const parts = [...kinds].map(([kind, mb]) => `${kind} ${mb.toFixed(0)}`).join(", ");
  const seconds = (processorMsOf(pid) / 1000).toFixed(0);
  console.log(
    `${String(cards).padStart(5)} cards, ${refused} refused, ${seconds} s of processor: ${sum.toFixed(0)} MB, at most ${most.toFixed(0)} (${parts})`,
  );
}
