/**
 * Times the photo work by stage on the labelled photos, one after the other, and prints its memory use.
 *
 *     bun scripts/bench/photo.ts [--rounds 3] [--only name] [--out FOLDER]
 *
 * With --out every cutout is written on magenta and on dark green, to inspect its edge.
 */

import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Browser } from "puppeteer-core";
import type { Cutout } from "../../src/core/card.ts";
import { launchBrowser } from "../../src/render/browser/browser.ts";
import { findChromium } from "../../src/render/browser/chromium.ts";
import { openPhotoCutter } from "../../src/render/photo/photo.ts";
import { tidying } from "../../src/render/tidying.ts";
import { offerHelp } from "../help.ts";

offerHelp(import.meta);

const { values: options } = parseArgs({
  options: {
    rounds: { type: "string", default: "3" },
    only: { type: "string", default: "" },
    out: { type: "string" },
    photos: { type: "string", default: join(import.meta.dir, "../../test/photos") },
  },
});
const cacheDir = join(tmpdir(), "cardpress-test-cache");
mkdirSync(cacheDir, { recursive: true });
if (options.out) mkdirSync(options.out, { recursive: true });

const chromium = await findChromium({ configuredPath: process.env.CARDPRESS_CHROMIUM, cacheDir });
const browser = await launchBrowser({ chromium, profilesDir: tmpdir(), noSandbox: true });
console.log(await browser.version(), "on Bun", Bun.version);

const before = performance.now();
const studio = await openPhotoCutter(browser);
const tidied = tidying(() => void studio.tidy());
console.log(`opened in ${Math.round(performance.now() - before)} ms`);

const sums = new Map<string, number[]>();
const names = readdirSync(options.photos).filter(
  (name) => /\.(jpe?g|png|webp)$/.test(name) && name.includes(options.only),
);
for (let round = 0; round < Number(options.rounds); round++) {
  for (const name of names) {
    const start = performance.now();
    const result = await tidied(() => studio.cutOut(join(options.photos, name)));
    const total = performance.now() - start;
    const timings = Object.entries({ ...result.timingsMs, total });
    if (round > 0 || Number(options.rounds) === 1) {
      for (const [stage, ms] of timings) {
        const key = `${result.ok ? "cut" : "refused"} ${stage}`;
        sums.set(key, [...(sums.get(key) ?? []), ms]);
      }
    }
    if (round > 0) continue;
    const times = timings.map(([stage, ms]) => `${stage} ${Math.round(ms)}`).join(", ");
    console.log(
      `${name.padEnd(22)} ${(result.ok ? describe(result.cutout) : result.reason).padEnd(60)} ${times}`,
    );
    if (result.ok && options.out)
      await writeComposite(browser, result.cutout, join(options.out, `${name}.png`));
  }
}
for (const [key, list] of sums) {
  list.sort((a, b) => a - b);
  const at = (part: number) =>
    Math.round(list[Math.min(list.length - 1, Math.floor(part * list.length))] ?? 0);
  console.log(`${key.padEnd(18)} median ${at(0.5)} ms, 90% ${at(0.9)} ms, ${list.length} runs`);
}
console.log("memory, MB anonymous:", JSON.stringify(memoryMb(browser.process()?.pid ?? 0)));
await studio.close();
await browser.close();
process.exit(0);

function describe({ width, height, bytes, framing }: Cutout): string {
  const box = (b: { x: number; y: number; width: number; height: number } | null) =>
    b ? `${b.x},${b.y} ${b.width}x${b.height}` : "-";
  const sides = Object.entries(framing.cutSides).flatMap(([side, cut]) => (cut ? [side[0]] : []));
  return `${width}x${height} ${Math.round(bytes.length / 1024)}K face ${box(framing.face)} head ${box(framing.head)} cut ${sides.join("")}`;
}

/** The cutout on magenta and on dark green side by side, with its boxes drawn on the second. */
async function writeComposite(browser: Browser, cutout: Cutout, path: string): Promise<void> {
  const page = await browser.newPage();
  const scale = Math.min(1, 1000 / cutout.height, 900 / cutout.width);
  const [width, height] = [Math.round(cutout.width * scale), Math.round(cutout.height * scale)];
  await page.setViewport({ width: 2 * width, height });
  const source = `data:image/png;base64,${Buffer.from(cutout.bytes).toString("base64")}`;
  const { face, head, body } = cutout.framing;
  const boxes = [face, head, body].map((box, i) =>
    box
      ? `<i style="position:absolute;outline:1px solid ${["yellow", "cyan", "white"][i]};left:${box.x * scale}px;top:${box.y * scale}px;width:${box.width * scale}px;height:${box.height * scale}px"></i>`
      : "",
  );
  const cell = (colour: string, inner: string) =>
    `<div style="position:relative;background:${colour};width:${width}px;height:${height}px"><img src="${source}" style="width:100%;height:100%">${inner}</div>`;
  await page.setContent(
    `<body style="margin:0;display:flex">${cell("#f0f", "")}${cell("#063d1e", boxes.join(""))}`,
  );
  await page.screenshot({ path: path as `${string}.png` });
  await page.close();
}

/** Anonymous memory of this process, of the browser with all its processes, and of the largest of those. */
function memoryMb(browserPid: number) {
  const processes = readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const read = (key: string) => Number(status.match(new RegExp(`${key}:\\s+(\\d+)`))?.[1] ?? 0);
      return [{ pid: Number(pid), parent: read("PPid"), mb: read("RssAnon") / 1024 }];
    } catch {
      return [];
    }
  });
  const family = (pid: number): typeof processes =>
    processes.filter((one) => one.parent === pid).flatMap((one) => [one, ...family(one.pid)]);
  const children = family(browserPid);
  const own = processes.find((one) => one.pid === process.pid)?.mb ?? 0;
  const root = processes.find((one) => one.pid === browserPid)?.mb ?? 0;
  return {
    worker: Math.round(own),
    browser: Math.round(root + children.reduce((sum, one) => sum + one.mb, 0)),
    largestPage: Math.round(Math.max(0, ...children.map((one) => one.mb))),
  };
}
