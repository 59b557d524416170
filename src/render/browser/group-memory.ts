import { readdirSync, readFileSync } from "node:fs";

/** Linux' page on x64 and arm64 as most distributions build it; elsewhere the numbers are too small, never too large. */
const PAGE_BYTES = 4096;

/**
 * The memory of groups of processes in bytes, without what they share with others, by the number of each group's leader.
 * Read from /proc, also of processes in Chromium's sandbox; empty elsewhere than on Linux.
 */
export function memoryOfGroups(): Map<number, number> {
  const groups = new Map<number, number>();
  let names: string[];
  try {
    names = readdirSync("/proc");
  } catch {
    return groups;
  }
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      // The command in parentheses may hold anything; after it come state, parent and group.
      const group = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ", 3)[2]);
      const [, resident = 0, shared = 0] = readFileSync(`/proc/${name}/statm`, "utf8")
        .split(" ", 3)
        .map(Number);
      groups.set(group, (groups.get(group) ?? 0) + Math.max(0, resident - shared) * PAGE_BYTES);
    } catch {
      // It ended meanwhile.
    }
  }
  return groups;
}
