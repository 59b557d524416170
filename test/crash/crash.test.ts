import { expect, test } from "bun:test";
import { sayThird, thirdOf } from "../endurance.ts";
import { crashCycles, STEPS } from "./cycles.ts";

const MINUTE_MS = 60_000;
/** In every run: by these a picture is left that no card refers to, and a cancellation is interrupted. */
const ALWAYS = ["finish completed: before commit", "cancel batch: after commit"];

test(
  "whatever is killed and wherever: every 202 is there, of a single card or a batch, replays the same bytes and ends once, and every credit is accounted for",
  async () => {
    const seed = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
    const today = new Set([...thirdOf(STEPS), ...ALWAYS]);
    const steps = STEPS.filter((step) => today.has(step));
    sayThird(`${steps.length} of ${STEPS.length} steps at which something is killed`);
    const log: string[] = [`CRASH_SEED=${seed}`];
    const figures = await crashCycles({ cycles: steps.length, steps, seed, note: (line) => log.push(line) });
    if (figures.problems.length > 0) console.log(log.join("\n"));
    const { accepted, completed, failed, replayed, canceled, reached, orphansSwept, ...rest } = figures;
    expect(rest).toEqual({
      cycles: steps.length,
      lost: 0,
      double: 0,
      orphansServed: 0,
      leftoverProcesses: 0,
      creditsAddUp: true,
      problems: [],
    });
    expect(completed + failed).toBe(accepted);
    // The run proves something only when the crashes came where they were meant to, and work was done
    // between them. None of it is left to chance: a cycle goes on until its step comes or nothing is left to
    // do, every create and batch is replayed at the end, and each cycle has a photo without a player and a
    // batch that is canceled before its last photo can be fetched.
    expect(reached).toBeGreaterThan(steps.length / 2);
    expect(Math.min(completed, failed, replayed, canceled, orphansSwept)).toBeGreaterThan(0);
  },
  90 * MINUTE_MS,
);
