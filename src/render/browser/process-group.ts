import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

// A browser is a dozen processes in a group of their own, led by the first. Ending its parent ends them only while they
// listen: those that hang or were stopped would stay, with their memory, for good.

/** How long the processes of a killed group are waited for: they end within milliseconds, unless nobody reaps them. */
const END_PATIENCE_MS = 1_000;
const END_POLL_MS = 5;

/** Kills every process of a group, also those that hang. Returns whether there was one. */
export function killGroup(leader: number): boolean {
  try {
    process.kill(-leader, "SIGKILL");
    return true;
  } catch {
    return false;
  }
}

/** Kills a group and waits until its processes can write nothing any more. */
export async function endGroup(leader: number): Promise<void> {
  for (let waitedMs = 0; killGroup(leader) && waitedMs < END_PATIENCE_MS; waitedMs += END_POLL_MS)
    await sleep(END_POLL_MS);
}

/** The leaders of the browsers whose profiles lie in a folder, as far as this system tells; elsewhere than on Linux none. */
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
      // The first process alone: others are of a type, and in its group.
      return (
        args.some((arg) => arg.startsWith(`--user-data-dir=${profilesDir}/`)) &&
        !args.some((arg) => arg.startsWith("--type="))
      );
    } catch {
      return false; // It ended meanwhile, or is none of ours.
    }
  });
}
