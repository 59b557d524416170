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
 * Short files share a process, whose start and imports take about a second: as many as this, of neighbouring
 * folders.
 */
const SHORT_FILES = 12;
/**
 * Bounds a test that hangs and nothing else: where three share a processor, one that starts servers takes a
 * minute.
 */
export const TEST_OPTIONS = ["test", "--timeout", "300000"];

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

/** Splits a suite's files into units: each file of the timings alone, the others in groups. */
export function unitsOf(
  suite: string,
  files: string[],
  timings: Timings,
  env: Record<string, string> = {},
): Unit[] {
  const unit = (some: string[]): Unit => ({
    suite,
    files: some,
    seconds: some.reduce((sum, file) => sum + (timings[file] ?? SHORT_SECONDS), 0),
    command: commandOf(some),
    env,
  });
  const [long, short] = [files.filter((file) => file in timings), files.filter((file) => !(file in timings))];
  short.sort((a, b) => dirname(a).localeCompare(dirname(b)) || a.localeCompare(b));
  const groups: Unit[] = [];
  for (let at = 0; at < short.length; at += SHORT_FILES) groups.push(unit(short.slice(at, at + SHORT_FILES)));
  return [...long.map((file) => unit([file])), ...groups];
}
