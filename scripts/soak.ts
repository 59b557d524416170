/**
 * Makes many cards with the real service while its parts are killed at random, and reports what is left over.
 *
 *     bun scripts/soak.ts --cards 10000 [--seconds 3600] [--kill-every 20] [--new 0.3]
 *         [--program dist/cardpress] [--seed N]
 *
 * Kills workers, browsers, single pages and now and then the whole service, and makes browsers hang. At the
 * end every accepted card must be finished, with no process, browser profile or unfinished file left over;
 * memory and disk use are reported along the way. With --seconds no card is begun after that time, so that a
 * busy machine ends with a report too. Exits with 1 when anything is lost or left over: then the lines about
 * lost cards are shown, and the whole log, with the attacks among its lines, stays in the folder.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { offerHelp } from "./help.ts";
import { soak } from "./soak/run.ts";

offerHelp(import.meta);

const { values } = parseArgs({
  options: {
    cards: { type: "string", default: "300" },
    seconds: { type: "string" },
    "kill-every": { type: "string", default: "20" },
    program: { type: "string" },
    new: { type: "string", default: "0.3" },
    seed: { type: "string" },
  },
});
if (process.getuid?.() === 0) process.env.CARDPRESS_ALLOW_ROOT ??= "1";
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const dir = mkdtempSync(join(tmpdir(), "cardpress-soak-"));
console.log(`seed ${seed}, data in ${dir}`);
const main = join(import.meta.dir, "../src/main.ts");
const figures = await soak({
  dir,
  seed,
  cards: Number(values.cards),
  seconds: values.seconds === undefined ? Number.POSITIVE_INFINITY : Number(values.seconds),
  killEvery: Number(values["kill-every"]),
  command: values.program === undefined ? [process.execPath, main] : [values.program],
  newShare: Number(values.new),
  note: (line) => console.log(line),
});
console.log(JSON.stringify(figures, null, 2));
const isSound = figures.lost.length + figures.left.length + figures.broken.length === 0;
if (isSound) rmSync(dir, { recursive: true, force: true });
process.exit(isSound ? 0 : 1);
