import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unfinishedFiles } from "./results.ts";
import { longestMs, partOf, type Unit } from "./units.ts";

/** What became of a unit. */
export interface Outcome {
  unit: Unit;
  /** The one beside another unit that failed, of which this is the second run of what failed there. */
  repeats?: Outcome;
  output: string;
  exitCode: number;
  seconds: number;
}

/**
 * Runs units side by side in so many lanes, and reports each when it has ended. The first lane begins with
 * the longest, which mostly keep a browser busy, and the others with the shortest, which mostly wait: so few
 * browsers share the processors. The files that failed beside another unit run once more alone at the end,
 * and are reported again: whether they are broken or only lean on the time they get is then known.
 */
export async function runLanes(
  units: Unit[],
  lanes: number,
  ended: (outcome: Outcome) => void,
): Promise<void> {
  const waiting = units.toSorted((a, b) => b.seconds - a.seconds);
  const folder = mkdtempSync(join(tmpdir(), "cardpress-tests-"));
  const again: Outcome[] = [];
  const lane = async (_: unknown, n: number) => {
    const next = () => (n === 0 ? waiting.shift() : waiting.pop());
    for (let unit = next(); unit; unit = next()) {
      const outcome = await run(unit, folder);
      ended(outcome);
      if (outcome.exitCode !== 0 && lanes > 1) again.push(outcome);
    }
  };
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
    for (const repeats of again) {
      const files = unfinishedFiles(repeats.output, repeats.unit.files);
      ended({ ...(await run(partOf(repeats.unit, files), folder)), repeats });
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

let count = 0;

async function run(unit: Unit, folder: string): Promise<Outcome> {
  const began = performance.now();
  // One file for both streams keeps their lines in order.
  const path = join(folder, String(++count));
  const log = openSync(path, "a");
  const child = Bun.spawn(unit.command, {
    env: { ...process.env, ...unit.env },
    stdio: ["ignore", log, log],
    timeout: longestMs(unit),
    killSignal: "SIGKILL",
  });
  const exitCode = await child.exited;
  closeSync(log);
  const seconds = (performance.now() - began) / 1000;
  return { unit, output: readFileSync(path, "utf8"), exitCode, seconds };
}
