/** How many tests of a process passed, were skipped and failed, by what `bun test` says at its end. */
export interface Totals {
  pass: number;
  skip: number;
  fail: number;
}

export const NONE: Totals = { pass: 0, skip: 0, fail: 0 };

/** What was printed before a failed test, at most so many lines. */
const FAILURE_LINES = 80;

export const add = (a: Totals, b: Totals): Totals => ({
  pass: a.pass + b.pass,
  skip: a.skip + b.skip,
  fail: a.fail + b.fail,
});

/**
 * The totals of a process; one that failed without a failed test, as one that was killed, counts as a
 * failure.
 */
export function totalsOf(output: string, exitCode: number): Totals {
  const last = (word: string) =>
    Number([...output.matchAll(new RegExp(`^ *(\\d+) ${word}$`, "gm"))].at(-1)?.[1] ?? 0);
  const totals = { pass: last("pass"), skip: last("skip"), fail: last("fail") };
  return exitCode !== 0 && totals.fail === 0 ? { ...totals, fail: 1 } : totals;
}

/** What `bun test` printed of each file: its tests, one a line, and what they printed. */
function partsOf(output: string): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  let part: string[] = [];
  for (const line of output.split("\n")) {
    const isFile = FILE.test(line);
    // At its end those that failed or were skipped are named once more.
    if (isFile || /^\d+ tests \w+:$/.test(line)) part = [];
    if (isFile) parts.set(line.slice(0, -1), part);
    else part.push(line);
  }
  return parts;
}

/**
 * Which of its files a process that failed has not passed: those with a failure, and where it was ended,
 * the file at which it was and those after it.
 */
export function unfinishedFiles(output: string, files: readonly string[]): string[] {
  const parts = partsOf(output);
  const isEnded = !/^Ran \d+ tests? across/m.test(output);
  const last = isEnded ? [...parts.keys()].at(-1) : undefined;
  const isDone = (file: string) =>
    file !== last && parts.get(file)?.every((line) => !/^(\(fail\)|# Unhandled error)/.test(line));
  const unfinished = files.filter((file) => !isDone(file));
  return unfinished.length > 0 ? unfinished : [...files];
}

/** The totals of the tests of these files alone. */
export function totalsOfFiles(output: string, files: readonly string[]): Totals {
  const parts = partsOf(output);
  const lines = files.flatMap((file) => parts.get(file) ?? []);
  const count = (word: string) => lines.filter((line) => line.startsWith(`(${word})`)).length;
  return { pass: count("pass"), skip: count("skip"), fail: count("fail") };
}

/**
 * The failed tests with what was said of them, or the end of the output where no test says that it failed.
 * A test that runs out of time ends the processes of its file, such as the browser: those of the file that
 * fail after it are named alone.
 */
export function failuresIn(output: string): string {
  const lines = output.split("\n");
  const found: string[] = [];
  let from = 0;
  let hasEnded = false;
  let after: FallenAfter | undefined;
  const close = () => {
    if (after && after.fallen.length > 0) found.push(saidOf(after), "");
    after = undefined;
  };
  for (const [at, line] of lines.entries()) {
    if (FILE.test(line)) close();
    if (FILE.test(line) || /^\((pass|skip|todo)\)/.test(line)) {
      from = at + (line.startsWith("(") ? 1 : 0);
      hasEnded = false;
    }
    if (/^killed \d+ dangling process/.test(line)) hasEnded = true;
    if (!line.startsWith("(fail)")) continue;
    if (after) after.fallen.push(line);
    else found.push(...lines.slice(Math.max(from, at - FAILURE_LINES), at + 1), "");
    const isLate = lines[at + 1]?.includes("timed out after") ?? false;
    if (isLate && hasEnded) after ??= { late: line, fallen: [] };
    from = at + 1;
    hasEnded = false;
  }
  close();
  return (found.length > 0 ? found : lines.slice(-FAILURE_LINES)).join("\n");
}

/** The line with which `bun test` begins a file. */
const FILE = /^test\/.*:$/;

interface FallenAfter {
  /** The line of the test that ran out of time. */
  late: string;
  /** Those of the tests that failed after it. */
  fallen: string[];
}

const saidOf = ({ late, fallen }: FallenAfter) =>
  [
    `${fallen.length} more fell after ${nameIn(late)} ran out of time, which ended the processes they share:`,
    ...fallen.map((line) => `  ${line}`),
  ].join("\n");

const nameIn = (line: string) => `"${line.replace(/^\(fail\) | \[[^\]]*\]$/g, "")}"`;
