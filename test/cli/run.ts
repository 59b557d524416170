import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** What this run hands to its own tests is no setting of the service, which would say so. */
const { CARDPRESS_TEST_THIRD: _, ...environment } = process.env;

/** Runs one command on a data folder to its end. */
export function runCommand(dataDir: string, ...args: string[]) {
  return runCommandWith({}, dataDir, ...args);
}

/** The same, with more settings. */
export async function runCommandWith(env: Record<string, string>, dataDir: string, ...args: string[]) {
  const child = startCommand(env, dataDir, ...args);
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code, json: () => JSON.parse(out) };
}

/** Starts one, for tests that end it. */
export function startCommand(env: Record<string, string>, dataDir: string, ...args: string[]) {
  return Bun.spawn([process.execPath, MAIN, ...args], {
    env: { ...environment, CARDPRESS_DATA_DIR: dataDir, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
}
