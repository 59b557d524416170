/**
 * bun run crashtest --cycles 1000 [--seed N]: kills the real service at every step and counts losses.
 */

import { parseArgs } from "node:util";
import { crashCycles } from "../test/crash/cycles.ts";
import { offerHelp } from "./help.ts";

offerHelp(import.meta);

const { values } = parseArgs({
  options: { cycles: { type: "string", default: "100" }, seed: { type: "string" } },
});
if (process.getuid?.() === 0) process.env.CARDPRESS_ALLOW_ROOT ??= "1";
const seed = Number(values.seed ?? Date.now() % 1_000_000);
console.log(`seed ${seed}`);
const figures = await crashCycles({ cycles: Number(values.cycles), seed, note: (line) => console.log(line) });
console.log(JSON.stringify(figures, null, 2));
const sound =
  figures.lost +
    figures.double +
    figures.orphansServed +
    figures.leftoverProcesses +
    figures.problems.length ===
    0 && figures.creditsAddUp;
process.exit(sound ? 0 : 1);
