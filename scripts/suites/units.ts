import { dirname } from "node:path";

/** Files that one process runs one after the other. */
export interface Unit {
  /** Which suite its results are counted to. */
  suite: string;
  files: string[];
  /** How long it took when it was last measured: the longest start first. */
  seconds: number;
  command: string[];
  env: Record<string, string>;
}

/** Seconds by file, of those that take long enough to be measured. */
export type Timings = Record<string, number>;

/** A file that is not listed is about as long as this. */
const SHORT_SECONDS = 1;
/**
 * Files share a process up to this, those of one folder first: its start and imports take one or two seconds
 * of a processor. Where units are longer, one lane waits longer for the other at the end.
 */
const UNIT_SECONDS = 30;
/**
 * Bounds a test that hangs and nothing else: where three share a processor, one that starts servers takes a
 * minute.
 */
export const TEST_OPTIONS = ["test", "--timeout", "600000"];

const LEAST_LIMIT_MS = 30 * 60_000;
/** How many times as long as alone a unit may take. */
const SLOWEST = 45;
/**
 * A unit that takes longer hangs: it is ended and has failed. Where other programs have the processor it may
 * have a thirtieth of it, and what hangs in a test is best ended, and named, by the test's own limit.
 */
export const longestMs = ({ seconds }: Pick<Unit, "seconds">): number =>
  Math.max(LEAST_LIMIT_MS, SLOWEST * seconds * 1000);

/** One of several machines' parts of the units, of which each takes about as long: `2/4` is the second. */
export function shardOf(units: readonly Unit[], shard: string): Unit[] {
  const [, part, parts] = (/^(\d+)\/(\d+)$/.exec(shard) ?? []).map(Number);
  if (!part || !parts || part > parts) throw new Error(`--shard takes a part such as 2/4, not ${shard}.`);
  const longestFirst = units.toSorted((a, b) => b.seconds - a.seconds);
  return longestFirst.filter((_, at) => at % parts === part - 1);
}

/** The command that runs so many files one after the other. */
const commandOf = (files: readonly string[]) => [
  process.execPath,
  ...TEST_OPTIONS,
  ...files.map((file) => `./${file}`),
];

/** What of a unit is run again for these files; all of a unit whose command does not name its files. */
export function partOf(unit: Unit, files: readonly string[]): Unit {
  const some = unit.files.filter((file) => files.includes(file));
  const isWhole = some.length === 0 || !Bun.deepEquals(unit.command, commandOf(unit.files));
  return isWhole ? unit : { ...unit, files: some, command: commandOf(some) };
}

/**
 * Splits a suite's files into units of so many seconds at most, and one for each file that takes longer.
 */
export function unitsOf(
  suite: string,
  files: readonly string[],
  timings: Timings,
  { env = {}, most = UNIT_SECONDS }: { env?: Record<string, string>; most?: number | undefined } = {},
): Unit[] {
  const secondsOf = (some: readonly string[]) =>
    some.reduce((sum, file) => sum + (timings[file] ?? SHORT_SECONDS), 0);
  const unit = (some: string[]): Unit => ({
    suite,
    files: some,
    seconds: secondsOf(some),
    command: commandOf(some),
    env,
  });
  const isLong = (file: string) => secondsOf([file]) > most;
  const units = files.filter(isLong).map((file) => unit([file]));
  const byFolder = (a: string, b: string) => dirname(a).localeCompare(dirname(b)) || a.localeCompare(b);
  let group: string[] = [];
  for (const file of files.filter((file) => !isLong(file)).toSorted(byFolder)) {
    if (secondsOf([...group, file]) > most) {
      units.push(unit(group));
      group = [];
    }
    group.push(file);
  }
  return group.length > 0 ? [...units, unit(group)] : units;
}
