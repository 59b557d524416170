/**
 * The time from a save until the new picture is on the studio's screen, in a real browser.
 *
 *     bun scripts/bench/studio.ts [SAVES]
 *
 * Saves card.css SAVES (9) times, then card.html. Prints the median and the worst in milliseconds, from
 * before the file is written until the page has decoded and displayed the picture.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPreviewPool } from "../../src/cli/preview-pool.ts";
import { readConfig } from "../../src/config.ts";
import { quietLog } from "../../src/log.ts";
import { systemRandom } from "../../src/service/system.ts";
import { serveStudio } from "../../src/studio/serve.ts";
import { copyStarter } from "../../src/studio/starter.ts";
import { openStudio } from "../../src/studio/studio.ts";
import { testBrowser } from "../../test/console/browser.ts";
import { closeSharedBrowsers } from "../../test/shared-browser.ts";
import { offerHelp } from "../help.ts";

/** The wait that people notice after a change of style, and after any other change, in milliseconds. */
const GOALS = { "card.css": 200, "card.html": 700 };

offerHelp(import.meta);
const saves = Number(process.argv[2] ?? 9);
const root = mkdtempSync(join(tmpdir(), "cardpress-bench-studio-"));
const dir = await copyStarter(root, "bench_card");
const previews = await openPreviewPool(readConfig(process.env), quietLog(), true);
const studio = await openStudio({
  root,
  scratch: join(previews.scratch, "studio"),
  pool: previews.pool,
  baseUrl: "http://localhost",
});
const server = serveStudio(studio, { port: 0, random: systemRandom });
const browser = await testBrowser();
const { page } = await browser.open(1440);
await page.goto(server.url);
await page.waitForFunction("document.body.dataset.drawn");

/** Saves, and waits until the page reports that this save's picture is on the screen. */
async function saveAndSee(file: string, text: string): Promise<number> {
  const before = await page.evaluate("document.body.dataset.drawn");
  const saved = performance.timeOrigin + performance.now();
  writeFileSync(join(dir, file), text);
  await page.waitForFunction((old) => document.body.dataset.drawn !== old, { polling: 5 }, before);
  return Number(await page.evaluate("document.body.dataset.drawnAt")) - saved;
}

for (const [file, goal] of Object.entries(GOALS)) {
  const text = readFileSync(join(dir, file), "utf8");
  const change = (n: number) =>
    file === "card.css" ? `${text}\n.name { letter-spacing: ${n / 1000}em }\n` : `${text}<!-- ${n} -->\n`;
  await saveAndSee(file, change(1));
  const times: number[] = [];
  for (let n = 0; n < saves; n++) {
    // The samples' thumbnails follow; a real save does not wait for them either, but rarely coincides with
    // them.
    await page.waitForNetworkIdle({ idleTime: 900, concurrency: 1 });
    times.push(await saveAndSee(file, change(n + 2)));
  }
  times.sort((a, b) => a - b);
  const median = times[Math.floor(times.length / 2)] ?? 0;
  console.log(
    `${file.padEnd(10)} median ${median.toFixed(0)} ms, worst ${(times.at(-1) ?? 0).toFixed(0)} ms of ${saves} saves (goal ${goal} ms)`,
  );
}

await closeSharedBrowsers();
await server.stop();
await studio.close();
await previews.close();
rmSync(root, { recursive: true, force: true });
process.exit(0);
