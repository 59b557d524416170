/**
 * How long the service takes to start with everything unpacked: from the command until it listens, until
 * /ready answers 200, which needs a browser that answers, and until the first worker is warm.
 *
 *     bun scripts/bench/start.ts [--times 5] [--program dist/cardpress]
 *
 * Prints every start in milliseconds, and the medians and best of all.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePort } from "../../src/service/free-port.ts";
import { offerHelp } from "../help.ts";

offerHelp(import.meta);

const { values } = parseArgs({
  options: { times: { type: "string", default: "5" }, program: { type: "string" } },
});
const main = join(import.meta.dir, "../../src/main.ts");
const command = values.program === undefined ? [process.execPath, main] : [values.program];
if (process.getuid?.() === 0) process.env.CARDPRESS_ALLOW_ROOT ??= "1";
const dir = mkdtempSync(join(tmpdir(), "cardpress-start-"));
const POLL_MS = 5;

async function until(url: string): Promise<void> {
  for (;;) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.status === 200) return;
    await Bun.sleep(POLL_MS);
  }
}

/** The same for the first worker that has opened its pages. */
async function untilWarm(url: string): Promise<void> {
  for (;;) {
    const text = await fetch(url).then((answer) => answer.text());
    if (/^cardpress_render_workers\{state="ready"\} [1-9]/m.test(text)) return;
    await Bun.sleep(POLL_MS);
  }
}

const PHASES = ["listening", "ready", "warm"] as const;

async function start(): Promise<Record<(typeof PHASES)[number], number>> {
  const port = await freePort("127.0.0.1");
  const startedAt = performance.now();
  const child = Bun.spawn([...command, "serve"], {
    env: { ...process.env, CARDPRESS_DATA_DIR: join(dir, "data"), CARDPRESS_PORT: String(port) },
    stdio: ["ignore", "ignore", "ignore"],
  });
  await until(`http://127.0.0.1:${port}/live`);
  const listening = performance.now() - startedAt;
  await until(`http://127.0.0.1:${port}/ready`);
  const ready = performance.now() - startedAt;
  await untilWarm(`http://127.0.0.1:${port}/metrics`);
  const warm = performance.now() - startedAt;
  child.kill("SIGTERM");
  await child.exited;
  return { listening: Math.round(listening), ready: Math.round(ready), warm: Math.round(warm) };
}

const median = (numbers: number[]) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

// The first start unpacks the browser and creates the database.
const cold = await start();
console.log(`cold: ${JSON.stringify(cold)}`);
const warm: Awaited<ReturnType<typeof start>>[] = [];
for (let n = 0; n < Number(values.times); n++) {
  const one = await start();
  warm.push(one);
  console.log(JSON.stringify(one));
}
for (const what of PHASES) {
  const all = warm.map((one) => one[what]);
  console.log(`${what}: median ${median(all)} ms, best ${Math.min(...all)} ms`);
}
rmSync(dir, { recursive: true, force: true });
