import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

// A browser is a dozen processes in a group of their own, led by the first. When the first ends, the others
// end only if they still respond; hung or stopped ones would stay in memory for good.

/**
 * How long to wait for the processes of a killed group: they end within milliseconds unless nobody reaps
 * them.
 */
const END_PATIENCE_MS = 1_000;
const END_POLL_MS = 5;

/** Kills every process of a group, hung ones included. Returns whether there was one. */
export function killGroup(leader: number): boolean {
  try {
    process.kill(-leader, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

/** Kills a group and waits until its processes can no longer write anything. */
export async function endGroup(leader: number): Promise<void> {
  for (let waitedMs = 0; killGroup(leader) && waitedMs < END_PATIENCE_MS; waitedMs += END_POLL_MS)
    await sleep(END_POLL_MS);
}

/** The leaders of the browsers whose profiles are in this folder; empty on systems other than Linux. */
export function browsersIn(profilesDir: string): number[] {
  let pids: number[];
  try {
    pids = readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
  return pids.filter((pid) => {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      // Only the first process: the others carry a --type flag and are in its group.
      return (
        args.some((arg) => arg.startsWith(`--user-data-dir=${profilesDir}/`)) &&
        !args.some((arg) => arg.startsWith("--type="))
      );
    } catch {
      return false; // It ended meanwhile, or is none of ours.
    }
  });
}
