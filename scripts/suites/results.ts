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

/**
 * The failed tests with what was said of them, or the end of the output where no test says that it failed.
 */
export function failuresIn(output: string): string {
  const lines = output.split("\n");
  const found: string[] = [];
  let from = 0;
  for (const [at, line] of lines.entries()) {
    if (/^test\/.*:$/.test(line) || /^\((pass|skip|todo)\)/.test(line))
      from = at + (line.startsWith("(") ? 1 : 0);
    if (!line.startsWith("(fail)")) continue;
    found.push(...lines.slice(Math.max(from, at - FAILURE_LINES), at + 1), "");
    from = at + 1;
  }
  return (found.length > 0 ? found : lines.slice(-FAILURE_LINES)).join("\n");
}
