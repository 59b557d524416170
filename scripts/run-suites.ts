import { TEST_OPTIONS } from "./suites/units.ts";

/**
 * Runs `bun test` with what this process was called with: the files named there, or `suites`. Resolves to its
 * exit code. `env` is set beside this process's own environment.
 */
export async function runSuites(suites: string[], env: Record<string, string>): Promise<number> {
  const given = process.argv.slice(2);
  const hasPaths = given.some((argument) => !argument.startsWith("-"));
  const tests = Bun.spawn([process.execPath, ...TEST_OPTIONS, ...(hasPaths ? [] : suites), ...given], {
    env: { ...process.env, ...env },
    stdio: ["inherit", "inherit", "inherit"],
  });
  return tests.exited;
}
