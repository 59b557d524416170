/**
 * Runs the tests: all of them, several files side by side and each long one in a process of its own, or
 * those it is called with, one after the other.
 *
 *   bun run test                          # every test but what long files leave to other days
 *   bun run test test/http -t "credit"    # files and options of bun test
 *   bun run test --engines                # the same, and some also on PostgreSQL and on Ceph's gateway
 *   bun run test --lanes 1                # nothing side by side
 *   bun run test --lanes 3 test/http      # the files of some folders, side by side
 *   bun run test --shard 2/4              # the second of four parts, for machines that share the work
 *   bun run test --since HEAD~9           # also what the commits after it touch, of what other days would do
 *   bun run test --record                 # notes in test/seconds.json how long each file takes
 *
 * Files that take long and rarely break are run by thirds, one each day, unless what they are about was
 * changed: scripts/suites/thirds.ts. CARDPRESS_TEST_THIRD=all runs all of them.
 *
 * Temporary files are in memory, where there is enough of it: no commit then waits for a disk.
 *
 * What failed is printed again at the end. A file that failed beside another runs once more alone; where it
 * passes then, it is named as unsteady.
 */
import { availableParallelism, cpus } from "node:os";
import { join } from "node:path";
import { isTurn, pinThird, sayThird } from "../test/endurance.ts";
import { offerHelp } from "./help.ts";
import { runSuites } from "./run-suites.ts";
import { changedPaths } from "./suites/changed.ts";
import { type Outcome, runLanes } from "./suites/lanes.ts";
import { memoryFolder } from "./suites/memory-folder.ts";
import { POSTGRES_SUITES, startTestPostgres } from "./suites/postgres.ts";
import { add, failuresIn, NONE, type Totals, totalsOf, totalsOfFiles } from "./suites/results.ts";
import { isOnCeph, onPostgres, onSqlite, type Today } from "./suites/thirds.ts";
import { shardOf, type Timings, type Unit, unitsOf } from "./suites/units.ts";

const ROOT = join(import.meta.dir, "..");
const SECONDS_FILE = join(ROOT, "test/seconds.json");
/** Shorter files are not noted: they share a process. */
const NOTED_SECONDS = 3;
const [SQLITE, POSTGRES, CEPH] = ["", "on PostgreSQL", "on Ceph's gateway"] as const;
const EVERYWHERE = ["test"];
/** Ceph needs this long to start, and is asked for a few files only. */
const CEPH_SECONDS = 30;

offerHelp(import.meta);

interface Options {
  lanes: number;
  engines: boolean;
  record: boolean;
  /** Such as `2/4`. */
  shard: string;
  /** The commit after which changes count. */
  since: string | undefined;
  places: string[];
}

/** Nothing where there is more to read than this script's own options: that is for `bun test`. */
function readOptions(given: string[]): Options | undefined {
  const rest = [...given];
  const take = (name: string, length = 1) => {
    const at = rest.indexOf(name);
    return at < 0 ? undefined : rest.splice(at, length);
  };
  const engines = take("--engines") !== undefined;
  const record = take("--record") !== undefined;
  const since = take("--since", 2)?.[1];
  const said = take("--lanes", 2)?.[1];
  const shard = take("--shard", 2)?.[1] ?? "1/1";
  // Cards keep a processor busy, but a tenth of the time tests wait: for a disk, a receiver, a dying process.
  const lanes = Number(said ?? availableParallelism() + 1);
  const isOurs = rest.length === 0 || (said !== undefined && rest.every((each) => !each.startsWith("-")));
  if (!isOurs || !(lanes >= 1)) return undefined;
  return { lanes, engines, record, shard, since, places: rest.length > 0 ? rest : EVERYWHERE };
}

async function runAll({ lanes, engines, record, shard, since, places }: Options): Promise<number> {
  const began = performance.now();
  const timings: Timings = await Bun.file(SECONDS_FILE).json();
  const memory = memoryFolder();
  // What is started from here on puts its files there, the databases too.
  if (memory.path) process.env.TMPDIR = memory.path;
  pinThird();
  const today: Today = { isTurn, changed: changedPaths(ROOT, since) };
  const sqlite = await filesOf(places);
  const onBoth = await filesOf(POSTGRES_SUITES);
  // Where places are named, all of them are wanted.
  const asked = places === EVERYWHERE ? onSqlite(sqlite, today) : sqlite;
  const askedOnBoth = engines ? onPostgres(onBoth, today) : [];
  const asksCeph = engines && isOnCeph(today);
  // What is measured has a process of its own.
  const most = record ? 0 : undefined;
  const units = unitsOf(SQLITE, asked, timings, { most });
  const postgres = engines ? await startTestPostgres() : undefined;
  if (postgres) units.push(...unitsOf(POSTGRES, askedOnBoth, timings, { env: postgres.env, most }));
  if (asksCeph) units.push(ceph());
  const outcomes: Outcome[] = [];
  const busyBefore = busySeconds();
  try {
    await runLanes(shardOf(units, shard), lanes, (outcome) => {
      outcomes.push(outcome);
      process.stdout.write(`${outcome.output.trimEnd()}\n${line(outcome)}\n\n`);
    });
  } finally {
    await postgres?.stop();
    memory.remove();
  }
  if (record) await note(outcomes);
  const code = report(outcomes, (performance.now() - began) / 1000);
  const left = [
    `${sqlite.length - asked.length} on SQLite`,
    ...(engines ? [`${onBoth.length - askedOnBoth.length} on PostgreSQL`] : []),
    ...(engines && !asksCeph ? ["Ceph"] : []),
  ];
  sayThird(`files left to other days: ${left.join(", ")}`);
  console.log(`the machine's processors worked ${clock(busySeconds() - busyBefore)}`);
  return code;
}

/** What all processors of the machine have worked so far. */
const busySeconds = () =>
  cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0) / 1000;

/** The test files at these places, which are files or folders. */
async function filesOf(places: readonly string[]): Promise<string[]> {
  const files = await Array.fromAsync(new Bun.Glob("test/**/*.test.{ts,tsx}").scan(ROOT));
  return files
    .filter((file) => places.some((place) => file === place || file.startsWith(`${place}/`)))
    .sort();
}

const ceph = (): Unit => ({
  suite: CEPH,
  files: ["test/blobs"],
  seconds: CEPH_SECONDS,
  command: [process.execPath, join(ROOT, "scripts/test-s3.ts")],
  env: {},
});

const clock = (seconds: number) =>
  `${Math.floor(Math.round(seconds) / 60)}:${String(Math.round(seconds) % 60).padStart(2, "0")}`;

const line = ({ unit, seconds, exitCode }: Outcome) =>
  `[${clock(seconds)}] ${exitCode === 0 ? "" : "FAILED "}${[unit.suite, ...unit.files].filter(Boolean).join(" ")}`;

async function note(outcomes: Outcome[]): Promise<void> {
  const noted: Timings = {};
  for (const { unit, seconds } of outcomes) {
    const [file, more] = unit.files;
    if (file && !more && seconds >= NOTED_SECONDS && unit.suite !== CEPH)
      noted[file] = Math.max(noted[file] ?? 0, Math.round(seconds));
  }
  const sorted = Object.entries(noted).sort(([a], [b]) => a.localeCompare(b));
  await Bun.write(SECONDS_FILE, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/** The totals of a run; of what it repeats those of the files that had passed at once are added. */
function totalsIn({ unit, output, exitCode, repeats }: Outcome): Totals {
  const passed = repeats?.unit.files.filter((file) => !unit.files.includes(file)) ?? [];
  return add(totalsOf(output, exitCode), totalsOfFiles(repeats?.output ?? "", passed));
}

/**
 * Says what failed, what was slow and how many passed; the exit code. Where a file ran twice, the second run
 * counts.
 */
function report(runs: Outcome[], seconds: number): number {
  const repeated = new Set(runs.map(({ repeats }) => repeats));
  const outcomes = runs.filter((outcome) => !repeated.has(outcome));
  const failed = runs.filter(({ exitCode }) => exitCode !== 0);
  for (const outcome of failed) console.log(`${line(outcome)}\n${failuresIn(outcome.output)}\n`);
  const unsteady = outcomes.filter(({ repeats, exitCode }) => repeats && exitCode === 0);
  if (unsteady.length > 0) console.log("UNSTEADY: failed beside another, passed alone:");
  for (const outcome of unsteady) console.log(`  ${line(outcome)}`);
  console.log("the longest:");
  for (const outcome of runs.toSorted((a, b) => b.seconds - a.seconds).slice(0, 10))
    console.log(`  ${line(outcome)}`);
  let all: Totals = NONE;
  for (const suite of [SQLITE, POSTGRES, CEPH]) {
    const own = outcomes.filter(({ unit }) => unit.suite === suite);
    if (own.length === 0) continue;
    const totals = own.map(totalsIn).reduce(add, NONE);
    all = add(all, totals);
    const took = runs.reduce((sum, { unit, seconds }) => sum + (unit.suite === suite ? seconds : 0), 0);
    console.log(
      `${suite || "on SQLite"}: ${totals.pass} passed, ${totals.fail} failed, ${totals.skip} skipped, ${clock(took)} one after the other`,
    );
  }
  console.log(`all in ${clock(seconds)}`);
  console.log(`${all.pass} passed, ${all.fail} failed`);
  return all.fail === 0 && outcomes.every(({ exitCode }) => exitCode === 0) ? 0 : 1;
}

const options = readOptions(process.argv.slice(2));
process.exitCode = options ? await runAll(options) : await runSuites([], {});
