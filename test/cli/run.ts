import { join } from "node:path";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** Runs one command on a data folder to its end. */
export function runCommand(dataDir: string, ...args: string[]) {
  return runCommandWith({}, dataDir, ...args);
}

/** The same, with more settings. */
export async function runCommandWith(env: Record<string, string>, dataDir: string, ...args: string[]) {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: { ...process.env, CARDPRESS_DATA_DIR: dataDir, ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code, json: () => JSON.parse(out) };
}
