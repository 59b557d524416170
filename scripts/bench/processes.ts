import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/**
 * CPU time so far in milliseconds of a process and those of its descendants that still run. Reads /proc, so it works only
 * on Linux, like the service.
 */
export function processorMsOf(pid: number): number {
  return familyOf(pid).reduce((sum, { ticks }) => sum + ticks * TICK_MS, 0);
}

/**
 * Memory in megabytes that a process and its descendants hold for themselves: anonymous and shared memory, of a page that
 * several of them share, each its part (Pss). Program files are left out: the system reads them again when it needs room.
 */
export function memoryMbOf(pid: number): number {
  const parts = familyOf(pid).flatMap((one) => {
    const rollup = read(`/proc/${one.pid}/smaps_rollup`);
    return ["Pss_Anon", "Pss_Shmem"].map((key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(rollup)?.[1]));
  });
  return parts.reduce((sum, kb) => sum + (kb || 0), 0) / 1024;
}

/** A process and its descendants. */
function familyOf(pid: number): { pid: number; ticks: number }[] {
  const children = new Map<number, number[]>();
  const ticks = new Map<number, number>();
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = read(`/proc/${entry}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const parent = Number(fields[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
    ticks.set(Number(entry), Number(fields[11]) + Number(fields[12]));
  }
  const below = (one: number): number[] => [one, ...(children.get(one) ?? []).flatMap(below)];
  return below(pid).map((one) => ({ pid: one, ticks: ticks.get(one) ?? 0 }));
}

/** Empty when the process ended between listing and reading. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
