import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;

/**
 * CPU time so far in milliseconds of a process and those of its descendants that still run. Reads /proc, so
 * it works only on Linux, like the service.
 */
export function processorMsOf(pid: number): number {
  return familyOf(pid).reduce((sum, { ticks }) => sum + ticks * TICK_MS, 0);
}

/**
 * Memory in megabytes that a process and its descendants hold for themselves: anonymous and shared memory, of
 * a page that several of them share, each its part (Pss). Program files are left out: the system reads them
 * again when it needs room.
 */
export function memoryMbOf(pid: number): number {
  return [...memoryMbByKind(pid).values()].reduce((sum, mb) => sum + mb, 0);
}

/**
 * The same by kind of process: "worker" for the process itself, "browser" for Chromium's main one, and
 * Chromium's own word for its others, such as "renderer"; those of one kind one by one, the largest first.
 */
export function memoryMbByKind(pid: number): Map<string, number> {
  const found = familyOf(pid).map((one) => {
    const rollup = read(`/proc/${one.pid}/smaps_rollup`);
    const type = /--type=([\w-]+)/.exec(read(`/proc/${one.pid}/cmdline`))?.[1] ?? "browser";
    const kb = ["Pss_Anon", "Pss_Shmem"].map((key) =>
      Number(new RegExp(`${key}:\\s+(\\d+)`).exec(rollup)?.[1]),
    );
    return {
      kind: one.pid === pid ? "worker" : type,
      mb: kb.reduce((sum, part) => sum + (part || 0), 0) / 1024,
    };
  });
  const kinds = new Map<string, number>();
  for (const { kind, mb } of found.sort((a, b) => b.mb - a.mb)) {
    const others = [...kinds.keys()].filter((known) => known === kind || known.startsWith(`${kind} `)).length;
    kinds.set(others === 0 ? kind : `${kind} ${others + 1}`, mb);
  }
  return kinds;
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
