/**
 * Times a card in the warm page against opening a page for each card, in one run: `bun test/bench/page.ts`.
 * Processor time counts this process and the whole browser, so other work on the machine disturbs it less.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { CardPage } from "../../src/render/page.ts";
import { openCardPage } from "../../src/render/page.ts";
import { placeholder } from "../../src/render/placeholder.ts";
import { loadTemplate } from "../../src/render/template.ts";
import { cardInput, cutout, openBrowser } from "../render/cards.ts";

const ROUNDS = 20;
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** Processor time of this process and its descendants so far, in milliseconds. */
function processorMs(): number {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, "utf8");
      const fields = stat
        .slice(stat.lastIndexOf(")") + 2)
        .split(" ")
        .map(Number);
      const parent = fields[1] ?? 0;
      children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
      ticks.set(Number(entry), (fields[11] ?? 0) + (fields[12] ?? 0));
    } catch {
      // The process ended between listing and reading.
    }
  }
  const family = [process.pid];
  let sum = 0;
  for (let pid = family.pop(); pid !== undefined; pid = family.pop()) {
    sum += ticks.get(pid) ?? 0;
    family.push(...(children.get(pid) ?? []));
  }
  return sum * TICK_MS;
}

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function measure(
  label: string,
  once: (round: number) => Promise<Record<string, number>>,
): Promise<void> {
  for (let i = 0; i < 3; i++) await once(i);
  const stages: Record<string, number[]> = {};
  const wall: number[] = [];
  const before = processorMs();
  for (let i = 0; i < ROUNDS; i++) {
    const start = performance.now();
    for (const [stage, ms] of Object.entries(await once(i))) stages[stage] = [...(stages[stage] ?? []), ms];
    wall.push(performance.now() - start);
  }
  const processor = (processorMs() - before) / ROUNDS;
  const parts = Object.entries(stages).map(([stage, list]) => `${stage} ${median(list).toFixed(0)}`);
  console.log(
    `${label.padEnd(40)} wall ${median(wall).toFixed(0).padStart(4)} (best ${Math.min(...wall).toFixed(0)})  processor ${processor.toFixed(0).padStart(4)}  ${parts.join(", ")}`,
  );
}

const browser = await openBrowser();
const template = await loadTemplate("club_card");
const photo = await cutout("astronaut");
const other = await cutout("man");
const job = (format: "png" | "jpeg" | "webp", round: number, changing = false) => ({
  card: cardInput({ width: 1024, height: 1280, format, skill: 60 + (round % 30), name: `Player ${round}` }),
  cutout: changing && round % 2 ? other : photo,
  badge: null,
});
const timed = async (page: CardPage, ...args: Parameters<typeof job>) =>
  (await page.render(job(...args))).timingsMs;

console.log(`milliseconds, 1024 x 1280, medians of ${ROUNDS}`);
await measure("a page for each card, PNG (baseline)", async (round) => {
  const page = await openCardPage(browser, template);
  const { timingsMs } = await page.render(job("png", round));
  await page.close();
  return timingsMs;
});
const warm = await openCardPage(browser, template);
for (const format of ["png", "jpeg", "webp"] as const)
  await measure(`warm page, same photo, ${format}`, (round) => timed(warm, format, round));
await measure("warm page, photo changes, png", (round) => timed(warm, "png", round, true));
for (const format of ["png", "jpeg", "webp"] as const)
  await measure(`placeholder 2048 x 2048, ${format}`, async (round) => {
    await placeholder(2048 - round, 2048, format);
    return {};
  });
await browser.close();
